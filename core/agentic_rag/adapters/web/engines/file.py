"""A file of pages instead of an engine, for tests and for networks without one: a JSON object a line with `url`,
`title`, `snippet` and, where known, `published`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.language.tokenizer import tokenize
from agentic_rag.web.search import AskEngine, SearchRequest, SearchResult


class _Line(msgspec.Struct):
    url: str
    title: str = ""
    snippet: str = ""
    published: str = ""


def open_file(path: Path) -> AskEngine:
    """The engine over a file, which is read at each search. It names the pages that hold most words of the query."""

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        pages = await asyncio.to_thread(_read, path)
        wanted = frozenset(tokenize(request.query))
        scored = [(len(wanted & frozenset(tokenize(f"{page.title} {page.snippet}"))), page) for page in pages]
        best = sorted((one for one in scored if one[0]), key=lambda one: (-one[0], one[1].url))
        return tuple(page for _, page in best)

    return ask


def _read(path: Path) -> list[SearchResult]:
    """Errors: `Misconfigured` code SEARCH_REFUSED."""
    try:
        lines = path.read_bytes().splitlines()
        found = [msgspec.json.decode(line, type=_Line) for line in lines if line.strip()]
    except (OSError, msgspec.MsgspecError) as error:
        raise Misconfigured(
            f"The file of AGENTIC_RAG_SEARCH cannot be read: {error}. It has a JSON object a line, with `url`.",
            code="SEARCH_REFUSED",
        ) from error
    return [SearchResult(one.url, one.title, one.snippet, one.published) for one in found]
