"""Citations judged by an answer's text, its markers and its quotes; what the answer says of them is not read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from agentic_rag.language.sentences import sentence_spans

_MARKED = re.compile(r"(.*?)(?: \[\d+\])* ((?:\[\d+\])+)(?=\s|\Z)", re.DOTALL)
"""A sentence and its markers. Numbers in brackets before them are the source's own."""
_MARKER = re.compile(r"\[(\d+)\]")
_NUMBERS = re.compile(r"\[([\d,;–-]+)\]")
_LAYOUT = re.compile(r"[*_`|]|(?<!\S)[-—–](?=\s)|[:;.](?=[\s*_`|]|\Z)|\s")


def markers(text: str) -> frozenset[int]:
    """The markers that stand in an answer."""
    return frozenset(int(one) for found in _MARKED.finditer(text) for one in _MARKER.findall(found[2]))


def covered(text: str, quotes: Mapping[int, str]) -> list[float]:
    """1 for each sentence of an answer that a quote covers, else 0; `quotes` by their markers.

    A sentence is covered when a marker with a quote follows it, or when the quotes of the next markers hold it word for
    word. Marks of emphasis and of list items are no words; a row of a table counts as its cells in order, each alone or
    after the head of its column.
    """
    values: list[float] = []
    end = 0
    for found in _MARKED.finditer(text):
        named = [quotes[int(one)] for one in _MARKER.findall(found[2]) if int(one) in quotes]
        *before, last = _sentences(found[1]) or [""]
        values += [float(any(_stands_in(one, quote) for quote in named)) for one in before]
        values += [float(bool(named))] if last else []
        end = found.end()
    return values + [0.0 for _ in _sentences(text[end:])]


def _sentences(text: str) -> list[str]:
    lines = [line for start, end in sentence_spans(text) for line in text[start:end].splitlines()]
    pieces = [line.strip(" -") for line in lines]
    return [one for one in pieces if re.search(r"\w", one)]


def _stands_in(sentence: str, quote: str) -> bool:
    shown = _folded(sentence)
    return shown in _folded(quote) or any(shown == row for row in _rows_of(quote))


def _rows_of(quote: str) -> Iterator[str]:
    """Each row of the quoted tables as its cells, and as its cells with the heads of their columns."""
    heads: list[str] = []
    for line in quote.splitlines():
        cells = [_folded(cell) for cell in line.strip().strip("|").split("|")]
        if len(cells) < 2:
            heads = []
            continue
        heads = heads or cells
        yield "".join(cells)
        yield cells[0] + "".join(head + cell for head, cell in zip(heads[1:], cells[1:], strict=False))


def _folded(text: str) -> str:
    """The text without spaces and marks of layout; a link that was made harmless is whole again, and a source's own
    numbers in square brackets stand in round ones, as answers may show them.
    """
    return _NUMBERS.sub(r"(\1)", _LAYOUT.sub("", text.replace("[:]", ":").replace("[.]", ".")))
