"""Scans made of real pages: how many of their words the engine finds, and how many that are shown it misread."""

from __future__ import annotations

import io
import re
import resource
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pypdfium2  # pyright: ignore[reportMissingTypeStubs] - it ships none
from PIL import Image, ImageFilter

from agentic_rag.adapters.parsing.scans.recognised import ILLEGIBLE
from agentic_rag.kernel.errors import ParseFailed
from tests.bench.reports import Row, at_least, at_most
from tests.documents.reading import DATA, Read

_PAGES = (
    ("files2/federal-register-2020-17221.pdf", 0),
    ("files2/senate-expenditures.pdf", 0),
    ("files2/WARN-Report-for-7-1-2015-to-03-25-2016.pdf", 0),
    ("files2/testJournalParser.pdf", 0),
    ("sec-10q/docs/2022-Q3-AAPL.pdf", 3),
    ("sec-10q/docs/2022-Q3-AMZN.pdf", 3),
)
"""Three columns of small print, tables of figures, a list, a paper, statements of filings: file and page, from 0."""
_DOTS = (150, 200, 300)
_WORD = re.compile(r"[^\W_]+")
_TURN, _NOISE, _QUALITY = 1.5, 12.0, 50
"""Of a bad scan: degrees that the sheet lies askew, the spread of greys, and the quality of its JPEG."""


@dataclass(slots=True)
class _Count:
    wanted: int = 0
    found: int = 0
    shown: int = 0
    wrong: int = 0
    figures: int = 0
    wrong_figures: int = 0


def scans(read: Read, short: bool) -> list[Row]:
    """Words by number; those that are shown and do not stand on the page are misread. Processor time of the engine."""
    counts = {"clean": _Count(), "bad": _Count()}
    seconds, pages = 0.0, 0
    for name, number in _PAGES[:1] if short else _PAGES:
        page = cast(Any, pypdfium2).PdfDocument((DATA / name).read_bytes())[number]
        wanted = _words(page.get_textpage().get_text_range().replace("\ufffe", ""))
        for dots in _DOTS[1:2] if short else _DOTS:
            for kind, content in _scanned(page, dots, only_clean=short):
                began = time.process_time()
                text = read(content, "scan.jpg")
                seconds, pages = seconds + time.process_time() - began, pages + 1
                _compare(counts[kind], wanted, "" if isinstance(text, ParseFailed) else text.text)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows: list[Row] = []
    for kind, (found, wrong, figures) in {"clean": (88.0, 1.0, 1.0), "bad": (86.0, 2.0, 2.5)}.items():
        one = counts[kind]
        if one.wanted:
            share = 100 * one.found / one.wanted
            rows += [
                at_least(f"{kind} scans: words found", share, found, " %", timed=False),
                at_most(f"{kind} scans: words misread", 100 * one.wrong / max(1, one.shown), wrong, " %", timed=False),
                at_most(
                    f"{kind} scans: figures misread",
                    100 * one.wrong_figures / max(1, one.figures),
                    figures,
                    " %",
                    timed=False,
                ),
            ]
    return [
        *rows,
        at_most("scans: processor time a page", seconds / pages, 8, " s"),
        at_most("scans: memory of this process", memory, 768, " MB"),
    ]


def _compare(count: _Count, wanted: Counter[str], text: str) -> None:
    shown = _words(text.replace(ILLEGIBLE, " "))
    figures = {word for word in shown if any(sign.isdigit() for sign in word)}
    count.wanted += sum(wanted.values())
    count.found += sum((wanted & shown).values())
    count.shown += sum(shown.values())
    count.wrong += sum(number for word, number in shown.items() if word not in wanted)
    count.figures += sum(shown[word] for word in figures)
    count.wrong_figures += sum(shown[word] for word in figures if word not in wanted)


def _scanned(page: Any, dots: int, *, only_clean: bool) -> Iterator[tuple[str, bytes]]:
    sheet = cast(Image.Image, page.render(scale=dots / 72, grayscale=True).to_pil()).convert("L")
    yield "clean", _jpeg(sheet, dots, 90)
    if only_clean:
        return
    askew = np.asarray(sheet.rotate(_TURN, resample=Image.Resampling.BICUBIC, fillcolor=255)).astype(float)
    noise = np.random.default_rng(1).normal(0, _NOISE, askew.shape)
    grey = Image.fromarray((askew * 0.85 + 20 + noise).clip(0, 255).astype("uint8"))
    yield "bad", _jpeg(grey.filter(ImageFilter.GaussianBlur(0.6)), dots, _QUALITY)


def _jpeg(sheet: Image.Image, dots: int, quality: int) -> bytes:
    made = io.BytesIO()
    sheet.save(made, "JPEG", quality=quality, dpi=(dots, dots))
    return made.getvalue()


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))
