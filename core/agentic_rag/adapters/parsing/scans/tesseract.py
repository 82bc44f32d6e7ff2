"""The engine: Tesseract in this process, by `tesserocr`, with the language data of its packages. It reads no file after
it is made, and asks no network at all.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, cast

import numpy as np

from agentic_rag.adapters.parsing.lettering import Grey
from agentic_rag.adapters.parsing.scans.recognised import RecognisedLine, RecognisedPage, RecognisedWord

_UPRIGHT = 0.7
"""The confidence in the middle word from which a page is taken to be upright: those that lie on their side or stand on
their head have 0.2 to 0.5, real scans more than 0.85.
"""
_TURNS = (2, 1, 3)
"""Quarter turns that are tried, the likeliest first: a sheet that was fed head first."""
_INK, _SPECKS = 60, 0.0005
"""By how many greys ink is darker than paper, and the share of pixels that specks of dust and the edge of a sheet make.
"""

_Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Scan:
    """A picture of a page: rows of grey, and how many of them make an inch of the page."""

    grey: Grey
    dots_an_inch: float


@dataclass(slots=True)
class TesseractEngine:
    """`languages` as Tesseract names them, `eng+deu`; `data` is the directory of their `.traineddata`.

    Errors: `ImportError` where the extra `ocr` is not installed, or a language is not there.
    """

    languages: str
    data: str
    _library: Any = field(init=False)
    _api: Any = field(init=False)

    def __post_init__(self) -> None:
        self._library = importlib.import_module("tesserocr")
        try:
            self._api = self._library.PyTessBaseAPI(path=self.data, lang=self.languages, psm=self._library.PSM.AUTO)
        except RuntimeError as error:
            raise ImportError(f"no data of the languages {self.languages} in {self.data}") from error

    def read(self, scan: Scan) -> RecognisedPage:
        """The words of a page, whichever way it lies."""
        best = self._read(scan, 0)
        sure = _confidence(best)
        for turns in _TURNS if best.lines and sure < _UPRIGHT else ():
            other = self._read(scan, turns)
            if _confidence(other) > sure:
                best, sure = other, _confidence(other)
            if sure >= _UPRIGHT:
                break
        return best if best.lines else replace(best, is_blank=_is_blank(scan.grey))

    def _read(self, scan: Scan, turns: int) -> RecognisedPage:
        grey = np.ascontiguousarray(np.rot90(scan.grey, turns))
        height, width = grey.shape
        self._api.SetImageBytes(grey.tobytes(), width, height, 1, width)
        self._api.SetSourceResolution(round(scan.dots_an_inch))
        try:
            self._api.Recognize()
            scale = 72 / scan.dots_an_inch
            return RecognisedPage(tuple(self._lines(height, scale)), width * scale, height * scale, turns)
        finally:
            self._api.Clear()

    def _lines(self, height: int, scale: float) -> Iterator[RecognisedLine]:
        level: Any = self._library.RIL
        found: Any = self._api.GetIterator()
        words: list[RecognisedWord] = []
        base, slope, begins = 0.0, 0.0, False
        for one in self._library.iterate_level(found, level.WORD) if found is not None else ():
            if one.IsAtBeginningOf(level.TEXTLINE):
                if words:
                    yield RecognisedLine(tuple(words), base, slope, begins)
                start, slope = _base_line(one.Baseline(level.TEXTLINE))
                words, base, begins = [], (height - start) * scale, one.IsAtBeginningOf(level.PARA)
            box = cast(_Box | None, one.BoundingBox(level.WORD))
            text = str(one.GetUTF8Text(level.WORD) or "").strip()
            if text and box is not None:
                left, top, right, bottom = box
                places = (left * scale, (height - bottom) * scale, right * scale, (height - top) * scale)
                words.append(RecognisedWord(text, *places, round(one.Confidence(level.WORD) / 100, 3)))
        if words:
            yield RecognisedLine(tuple(words), base, slope, begins)


def _base_line(found: tuple[tuple[int, int], tuple[int, int]] | None) -> tuple[float, float]:
    """Where a base line begins, in pixels from the top, and how much it rises a pixel."""
    if found is None:
        return 0.0, 0.0
    (left, start), (right, end) = found
    return start, (start - end) / (right - left) if right > left else 0.0


def _confidence(page: RecognisedPage) -> float:
    return median([word.confidence for line in page.lines for word in line.words] or [0.0])


def _is_blank(grey: Grey) -> bool:
    """Whether hardly a pixel is darker than the paper."""
    return float(np.mean(grey < float(np.median(grey)) - _INK)) < _SPECKS
