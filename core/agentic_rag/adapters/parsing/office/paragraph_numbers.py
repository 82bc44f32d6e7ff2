"""The numbers that Word shows before headings and list items: a document states how to count, not what was counted
(ECMA-376 Part 1, 17.9).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import ascii_lowercase
from xml.etree.ElementTree import Element

_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_LARGEST_ROMAN = 3_999
_LEVELS = 9
_LONGEST_CHAIN = 20
"""Styles based on each other."""
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
"""The second copy of a drawing, for older programs."""


@dataclass(frozen=True, slots=True)
class _Level:
    """How paragraphs of a level are counted and shown."""

    start: int
    kind: str
    text: str
    style: str
    restarts: bool
    is_legal: bool


@dataclass(slots=True)
class _List:
    """A way of counting with what it counted. `starts`: levels that a list begins anew."""

    levels: Mapping[int, _Level]
    counts: dict[int, int] = field(default_factory=dict[int, int])

    def label(self, at: int) -> str:
        """Count one more paragraph of a level. Gives what Word shows before it."""
        level = self.levels[at]
        self.counts[at] = self.counts.get(at, level.start - 1) + 1
        for deeper in [one for one in self.counts if one > at and self.levels[one].restarts]:
            del self.counts[deeper]

        def shown(place: re.Match[str]) -> str:
            upper = int(place[1]) - 1
            other = self.levels.get(upper)
            if other is None:
                return ""
            return _figure(self.counts.get(upper, other.start), "decimal" if level.is_legal else other.kind)

        return " ".join(_PLACE.sub(shown, level.text).split())


class ParagraphNumbers:
    """Counts the paragraphs of a document in their order."""

    def __init__(self, numbering: Element, styles: Element | None) -> None:
        self._w = numbering.tag.partition("}")[0] + "}"
        self._styles = {one.get(f"{self._w}styleId", ""): one for one in _all(styles, f"{self._w}style")}
        self._ways = {one.get(f"{self._w}abstractNumId", ""): one for one in numbering.iter(f"{self._w}abstractNum")}
        self._nums = {one.get(f"{self._w}numId", ""): one for one in numbering.iter(f"{self._w}num")}
        self._lists: dict[str, _List] = {}
        self._begun: set[str] = set()

    def labels(self, document: Element) -> Iterator[tuple[Element, str]]:
        """The paragraphs with a number, each with what is shown before it; not those with bullets."""
        stack = [document]
        while stack:
            node = stack.pop()
            if node.tag == f"{self._w}p":
                label = self._label(node)
                if label is not None:
                    yield node, label
            stack += [child for child in reversed(node) if child.tag != _FALLBACK]

    def _label(self, paragraph: Element) -> str | None:
        properties = paragraph.find(f"{self._w}pPr")
        if properties is None:
            return None
        style = self._value(properties, "pStyle")
        number, at = self._place(properties, style)
        counted = self._list(number)
        if counted is None:
            return None
        if at is None:
            at = next((one for one, level in counted.levels.items() if style and level.style == style), 0)
        level = counted.levels.get(at)
        if level is None or level.kind == "bullet":
            return None
        return counted.label(at)

    def _place(self, properties: Element, style: str) -> tuple[str, int | None]:
        """The number of the list, and the level where it is stated: of the paragraph, else of its style."""
        at = None
        for one in (properties, *self._chain(style)):
            stated = one.find(f"{self._w}numPr")
            if stated is None:
                continue
            level = self._value(stated, "ilvl")
            at = _whole(level) if at is None and level else at
            if number := self._value(stated, "numId"):
                return number, at
        return "", at

    def _chain(self, style: str) -> Iterator[Element]:
        """The paragraph properties of a style and of those that it is based on."""
        for _ in range(_LONGEST_CHAIN):
            held = self._styles.get(style)
            if held is None:
                return
            properties = held.find(f"{self._w}pPr")
            if properties is not None:
                yield properties
            style = self._value(held, "basedOn")

    def _list(self, number: str) -> _List | None:
        """The list that a number stands for. Lists of one way of counting go on from each other."""
        held = self._nums.get(number)
        if held is None:
            return None
        way = self._way(held)
        if way not in self._ways:
            return None
        if way not in self._lists:
            levels = {_whole(one.get(f"{self._w}ilvl", "")): one for one in self._ways[way].iter(f"{self._w}lvl")}
            self._lists[way] = _List({at: self._level(one) for at, one in levels.items() if at < _LEVELS})
        counted = self._lists[way]
        if number not in self._begun:
            self._begun.add(number)
            for one in held.iter(f"{self._w}lvlOverride"):
                start, at = self._value(one, "startOverride"), _whole(one.get(f"{self._w}ilvl", ""))
                if start:
                    counted.counts[at] = _whole(start) - 1
        return counted

    def _way(self, held: Element) -> str:
        """The way of counting of a list, by the style that it may refer to."""
        way = self._value(held, "abstractNumId")
        found = self._ways.get(way)
        link = self._value(found, "numStyleLink") if found is not None else ""
        if link:
            number = next((self._value(one, "numPr/" + self._w + "numId") for one in self._chain(link)), "")
            linked = self._nums.get(number)
            way = self._value(linked, "abstractNumId") if linked is not None else way
        return way

    def _level(self, held: Element) -> _Level:
        start = self._value(held, "start")
        return _Level(
            start=_whole(start) if start else 1,
            kind=self._value(held, "numFmt") or "decimal",
            text=self._value(held, "lvlText"),
            style=self._value(held, "pStyle"),
            restarts=self._value(held, "lvlRestart") != "0",
            is_legal=held.find(f"{self._w}isLgl") is not None,
        )

    def _value(self, held: Element, name: str) -> str:
        found = held.find(f"{self._w}{name}")
        return "" if found is None else found.get(f"{self._w}val", "")


def _whole(text: str) -> int:
    """A number of a level or a start; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0


def _all(held: Element | None, tag: str) -> Iterator[Element]:
    return iter(()) if held is None else held.iter(tag)


def _figure(count: int, kind: str) -> str:
    """A count as a number format shows it; formats of other scripts as digits."""
    match kind:
        case "none":
            return ""
        case "decimalZero":
            return f"{count:02}"
        case "lowerLetter" | "upperLetter" if count > 0:
            letters = ascii_lowercase[(count - 1) % 26] * min((count - 1) // 26 + 1, 9)
            return letters.upper() if kind.startswith("upper") else letters
        case "lowerRoman" | "upperRoman" if 0 < count <= _LARGEST_ROMAN:
            roman = _roman(count)
            return roman.upper() if kind.startswith("upper") else roman
        case _:
            return str(count)


def _roman(count: int) -> str:
    made = ""
    for value, letters in _ROMAN:
        made += letters * (count // value)
        count %= value
    return made
