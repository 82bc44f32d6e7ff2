"""A guard of the whole suite: no model, search engine or web page is asked by whoever holds a transaction. A provider
that takes its time would keep locks, a snapshot and a connection for as long.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.onnx.embedder import OnnxEmbedder
from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.embedder import OpenAIEmbedder
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.web.engine_client import EngineClient
from agentic_rag.adapters.web.fetcher import GuardedFetcher


class ProviderAskedInTransaction(RuntimeError):
    """A model or the web was asked inside a transaction. No product error on purpose: nothing may swallow it."""


@dataclass(slots=True)
class _Transaction:
    """Open until its block ends, in whichever task that is."""

    is_open: bool = True


_HELD: ContextVar[tuple[_Transaction, ...]] = ContextVar("held transactions", default=())


@contextmanager
def hold_transaction() -> Iterator[None]:
    """Say that the current task, and those that it starts meanwhile, hold a transaction."""
    opened = _Transaction()
    _HELD.set((*(one for one in _HELD.get() if one.is_open), opened))
    try:
        yield
    finally:
        opened.is_open = False


def is_in_transaction() -> bool:
    """Whether the calling task has a transaction or a snapshot open: it must call nobody who may be slow."""
    return any(one.is_open for one in _HELD.get())


def install() -> None:
    """Switch the guard on; it stays."""
    for name in ("transaction", "snapshot"):
        setattr(PostgresPool, name, _hold_during(getattr(PostgresPool, name)))
    for model, names in (
        (DeterministicEmbedder, ("embed",)),
        (OnnxEmbedder, ("embed",)),
        (OpenAIEmbedder, ("embed", "embed_with_usage")),
        (OpenAIChatModel, ("complete",)),
        (EngineClient, ("ask",)),
        (GuardedFetcher, ("fetch", "fetch_if_new")),
    ):
        for name in names:
            setattr(model, name, _refuse_during(getattr(model, name)))


def _hold_during(opening: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(opening)
    @asynccontextmanager
    async def opened(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
        async with opening(*arguments, **options) as connection:
            with hold_transaction():
                yield connection

    return opened


def _refuse_during(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    async def refused(*arguments: Any, **options: Any) -> Any:
        if is_in_transaction():
            raise ProviderAskedInTransaction(f"{call.__qualname__} was called inside an open transaction")
        return await call(*arguments, **options)

    return refused
