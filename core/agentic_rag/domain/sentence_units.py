"""What a quoted unit of a passage is (prose, list item, table row, heading …) and how it reads in an answer."""

from __future__ import annotations

import enum
import re

_SPACE = re.compile(r"\s+")
_TERMINAL = re.compile(r"[.!?…。！？:;][\"'”’»)\]*_]*$")
_LIST_MARK = re.compile(r"^(?:[-*+•▪◦‣·●○■]|\(?\d{1,3}[.)]|\([a-zA-Z]{1,3}\)|[a-zA-Z][.)])\s+")
_RULE_ROW = re.compile(r"^[\s|:+=_.*-]+$")
_BOILERPLATE = re.compile(
    r"all rights reserved|©|copyright \d{4}|table of contents|click here|cookie policy|\bpage \d+ of \d+\b|"
    r"this page (?:is )?intentionally left blank|subscribe to|terms of (?:use|service)|skip to (?:main )?content",
    re.IGNORECASE,
)
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
    LEAD_IN = "lead_in"
    HEADING = "heading"
    FRAGMENT = "fragment"
    BOILERPLATE = "boilerplate"
    QUESTION = "question"


QUOTABLE = frozenset({UnitKind.PROSE, UnitKind.LIST_ITEM, UnitKind.TABLE_ROW, UnitKind.LEAD_IN})


def kind_of(unit: str, *, cut_off: bool = False) -> UnitKind:
    """The kind of a unit; `cut_off` says that it opens a chunk in the middle of a document."""
    if unit.startswith("#") or _RULE_ROW.match(unit):
        return UnitKind.HEADING
    if _BOILERPLATE.search(unit):
        return UnitKind.BOILERPLATE
    if unit.startswith("|"):
        return UnitKind.TABLE_ROW
    if cut_off and unit[:1].islower():
        return UnitKind.FRAGMENT
    words = unit.count(" ") + 1
    ended = _TERMINAL.search(unit) is not None
    if unit.endswith(("?", "？")):
        return UnitKind.QUESTION
    if _LIST_MARK.match(unit):
        return UnitKind.LIST_ITEM if words > 2 else UnitKind.FRAGMENT
    if unit.endswith(":"):
        return UnitKind.LEAD_IN
    if ended or unit[0] >= "\u2e80":
        return UnitKind.PROSE if words >= MIN_PROSE_WORDS or unit[0] >= "\u2e80" else UnitKind.FRAGMENT
    if any(letter.isdigit() for letter in unit) and words > 2:
        return UnitKind.TABLE_ROW
    if words <= MAX_HEADING_WORDS:
        return UnitKind.HEADING
    return UnitKind.PROSE if words <= MAX_PROSE_WORDS else UnitKind.FRAGMENT


def readable(unit: str, kind: UnitKind, header: str | None = None) -> str:
    """The unit as a sentence of an answer: line breaks and mark-up folded, table cells named by their header row."""
    if kind is UnitKind.TABLE_ROW and unit.startswith("|"):
        text = _row(unit, header)
    else:
        text = _LIST_MARK.sub("", unit)
    text = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text))
    text = _QUOTED_SPACE.sub(r"\1", _SPACE.sub(" ", text)).strip()
    if not _TERMINAL.search(text):
        text += "."
    return text


def header_of(passage: str, row_start: int) -> str | None:
    """The header row of the Markdown table that the row at `row_start` belongs to, or None."""
    lines = passage[:row_start].split("\n")
    first: str | None = None
    ruled = False
    for line in reversed(lines[:-1] if lines and not lines[-1].strip() else lines):
        stripped = line.strip()
        if not stripped.startswith("|"):
            break
        if _RULE_ROW.match(stripped):
            ruled, first = True, None
        else:
            first = stripped
            if ruled:
                return first
    return None


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
