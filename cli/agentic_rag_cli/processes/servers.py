"""Postgres and Redis of a command: those of DATABASE_URL and REDIS_URL, else embedded ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from agentic_rag.embedded.postgres import EmbeddedPostgres
from agentic_rag.embedded.redis import EmbeddedRedis
from agentic_rag.embedded.server import EmbeddedServer
from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.settings import Settings


@contextmanager
def open_servers(settings: Settings) -> Iterator[tuple[Settings, Sequence[EmbeddedServer]]]:
    """Settings whose DATABASE_URL and REDIS_URL name running servers until the block ends, and the embedded ones.

    A running embedded server (`rag up`) is used. Otherwise one is started, and stopped at the end. Errors:
    `EmbeddedServerError`.
    """
    home = settings.stores.state_home
    with ExitStack() as running:
        if not settings.stores.database_url and not settings.stores.redis_url:
            stack = running.enter_context(EmbeddedStack(home))
            urls = {"database_url": stack.database_url, "redis_url": stack.redis_url}
            yield settings.change(stores=urls), (stack.postgres, stack.redis)
        elif not settings.stores.database_url:
            postgres = running.enter_context(EmbeddedPostgres(home))
            yield settings.change(stores={"database_url": postgres.url}), (postgres,)
        elif not settings.stores.redis_url:
            redis = running.enter_context(EmbeddedRedis(home))
            yield settings.change(stores={"redis_url": redis.url}), (redis,)
        else:
            yield settings, ()


@contextmanager
def reachable(settings: Settings, *, makes_schema: bool = True) -> Iterator[Settings]:
    """`open_servers`. An empty embedded database gets its schema, unless only its state is asked for; any other is left
    at its own. Errors: `EmbeddedServerError`, those of the migrations.
    """
    with open_servers(settings) as (ready, embedded):
        if makes_schema and any(isinstance(one, EmbeddedPostgres) and one.is_owner for one in embedded):
            asyncio.run(_make_schema(ready))
        yield ready


def has_database(settings: Settings) -> bool:
    """Whether there is one to look at: that of DATABASE_URL, or an embedded one that ran before."""
    return bool(settings.stores.database_url) or EmbeddedPostgres(settings.stores.state_home).has_data


async def migrate(settings: Settings) -> list[str]:
    """Migrate the database to the newest schema; returns the applied revisions."""
    from agentic_rag_migrations.upgrade import upgrade

    return await upgrade(settings.stores.migrating_url)


async def _make_schema(settings: Settings) -> None:
    from agentic_rag_migrations.upgrade import status

    if (await status(settings.stores.migrating_url)).current is None:
        await migrate(settings)


def child_variables(settings: Settings, **more: str) -> Mapping[str, str]:
    """Environment variables that give a child process the same servers, state and embedder."""
    return {
        "DATABASE_URL": settings.stores.database_url,
        "REDIS_URL": settings.stores.redis_url,
        "AGENTIC_RAG_HOME": str(settings.stores.state_home),
        "RAG_EMBEDDER": settings.models.embedder,
        **more,
    }
