"""Reads fields of an engine's JSON, which may hold anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from agentic_rag.web.search import SearchResult

MAX_CHARACTERS = 1_000


def rows_of(payload: object, *path: str) -> Iterator[Mapping[str, object]]:
    """The objects of the list at a path; none where there is no such list."""
    for name in path:
        payload = cast(Mapping[str, object], payload).get(name) if isinstance(payload, dict) else None
    for row in cast(list[object], payload) if isinstance(payload, list) else ():
        if isinstance(row, dict):
            yield cast(Mapping[str, object], row)


def text_of(row: Mapping[str, object], *names: str) -> str:
    """The first of the fields that is a text, shortened."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value:
            return value[:MAX_CHARACTERS]
    return ""


def range_of(days: int | None, ranges: Sequence[tuple[int, str]]) -> str:
    """An engine's name of the first range that is long enough; empty without `days`, and for more than the longest."""
    return next((name for most, name in ranges if days is not None and days <= most), "")


def result_of(row: Mapping[str, object], url: str, title: str, snippet: str, *published: str) -> SearchResult:
    """A result whose fields have these names."""
    value = row.get(url)
    address = value if isinstance(value, str) else ""
    return SearchResult(address, text_of(row, title), text_of(row, snippet), text_of(row, *published))
