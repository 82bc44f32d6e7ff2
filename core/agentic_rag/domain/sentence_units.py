"""What a quoted unit of a passage is (prose, list item, table row, heading …) and how it reads in an answer."""

from __future__ import annotations

import enum
import re

_SPACE = re.compile(r"\s+")
_TERMINAL = re.compile(r"[.!?…。！？:;][\"'”’»)\]*_]*$")
_LIST_MARK = re.compile(r"^(?:[-*+•▪◦‣·●○■]|\(?\d{1,3}[.)]|\([a-zA-Z]{1,3}\)|[a-zA-Z][.)])\s+")
_RULE_ROW = re.compile(r"^[\s|:+=_.*-]+$")
_PAGE_FOOT = re.compile(r"\bpage \d+(?: of \d+)?\.?$")
_BOILERPLATE = (
    "all rights reserved",
    "©",
    "table of contents",
    "click here",
    "cookie policy",
    "intentionally left blank",
    "subscribe to",
    "terms of service",
    "terms of use",
    "skip to main content",
    "skip to content",
)
"""Lower-case phrases of text that surrounds documents. Searched one by one: as one pattern they cost ten times more."""
_CAPTION = re.compile(r"^(?:table|figure|fig\.|exhibit|appendix|annex)\s*[\dA-Z][\d.]*[.:)]?\s", re.I)
_NUMBERED_HEADING = re.compile(r"^\d{1,2}(?:\.\d{1,2}){0,3}\.?\s+[A-Z]")
CELL_SIGN = " | "
_EMPHASIS = re.compile(r"(?<!\w)(\*\*|__|\*|_|`)(?=\S)(.+?)(?<=\S)\1(?!\w)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_QUOTED_SPACE = re.compile(r"\s+([,.;:!?%)])(?=\s|$)")

MIN_PROSE_WORDS = 4
MAX_PROSE_WORDS = 70
MAX_HEADING_WORDS = 12


class UnitKind(enum.Enum):
    """What a sentence span turns out to be."""

    PROSE = "prose"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    LABELLED = "labelled"
    """A label with its value on the next line: how the cells of a PDF's table come out."""
    LEAD_IN = "lead_in"
    HEADING = "heading"
    FRAGMENT = "fragment"
    BOILERPLATE = "boilerplate"
    QUESTION = "question"


QUOTABLE = frozenset({UnitKind.PROSE, UnitKind.LIST_ITEM, UnitKind.TABLE_ROW, UnitKind.LABELLED, UnitKind.LEAD_IN})


def kind_of(unit: str, *, cut_off: bool = False) -> UnitKind:
    """The kind of a unit; `cut_off` says that it opens a chunk in the middle of a document."""
    words = unit.count(" ") + 1
    if unit.startswith("#") or _RULE_ROW.match(unit):
        return UnitKind.HEADING
    if _is_boilerplate(unit.lower()):
        return UnitKind.BOILERPLATE
    if is_row(unit):
        return UnitKind.TABLE_ROW
    if words <= MAX_HEADING_WORDS and _CAPTION.match(unit):
        return UnitKind.HEADING
    if cut_off and unit[:1].islower():
        return UnitKind.FRAGMENT
    if unit.endswith(("?", "？")):
        return UnitKind.QUESTION
    if _LIST_MARK.match(unit):
        return UnitKind.LIST_ITEM if words > 2 else UnitKind.FRAGMENT
    return _kind_of_text(unit, words)


def _is_boilerplate(low: str) -> bool:
    return any(phrase in low for phrase in _BOILERPLATE) or ("page " in low and _PAGE_FOOT.search(low) is not None)


def _kind_of_text(unit: str, words: int) -> UnitKind:
    """Prose, the line before a list, a bare row of a PDF's table, or a heading without mark-up."""
    if unit.endswith(":"):
        return UnitKind.LEAD_IN
    unspaced = unit[0] >= "\u2e80"
    if unspaced or _TERMINAL.search(unit):
        return UnitKind.PROSE if unspaced or words >= MIN_PROSE_WORDS else UnitKind.FRAGMENT
    if words <= MAX_HEADING_WORDS and _NUMBERED_HEADING.match(unit):
        return UnitKind.HEADING
    if words > 2 and any(letter.isdigit() for letter in unit):
        return UnitKind.TABLE_ROW
    if words <= MAX_HEADING_WORDS:
        return UnitKind.HEADING
    return UnitKind.PROSE if words <= MAX_PROSE_WORDS else UnitKind.FRAGMENT


def readable(unit: str, header: str | None = None) -> str:
    """The unit as a sentence of an answer: line breaks and mark-up folded, table cells named by their header row."""
    text = _row(unit, header) if is_row(unit) else _LIST_MARK.sub("", unit)
    text = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))
    text = _QUOTED_SPACE.sub(r"\1", _SPACE.sub(" ", text)).strip()
    if not _TERMINAL.search(text):
        text += "."
    return text


def is_row(unit: str) -> bool:
    """True for a line of a table: cells between vertical bars."""
    return unit.startswith("|") or CELL_SIGN in unit


def header_span(passage: str, row_start: int) -> tuple[int, int] | None:
    """Where the header row of the table stands that the row at `row_start` belongs to: the first of the lines with
    cells that stand together. None for the header row itself.
    """
    line_start = passage.rfind("\n", 0, row_start) + 1
    header: tuple[int, int] | None = None
    end = line_start - 1
    while end > 0:
        start = passage.rfind("\n", 0, end) + 1
        line = passage[start:end].strip()
        if not is_row(line) and not line.startswith("|"):
            break
        if not _RULE_ROW.match(line):
            header = (start, end)
        end = start - 1
    return header


def row_spans(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans with every table that was read as one sentence cut into its lines."""
    if CELL_SIGN not in text:
        return spans
    cut: list[tuple[int, int]] = []
    for start, end in spans:
        if CELL_SIGN not in text[start:end] or "\n" not in text[start:end]:
            cut.append((start, end))
            continue
        at = start
        for line in text[start:end].split("\n"):
            stripped = line.strip()
            if stripped:
                first = at + line.index(stripped)
                cut.append((first, first + len(stripped)))
            at += len(line) + 1
    return cut


def _row(row: str, header: str | None) -> str:
    cells = _cells(row)
    names = _cells(header) if header else []
    if len(names) == len(cells) and row.strip() != (header or "").strip():
        first, *others = zip(names, cells, strict=True)
        named = [f"{name}: {cell}" if name else cell for name, cell in others if cell]
        lead = first[1] or first[0]
        return f"{lead} — {'; '.join(named)}" if named else lead
    return "; ".join(cell for cell in cells if cell)


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
