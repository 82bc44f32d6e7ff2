"""Table rows in running text: cells between vertical bars, the header of a row, and a row as words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.word_tables import function_words_of

CELL_SEPARATOR = " | "
RULE_ROW = re.compile(r"^[\s|:+=_.*-]+$")
_BLANK = re.compile(r"[\s–—−-]*|n/a\.?|k\. ?a\.", re.IGNORECASE)
_MAX_HEADER_WORDS = 6
_LONGEST_PAGE_NUMBER = 4
_LONGEST_PROPERTY, _FEWEST_PROPERTIES = 60, 4
"""Code points of a line that names a property and its value, and how many such lines make a table."""
_MOST_FUNCTION_WORDS = 1
"""Of a line that names a property and its value: "ratio 1 to 48". Prose that a narrow column breaks has more."""
_VALUE = re.compile(r"(?<![\w-])\d[\d.,]*(?: [^\W\d_]| ?[%°])")
"""A number with its unit."""
_PLAIN_WORD = re.compile(r"[^\W\d_]+")
_BREAKS_OFF = re.compile(r"[.!?…。！？:;,(/&–—-][\"'”’»)\]*_]*$")


def is_row(unit: str) -> bool:
    """True for a table row: cells between vertical bars."""
    return unit.startswith("|") or CELL_SEPARATOR in unit


def split_cells(row: str) -> list[str]:
    """The cells of a row, trimmed. A bar before the first cell says that one closes the last; without it, what stands
    behind the last bar is a cell, though it may be empty.
    """
    row = row.strip()
    inner = row[1:].removesuffix("|") if row.startswith("|") else row
    return [cell.strip() for cell in inner.split("|")]


def is_blank(cell: str) -> bool:
    """True for a cell that says nothing: it is empty, or has a dash or "n/a"."""
    return _BLANK.fullmatch(cell) is not None


def split_names(header: str) -> list[str]:
    """The names of columns: no column lies behind a closing bar, whether one opens the row or not."""
    row = header.strip()
    return split_cells(row if row.startswith("|") else row.removesuffix("|"))


def fit_cells(row: str, columns: int) -> list[str]:
    """The cells of a row below so many columns: a bar behind the last column closes the row."""
    cells = split_cells(row)
    return cells[:-1] if len(cells) == columns + 1 and not cells[-1] else cells


def pair_cells(row: str, header: str) -> list[tuple[str, str]]:
    """The name of each column with the row's cell below it; none where they are not as many. Of a header with a caption
    above it the last line counts.
    """
    names = split_names(header.rsplit("\n", 1)[-1])
    cells = fit_cells(row, len(names))
    return list(zip(names, cells, strict=True)) if len(names) == len(cells) else []


def header_span(passage: str, row_start: int) -> tuple[int, int] | None:
    """The span of the header row for the row at `row_start`.

    With a rule (`|---|---|`), the header is the line above the rule; a blank or missing line there means a table of
    keys and values without a header. Without a rule, the header is the table's first line if it names at least three
    columns; two columns without a rule are key and value. None for the header row itself.
    """
    line_start = passage.rfind("\n", 0, row_start) + 1
    above: tuple[int, int] | None = None
    """The topmost line read so far."""
    below_rule = False
    end = line_start - 1
    while end > 0:
        start = passage.rfind("\n", 0, end) + 1
        line = passage[start:end].strip()
        if not is_row(line):
            break
        if below_rule:
            return None if RULE_ROW.match(line) else (start, end)
        if RULE_ROW.match(line):
            below_rule = True
        above = (start, end)
        end = start - 1
    if below_rule or above is None:
        return None
    return above if _names_columns(passage[above[0] : above[1]]) else None


def caption_span(passage: str, header_start: int) -> tuple[int, int] | None:
    """The caption: the line directly above a table. None if that line is blank or missing."""
    end = header_start - 1
    if end <= 0:
        return None
    start = passage.rfind("\n", 0, end) + 1
    return (start, end) if passage[start:end].strip() else None


def is_header(passage: str, start: int, end: int) -> bool:
    """True when the row [start, end) names the columns of the rows below it."""
    after = passage.find("\n", end) + 1
    if not after:
        return False
    following = passage[after:].split("\n", 1)[0].strip() if after < len(passage) else ""
    if not is_row(following):
        return False
    if RULE_ROW.match(following):
        return True
    header = header_span(passage, after)
    return header is not None and header[0] <= start < header[1]


def is_page_foot(passage: str, start: int, end: int) -> bool:
    """True for an isolated row that ends in a page number: "Harbour Ltd | Annual report | 5"."""
    last = split_names(passage[start:end])[-1]
    if not last.isdigit() or len(last) > _LONGEST_PAGE_NUMBER:
        return False
    before = passage[: max(0, start - 1)].rsplit("\n", 1)[-1]
    after = passage[end:].lstrip("\n").split("\n", 1)[0]
    return not is_row(before.strip()) and not is_row(after.strip())


def row_spans(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, with each span that contains a table split into its lines. A row whose first cell asks is one span,
    with the cell that answers.
    """
    if CELL_SEPARATOR not in text:
        return spans
    cut: list[tuple[int, int]] = []
    for start, end in _joined_rows(text, spans):
        if CELL_SEPARATOR not in text[start:end] or "\n" not in text[start:end]:
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


def _joined_rows(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, those of one line joined where a question mark cut a row between its cells."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and _cuts_row(text, joined[-1], start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _cuts_row(text: str, before: tuple[int, int], start: int) -> bool:
    """True where a span starts on the line of a row of which the span before it holds a question."""
    opened = text.rfind("\n", 0, start) + 1
    return opened < before[1] and text.startswith("|", opened) and "?" in text[opened : before[1]]


def format_row(row: str, header: str | None) -> str:
    """The row as words: cells labelled by the header's cells; without a header, two cells as key and value."""
    pairs = pair_cells(row, header) if header and row.strip() != header.strip() else []
    if pairs:
        first, *others = pairs
        named = [f"{name}: {cell}" if name else cell for name, cell in others if cell]
        lead = first[1] or first[0]
        return f"{lead} — {'; '.join(named)}" if named else lead
    filled = [cell for cell in split_cells(row) if cell]
    return ": ".join(filled) if len(filled) == 2 else "; ".join(filled)


def _names_columns(row: str) -> bool:
    held = split_names(row)
    return len(held) > 2 and all(
        cell and not cell[0].isdigit() and cell.count(" ") < _MAX_HEADER_WORDS for cell in held
    )


def split_properties(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, each of several lines that are names with their values, as a PDF's table comes out, cut into its
    lines: short ones in a row that each open with a capital, none of which runs on or ends a sentence, and most of
    which hold a number with its unit.
    """
    cut: list[tuple[int, int]] = []
    functions: frozenset[str] | None = None
    for start, end in spans:
        lines = line_spans(text, start, end)
        if len(lines) > 1 and functions is None:
            functions = FUNCTION_WORDS | function_words_of(text)
        is_table = functions is not None and len(lines) > 1 and _is_table_of_properties(text, lines, functions)
        cut += lines if is_table else [(start, end)]
    return cut


def line_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines of a span, each without the white space around it."""
    found: list[tuple[int, int]] = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        said = text[start:stop].strip()
        if said:
            first = text.index(said[0], start)
            found.append((first, first + len(said)))
        start = stop + 1
    return found


def _is_property(line: str, functions: frozenset[str]) -> bool:
    if not 0 < len(line) <= _LONGEST_PROPERTY or not line[0].isupper() or _BREAKS_OFF.search(line):
        return False
    words = _PLAIN_WORD.findall(line.lower())
    runs_on = not {*words[:1], line.rsplit(" ", 1)[-1].lower()}.isdisjoint(functions)
    return not runs_on and sum(word in functions for word in words) <= _MOST_FUNCTION_WORDS


def _is_table_of_properties(text: str, lines: Sequence[tuple[int, int]], functions: frozenset[str]) -> bool:
    """Whether the lines, with such lines directly above and below them, are enough for a table, most with a value."""
    found = [text[slice(*line)] for line in lines]
    if not all(_is_property(line, functions) for line in found):
        return False
    above, below = lines[0][0] - 1, lines[-1][1]
    while len(found) < _FEWEST_PROPERTIES and above >= 0 and text[above] == "\n":
        start = text.rfind("\n", 0, above) + 1
        line = text[start:above].strip()
        if not _is_property(line, functions):
            break
        found, above = [*found, line], start - 1
    while len(found) < _FEWEST_PROPERTIES and text[below : below + 1] == "\n":
        stop = text.find("\n", below + 1)
        stop = len(text) if stop < 0 else stop
        line = text[below + 1 : stop].strip()
        if not _is_property(line, functions):
            break
        found, below = [*found, line], stop
    return len(found) >= _FEWEST_PROPERTIES and 2 * sum(map(bool, map(_VALUE.search, found))) > len(found)
