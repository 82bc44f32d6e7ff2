"""Boxes of letters on a page, as another engine takes them, and where they write a quote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.adapters.parsing.pdf import quoted_lines
from agentic_rag.answering.runs.page_image import QuotedPlace


@dataclass(frozen=True, slots=True)
class Box:
    """Points from the lower left corner of a page."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.top - self.bottom)

    def moved(self, right: float, up: float) -> Box:
        return Box(self.left + right, self.bottom + up, self.right + right, self.top + up)

    def shared(self, other: Box) -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(0.0, width) * max(0.0, height)


class Letters:
    """What another engine reads on a page: pieces of text, each with its box."""

    def __init__(self, pieces: Sequence[tuple[str, Box]]) -> None:
        self._boxes = [box for _, box in pieces]
        said = [quoted_lines.letters(text) for text, _ in pieces]
        self._text = "".join(said)
        self._owners = [number for number, text in enumerate(said) for _ in text]

    def writing(self, place: QuotedPlace) -> list[Box] | None:
        """The boxes of the pieces that write the quote; None where they are not at one place."""
        before, quote, after = (quoted_lines.letters(part) for part in (place.before, place.quote, place.after))
        places = [one.start() for one in re.finditer(f"(?={re.escape(quote)})", self._text)]
        for length in (0, 12, 40, 120):
            head, tail = before[-length:] if length else "", after[:length]
            places = [at for at in places if self._stands_between(head, at, at + len(quote), tail)]
            if len(places) <= 1:
                break
        if len(places) != 1:
            return None
        numbers = dict.fromkeys(self._owners[places[0] : places[0] + len(quote)])
        return [self._boxes[number] for number in numbers]

    def _stands_between(self, head: str, start: int, end: int, tail: str) -> bool:
        return self._text.endswith(head, 0, start) and self._text.startswith(tail, end)


def merged(boxes: Iterable[Box]) -> Iterator[Box]:
    """The boxes of a line as one."""
    line: Box | None = None
    for box in boxes:
        height = box.top - box.bottom
        if line is not None:
            shared = min(line.top, box.top) - max(line.bottom, box.bottom)
            if shared >= height / 2 and max(box.left - line.right, line.left - box.right) <= 6 * height:
                left, bottom = min(line.left, box.left), min(line.bottom, box.bottom)
                line = Box(left, bottom, max(line.right, box.right), max(line.top, box.top))
                continue
            yield line
        line = box
    if line is not None:
        yield line
