"""The lists, tables and sections of a passage: what a reader takes in as one piece."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agentic_rag.answering.extraction.segmented_text import Span, find_headings
from agentic_rag.answering.extraction.text_units import (
    CAPTION,
    FENCES,
    LIST_MARK,
    SECTION_LINE,
    UnitKind,
    classify_unit,
)
from agentic_rag.documents.front_matter import front_matter_end
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import RULE_ROW, is_row
from agentic_rag.language.words.word_tables import table_of

_CACHED_TEXTS = 256
"""As many as `segmented_text` keeps."""


class TextBlockKind(enum.Enum):
    """What a block is made of."""

    LIST = "list"
    TABLE = "table"
    SECTION = "section"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A stretch [start, end) of a text with its items, rows or paragraphs."""

    kind: TextBlockKind
    start: int
    end: int
    parts: tuple[Span, ...]
    heading: Span | None
    """The heading that it stands under."""
    lead: Span | None = None
    """The sentence that announces a list, or the header row of a table."""
    caption: Span | None = None


@dataclass(frozen=True, slots=True)
class RankedBlock:
    """A block of a passage: the terms in it and its heading (`mask`), and in its heading, lead-in and title."""

    passage: int
    block: TextBlock
    mask: int
    above_mask: int
    score: float


_ITEM = re.compile(rf"{LIST_MARK.pattern}|^(?:step|schritt|paso) \d{{1,2}}[.:)]", re.IGNORECASE)


class _Line(enum.Enum):
    BLANK = 0
    HEADING = 1
    ITEM = 2
    ROW = 3
    TEXT = 4


@lru_cache(_CACHED_TEXTS)
def find_blocks(text: str) -> tuple[TextBlock, ...]:
    """The blocks of a text in reading order; a section follows the lists and tables in it, and front matter is none."""
    spans = _line_spans(text)
    kinds = _line_kinds(text, spans)
    blocks: list[TextBlock] = []
    heading: Span | None = None
    paragraphs: list[Span] = []
    at = 0
    while at <= len(spans):
        kind = kinds[at] if at < len(spans) else _Line.HEADING
        if kind is _Line.HEADING:
            if paragraphs:
                section = (paragraphs[0][0], paragraphs[-1][1])
                blocks.append(TextBlock(TextBlockKind.SECTION, *section, tuple(paragraphs), heading))
            paragraphs = []
            heading = spans[at] if at < len(spans) else None
            at += 1
        elif kind is _Line.BLANK:
            at += 1
        else:
            last = _extent(kinds, at, kind)
            held = (spans[at][0], spans[last][1])
            if kind is _Line.ITEM:
                last = _last_of_list(text, spans, kinds, last)
                held = (spans[at][0], spans[last][1])
                items = _items(spans, kinds, at, last)
                blocks.append(TextBlock(TextBlockKind.LIST, *held, items, heading, _lead_in(text, spans, kinds, at)))
            elif kind is _Line.ROW and last > at:
                blocks.append(_table(text, spans, at, last, heading))
            paragraphs.append(held)
            at = last + 1
    return tuple(blocks)


def find_tables(text: str) -> list[TextBlock]:
    """The tables of a text in reading order; a text without a bar has none."""
    return [one for one in find_blocks(text) if one.kind is TextBlockKind.TABLE] if "|" in text else []


def _line_spans(text: str) -> list[Span]:
    """The lines without the white space around them."""
    spans: list[Span] = []
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        start = at + (line.index(stripped) if stripped else 0)
        spans.append((start, start + len(stripped)))
        at += len(line) + 1
    return spans


def _line_kinds(text: str, spans: Sequence[Span]) -> list[_Line]:
    kinds: list[_Line] = []
    heads = find_headings(text).lines
    fenced, front_end = False, front_matter_end(text)
    for at, (start, end) in enumerate(spans):
        line = "" if start < front_end else text[start:end]
        fence = line.startswith(FENCES)
        if fenced or fence:
            kinds.append(_Line.TEXT)
            fenced = fenced is not fence
            continue
        alone = (not at or spans[at - 1][0] == spans[at - 1][1]) and (
            at + 1 == len(spans) or spans[at + 1][0] == spans[at + 1][1]
        )
        if not line:
            kinds.append(_Line.BLANK)
        elif line.startswith("#") or SECTION_LINE.match(line) or (start, end) in heads:
            kinds.append(_Line.HEADING)
        elif is_row(line):
            kinds.append(_Line.ROW)
        elif _ITEM.match(line):
            after = text[slice(*spans[at + 1])] if at + 1 < len(spans) else ""
            headed = classify_unit(line) in (UnitKind.HEADING, UnitKind.QUESTION) and (
                alone or (after and not _ITEM.match(after))
            )
            headed = headed or (alone and _heads_items(line, text[end:].lstrip()[:8]))
            kinds.append(_Line.HEADING if headed else _Line.ITEM)
        elif CAPTION.match(line):
            kinds.append(_Line.TEXT)
        elif alone and classify_unit(line) in (UnitKind.HEADING, UnitKind.QUESTION):
            kinds.append(_Line.HEADING)
        else:
            kinds.append(_Line.TEXT)
    return kinds


def _heads_items(line: str, after: str) -> bool:
    """True for a numbered line without a full stop before items with other marks: "3. What we change", "a) A list"."""
    numbered = line[0].isdigit() and line[-1] not in ".!?:;"
    return bool(numbered and LIST_MARK.match(after) and not after[0].isdigit())


def _extent(kinds: Sequence[_Line], at: int, kind: _Line) -> int:
    """The last line of the paragraph, table or list that begins at `at`."""
    last = at
    for place in range(at + 1, len(kinds)):
        found = kinds[place]
        if found is kind or (kind is _Line.ITEM and found is _Line.TEXT and kinds[place - 1] is not _Line.BLANK):
            last = place
        elif not (kind is _Line.ITEM and found is _Line.BLANK):
            break
    return last


def _last_of_list(text: str, spans: Sequence[Span], kinds: Sequence[_Line], last: int) -> int:
    """The last line of a list without the paragraph that begins below its last item: at the margin, after a full stop,
    with a capital.
    """
    item = max(at for at in range(last + 1) if kinds[at] is _Line.ITEM)
    for at in range(item + 1, last + 1):
        start, end = spans[at]
        at_margin = not start or text[start - 1] == "\n"
        if at_margin and text[start].isupper() and end > start and text[spans[at - 1][1] - 1] in ".!?":
            return at - 1
    return last


def _items(spans: Sequence[Span], kinds: Sequence[_Line], first: int, last: int) -> tuple[Span, ...]:
    items: list[Span] = []
    for at in range(first, last + 1):
        if kinds[at] is _Line.ITEM:
            items.append(spans[at])
        elif kinds[at] is _Line.TEXT:
            items[-1] = (items[-1][0], spans[at][1])
    return tuple(items)


def _lead_in(text: str, spans: Sequence[Span], kinds: Sequence[_Line], at: int) -> Span | None:
    """The sentence before a list that ends in a colon."""
    before = at - 1
    while before >= 0 and kinds[before] is _Line.BLANK:
        before -= 1
    if before < 0 or kinds[before] is not _Line.TEXT or text[spans[before][1] - 1] != ":":
        return None
    first = before
    while first and kinds[first - 1] is _Line.TEXT:
        first -= 1
    start = spans[first][0]
    sentence = sentence_spans(text[start : spans[before][1]], table_of(text))[-1]
    return start + sentence[0], start + sentence[1]


def _table(text: str, spans: Sequence[Span], first: int, last: int, heading: Span | None) -> TextBlock:
    """A table; the row above a rule names its columns, without a rule the first row of at least three cells."""
    rows = list(range(first, last + 1))
    rules = [at for at in rows if RULE_ROW.match(text[slice(*spans[at])])]
    lead: Span | None = None
    if rules and rules[0] > first:
        lead = spans[rules[0] - 1]
        rows = [at for at in rows if at > rules[0]]
    elif not rules and text[slice(*spans[first])].count("|") > 1:
        lead = spans[first]
        rows = rows[1:]
    held = tuple(spans[at] for at in rows if at not in rules)
    above = first - 1
    while above > first - 3 and above > 0 and spans[above][0] == spans[above][1]:
        above -= 1
    caption: Span | None = None
    if above >= 0 and (above == first - 1 or CAPTION.match(text[slice(*spans[above])])):
        caption = spans[above] if spans[above][0] < spans[above][1] else None
    return TextBlock(TextBlockKind.TABLE, spans[first][0], spans[last][1], held, heading, lead, caption)
