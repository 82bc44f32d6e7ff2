"""The labels of texts that stand in one place: the headings of one section, the first cells of a table, the cells of
one of its columns, the names of its columns, the terms of a list, and what a text joins by "and" or "or".

What they label are things of one kind. The documents say so themselves: no list of words tells that a family card is
to an adult card as Shed North is to Shed South.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentic_rag.language.tables import is_blank, is_row, split_cells
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.retrieval.candidates import Passage

Labels = tuple[str, ...]

_HEADING = re.compile(r"^(?:#{1,6} +(?P<marked>[^\n]+)|\*\*(?P<bold>[^*\n]{2,60})\*\*\s*$)", re.MULTILINE)
_TERM = re.compile(
    r"^(?:(?:[-*•] |\d+[.)] )\**(?P<item>[^:.\n|—–]{2,60}?)\**\s*(?::|[—–]| - )|(?P<line>[^\W\d_][^:.\n|#]{1,50}):\s)",
    re.MULTILINE,
)
"""What an item of a list, or a line, says it is about: "Deposit: £25"."""
_JOINED = re.compile(
    r"(?<![\w-])(?P<one>[^\W\d_][\w-]{2,}) (?:and|or) (?:the |an? )?(?P<other>[^\W\d_][\w-]{2,})(?![\w-])"
)
_RULE = frozenset(" -:")


def sibling_labels(passages: Sequence[Passage], table: WordTable | None) -> Iterator[Labels]:
    """The labels of each place of passages, in a language with this table of words."""
    yield from _headings(passages)
    for passage in passages:
        text = passage.chunk.text
        for rows in _tables(passage.text_with_table_head):
            yield from _columns(rows)
        terms = (one["item"] or one["line"] for one in _TERM.finditer(text))
        yield _distinct(terms)
        if table is None:
            yield from ((one["one"], one["other"]) for one in _JOINED.finditer(text))


def entry_above(text: str, at: int) -> str:
    """The term that opens the paragraph of an offset, and that all of the paragraph is about."""
    start = text.rfind("\n\n", 0, at) + 2 if "\n\n" in text[:at] else 0
    line = max(start, text.rfind("\n- ", start, at) + 1, text.rfind("\n* ", start, at) + 1)
    found = _TERM.match(text, line)
    return "" if found is None else found["item"] or found["line"]


def _headings(passages: Sequence[Passage]) -> Iterator[Labels]:
    """Those below one heading of a document."""
    found: dict[tuple[str, ...], list[str]] = {}
    for passage in passages:
        chunk = passage.chunk
        above = (chunk.document_title, *chunk.heading_path[:-1])
        beside = found.setdefault(above, [])
        beside += chunk.heading_path[-1:]
        beside += (one["marked"] or one["bold"] for one in _HEADING.finditer(chunk.text))
    return map(_distinct, found.values())


def _tables(text: str) -> Iterator[list[list[str]]]:
    """The rows of each table with its header, by cells."""
    rows: list[list[str]] = []
    for line in (*text.splitlines(), ""):
        if is_row(line):
            if not set(line.replace("|", "")) <= _RULE:
                rows.append(split_cells(line))
        elif rows:
            yield rows
            rows = []


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[Labels]:
    yield _distinct(rows[0])
    for place in range(max(map(len, rows))):
        yield _distinct(row[place] for row in rows[1:] if place < len(row) and not is_blank(row[place]))


def _distinct(labels: Iterator[str] | Sequence[str]) -> Labels:
    return tuple(dict.fromkeys(one for one in labels if one))
