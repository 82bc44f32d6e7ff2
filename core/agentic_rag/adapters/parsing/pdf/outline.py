"""Headings of a PDF: by its outline (bookmarks) when it has a useful one, else by the size and the form of the line.

Conservative: a heading too few costs a little context, a heading too many cuts a paragraph in two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from agentic_rag.adapters.parsing.pdf.page_words import PdfPage

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
_LARGER = 1.15
_MOST_SIZES = 3
"""Levels told by size: between larger letters and the forms of headings below them there is room for three."""
_FEW, _MOST_LARGE = 3, 0.25
"""Lines of a page that may be headings in any case, and their share of its lines above that."""
_LONGEST = 120
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_RUNNING_PAGES = 3
"""A line that stands on this many pages is a running header or footer, no heading."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark: its title, its page (index from 0) and its depth from 1."""

    title: str
    page: int
    level: int


def heading_levels(
    pages: Sequence[PdfPage], outline: Sequence[OutlineEntry], large: Set[float]
) -> Mapping[tuple[int, int], int]:
    """Levels 1–6 of the lines that are headings, by (page index, line index): by the bookmarks, else by the size of
    their letters, and else by their form. `large`: what `larger_sizes` gives.
    """
    lines = [["" if line.is_row else line.text.strip() for line in page.lines] for page in pages]
    found = _by_outline(lines, outline)
    if len(found) >= _LEAST_OUTLINE_HITS:
        return found
    by_form = _by_form(lines)
    by_size = _by_size(pages, large)
    deepest = max(by_size.values(), default=0)
    return {place: min(level + deepest, 6) for place, level in by_form.items()} | by_size


def larger_sizes(pages: Sequence[PdfPage]) -> frozenset[float]:
    """The sizes of letters that are clearly larger than those of most text; none where readers tell no sizes."""
    letters = Counter[float]()
    for page in pages:
        for line in page.lines:
            letters[line.size] += len(line.text)
    usual = max(letters, key=lambda size: letters[size], default=0.0)
    return frozenset(size for size in letters if usual and size >= _LARGER * usual)


def _by_size(pages: Sequence[PdfPage], large: Set[float]) -> dict[tuple[int, int], int]:
    """Lines in larger letters: the larger, the higher. Of a page of many large lines (a cover, a slide) only those in
    the largest letters count.
    """
    sizes = dict[tuple[int, int], float]()
    for page, held in enumerate(pages):
        found = {
            (page, number): line.size
            for number, line in enumerate(held.lines)
            if line.size in large and len(line.text) <= _LONGEST and _LETTERS.search(line.text)
        }
        if len(found) > max(_FEW, _MOST_LARGE * len(held.lines)):
            most = max(found.values())
            found = {place: size for place, size in found.items() if size == most}
        sizes |= found
    ranks = sorted({*sizes.values()}, reverse=True)
    return {place: min(ranks.index(size) + 1, _MOST_SIZES) for place, size in sizes.items()}


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
