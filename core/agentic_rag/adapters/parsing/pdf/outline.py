"""Headings of a PDF: by its outline (bookmarks) when it has a useful one, else by the form of the line.

Conservative: a heading too few costs a little context, a heading too many cuts a paragraph in two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_FORMS = (
    (
        re.compile(r"(?:PART|Part|CHAPTER|Chapter|APPENDIX|Appendix|ANNEX|Annex)\s+(?:[IVXLC]+|[0-9]+|[A-Z])\b.{0,80}"),
        1,
    ),
    (re.compile(r"(?:ITEM|Item|SECTION|Section|ARTICLE|Article)\s+[0-9]+[A-Z]?(?:\.[0-9]+)*[.:]?\s+\S.{0,110}"), 2),
    (re.compile(r"(?:NOTE|Note)\s+[0-9]+\s*[—–:.-]\s*\S.{0,80}"), 3),
)
_NUMBERED = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,2}){1,4})\.?\s+[^\W\d_][^.!?;|]{2,80}")
_CAPITALS = re.compile(r"[A-Z][A-Z&’',/() -]{6,80}(?:\([A-Za-z]+\))?")
_NUMBER_AHEAD = re.compile(r"^(?:[0-9]+(?:\.[0-9]+)*\.?|[IVXLC]+\.)\s+")
_CAPITALS_LEVEL = 3
_LEAST_OUTLINE_HITS = 3
_RUNNING_PAGES = 3
"""A line that stands on this many pages is a running header or footer, no heading."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark: its title, its page (index from 0) and its depth from 1."""

    title: str
    page: int
    level: int


def heading_levels(pages: Sequence[Sequence[str]], outline: Sequence[OutlineEntry]) -> Mapping[tuple[int, int], int]:
    """Levels 1–6 of the lines that are headings, by (page index, line index). `pages` holds each page's lines,
    trimmed.
    """
    found = _by_outline(pages, outline)
    return found if len(found) >= _LEAST_OUTLINE_HITS else _by_form(pages)


def _by_outline(pages: Sequence[Sequence[str]], outline: Sequence[OutlineEntry]) -> dict[tuple[int, int], int]:
    wanted: dict[int, dict[str, int]] = {}
    for entry in outline:
        wanted.setdefault(entry.page, {}).setdefault(_plain(entry.title), min(entry.level, 6))
    found: dict[tuple[int, int], int] = {}
    for page, titles in wanted.items():
        if not 0 <= page < len(pages):
            continue
        for number, line in enumerate(pages[page]):
            level = titles.pop(_plain(line), None)
            if level is not None:
                found[page, number] = level
    return found


def _plain(title: str) -> str:
    return "".join(_NUMBER_AHEAD.sub("", title.strip()).split()).casefold()


def _by_form(pages: Sequence[Sequence[str]]) -> dict[tuple[int, int], int]:
    on_pages = Counter(line for lines in pages for line in {*lines} if len(line) <= 120)
    found: dict[tuple[int, int], int] = {}
    for page, lines in enumerate(pages):
        for number, line in enumerate(lines):
            if not 4 <= len(line) <= 120 or on_pages[line] >= _RUNNING_PAGES:
                continue
            following = lines[number + 1] if number + 1 < len(lines) else ""
            before = lines[number - 1] if number else ""
            level = _level(line, before, following)
            if level:
                found[page, number] = level
    return found


def _level(line: str, before: str, following: str) -> int:
    if line[-1].isdigit() or line[-1] in ",;|-–" or following[:1].islower():
        # A line of a table of contents, a table row, or a sentence that goes on.
        return 0
    if (before and before[-1] in ",-–") or before.endswith((" and", " of", " the", " in", " see", " See", " to")):
        return 0
    for form, level in _FORMS:
        if form.fullmatch(line) and not (line.endswith(".") and len(line) > 60):
            return level
    numbered = _NUMBERED.fullmatch(line)
    if numbered:
        return min(numbered[1].count(".") + 1, 6)
    if _CAPITALS.fullmatch(line) and not _is_capitals(before) and not _is_capitals(following):
        return _CAPITALS_LEVEL if sum(len(word) > 2 for word in line.split()) >= 2 else 0
    return 0


def _is_capitals(line: str) -> bool:
    return _CAPITALS.fullmatch(line) is not None
