"""A login as production demands it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg


@asynccontextmanager
async def modest_login(superuser_url: str) -> AsyncIterator[str]:
    """The address of the database for a login of its own that may not become the owner of the tables."""
    name, password = f"login_{uuid4().hex[:8]}", uuid4().hex
    server = await asyncpg.connect(superuser_url)
    try:
        await server.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        await server.execute(f"GRANT rag_app, rag_dispatcher TO {name} WITH INHERIT FALSE, SET TRUE")
        host = urlsplit(superuser_url).netloc.rpartition("@")[2]
        try:
            yield urlunsplit(urlsplit(superuser_url)._replace(netloc=f"{name}:{password}@{host}"))
        finally:
            await server.execute(f"DROP OWNED BY {name}; DROP ROLE {name}")
    finally:
        await server.close()
