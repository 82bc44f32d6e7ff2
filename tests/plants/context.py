"""The lies of `make context`, by row."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tests.plants import Mutant, Patch, Where

AT_NIGHT = partial(Mutant, where=Where.CHILDREN, is_slow=True)


def _slow_contexts(patch: Patch, seconds: float) -> None:
    from agentic_rag.answering.context.prepare_context import PrepareContext

    run = PrepareContext.run

    async def slowly(*arguments: Any) -> Any:
        await asyncio.sleep(seconds)
        return await run(*arguments)

    patch(PrepareContext, "run", slowly)


def _patient(patch: Patch) -> None:
    from agentic_rag.answering.context import prepare_context

    patch(prepare_context, "ALIVE_SECONDS", 1.0)


def _half_the_tokens(patch: Patch) -> None:
    from agentic_rag.answering.context import template

    whole = template.estimate_tokens
    patch(template, "estimate_tokens", lambda text: whole(text) // 2)


def _no_dots(patch: Patch) -> None:
    from agentic_rag.answering.context import template

    patch(template, "_shorten", lambda item, most: replace(item, text=item.text[:most]))


def _next_character(patch: Patch) -> None:
    from agentic_rag.documents.read_text import ReadText

    run = ReadText.run

    async def shifted(self: ReadText, principal: Any, ref: Any, key: Any, start: int, end: int, as_of: Any) -> Any:
        return await run(self, principal, ref, key, start + 1, end + 1, as_of)

    patch(ReadText, "run", shifted)


def _first_caller(patch: Patch) -> None:
    from agentic_rag_server.mcp import protocol

    of, known = protocol._caller, list[Any]()

    def remembered(context: Any) -> Any:
        known.append(of(context))
        return known[0]

    patch(protocol, "_caller", remembered)


def _no_moves(patch: Patch) -> None:
    from agentic_rag.ingestion import sync

    async def none(*_: Any) -> dict[str, Any]:
        return {}

    patch(sync, "find_moves", none)


MUTANTS: Mapping[str, Mutant] = {
    "golden": Mutant("a text that was cut does not say so", _no_dots, "golden templates"),
    "budgets": Mutant("tokens are counted by half", _half_the_tokens, "that are exceeded"),
    "beyond-retrieval": Mutant("a context waits", partial(_slow_contexts, seconds=0.1), "p50", is_slow=True),
    "rate": AT_NIGHT("a context waits for 5 s", partial(_slow_contexts, seconds=5.0), "contexts/s"),
    "postgres-away": AT_NIGHT("the database may take a second", _patient, "Postgres frozen: slowest"),
    "tenants-of-tools": Mutant("a process takes every caller for its first one", _first_caller, "another tenant"),
    "sources": Mutant("a file that moved is a new one", _no_moves, "became others"),
    "texts-at-spans": AT_NIGHT("the text begins one character later", _next_character, "another text"),
}
