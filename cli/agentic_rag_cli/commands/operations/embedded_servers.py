"""The embedded servers of a home, as `rag doctor` looks at them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.settings import Settings
from agentic_rag_cli.commands.operations.check import Check, failure, ok

if TYPE_CHECKING:
    from agentic_rag.embedded.server import EmbeddedServer


def postgres_address(settings: Settings, running: ExitStack) -> tuple[str | None, list[Check]]:
    """DATABASE_URL, else what `find_server` says of the embedded Postgres."""
    if settings.stores.database_url:
        return settings.stores.database_url, []
    from agentic_rag.embedded.postgres import EmbeddedPostgres, programs_in_wheel

    return find_server("postgres", programs_in_wheel, EmbeddedPostgres(settings.stores.state_home), running)


def redis_address(settings: Settings, running: ExitStack) -> tuple[str | None, list[Check]]:
    """REDIS_URL, else what `find_server` says of the embedded Redis."""
    if settings.stores.redis_url:
        return settings.stores.redis_url, []
    from agentic_rag.embedded.redis import EmbeddedRedis, find_redis

    return find_server("redis", find_redis, EmbeddedRedis(settings.stores.state_home), running)


def find_server(
    name: str, program: Callable[[], Path], server: EmbeddedServer, running: ExitStack
) -> tuple[str | None, list[Check]]:
    """The address of an embedded server. One that is not running but has data is started until the stack is closed:
    what keeps it from starting, and what its data say, is what one asks a doctor for. Without an address, a check that
    says why.
    """
    try:
        found = program()
    except EmbeddedServerError as error:
        return None, [failure(name, error.code, "the embedded server is not installed", error.message)]
    try:
        return server.attach(), [ok(f"{name} program", str(found))]
    except EmbeddedServerError as error:
        if error.code != "EMBEDDED_NOT_RUNNING":
            return None, [failure(name, error.code, "the embedded server cannot be used", error.message)]
        if server.has_owner:
            remedy = f"Stop that `rag` process and start it again; the server's log is {server.log}."
            detail = "the embedded server does not answer, and the process that started it still runs"
            return None, [failure(name, error.code, detail, remedy)]
    if not server.has_data:
        return None, [ok(f"{name} program", f"{found} (embedded; not running, `rag up` starts it)")]
    try:
        address = running.enter_context(server).url
    except EmbeddedServerError as error:
        return None, [failure(name, error.code, "the embedded server does not start", error.message)]
    return address, [ok(f"{name} program", f"{found} (embedded; was not running, started for this look)")]
