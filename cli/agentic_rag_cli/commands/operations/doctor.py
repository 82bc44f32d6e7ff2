"""`rag doctor`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, cast

import typer

from agentic_rag.kernel.error_redaction import redact
from agentic_rag.settings import Settings, SettingsInvalid, hide_secrets
from agentic_rag.settings.addresses import Neo4jAddress
from agentic_rag_cli.commands.operations.check import (
    ANSWER_SECONDS,
    DEGRADED,
    FAILED,
    OK,
    SILENT,
    SKIPPED,
    Check,
    attempt,
    attempt_all,
    attempt_aside,
    failure,
    ok,
)
from agentic_rag_cli.commands.operations.daemon_threads import unheld_runner
from agentic_rag_cli.commands.operations.embedded_servers import postgres_address, redis_address
from agentic_rag_cli.commands.operations.embedder_check import check_embedder, check_model, check_reader
from agentic_rag_cli.commands.operations.redis_check import check_redis
from agentic_rag_cli.commands.operations.store_writes import check_home, try_postgres
from agentic_rag_cli.commands.operations.system_check import check_system
from agentic_rag_cli.commands.operations.up_check import check_port, check_up
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import Wiring, log_unless_cut_off, wiring_of

if TYPE_CHECKING:
    import asyncpg


_SUPPORTED_PYTHON = ((3, 11), (3, 12))
_LEAST_POSTGRES = 16
_LEAST_NEO4J = 5
_CLOCKS_APART = timedelta(seconds=5)
"""A time service keeps machines within a tenth of a second; a busy machine answers later than that."""

_PORT = "See what listens on the port of the server: it takes connections and does not answer."
_DATABASE = (
    "See the server's log and its disk; where `synchronous_standby_names` is set, whether a standby takes the writes."
)
_GRAPH = (
    "See the load and the log of the server of NEO4J_URI, and the network between: answers go on without the graph, "
    "and its jobs go on when it is quick again."
)
_CLOSING_SECONDS = 1.0
_USER, _OWNER = "DATABASE_URL", "AGENTIC_RAG_OWNER_DATABASE_URL"
_INSTEAD = {_USER: "the embedded server", _OWNER: f"the login of {_USER}"}

_VECTOR = """
SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS installed,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS available
"""


async def examine(wiring: Wiring, settings: Settings) -> list[Check]:
    """All checks, in the order in which to fix failures. Leaves no server running, and nothing of what it writes."""
    asyncio.get_running_loop().set_exception_handler(log_unless_cut_off)
    with ExitStack() as running:
        return await _examine(wiring, settings, running)


async def _examine(wiring: Wiring, settings: Settings, running: ExitStack) -> list[Check]:
    skipped = Check("system", SKIPPED, "mend the failed checks first")
    checks = [check_python(), await attempt_aside("home", partial(check_home, settings))]
    if checks[-1].code == SILENT:
        # Models and embedded servers lie there: whoever looks for them hangs too.
        return [*checks, skipped]
    checks.append(await attempt_aside("up", partial(check_up, settings), _PORT, is_excused=True))
    checks.append(await attempt_aside("port", partial(check_port, settings), _PORT, is_excused=True))
    if settings.models.is_local_model:
        checks.append(await attempt_aside("embedder", partial(check_model, settings)))
    else:
        checks.append(await attempt("embedder", partial(check_embedder, settings)))
    if settings.models.embedder != "deterministic":
        checks.append(await attempt_aside("reader", partial(check_reader, settings)))
    if settings.warnings:
        checks.append(check_ignored_settings(settings))
    if settings.models.chat_model:
        from agentic_rag_cli.commands.operations.chat_check import check_chat

        checks.append(await check_chat(settings))
    database_url, found = postgres_address(settings, running)
    checks += found
    if database_url:
        owned = settings.stores.owner_database_url
        checks += await (check_postgres(owned, _OWNER) if owned else check_postgres(database_url))
    if database_url and settings.stores.database_read_url:
        from agentic_rag_cli.commands.operations.replica_check import check_replica

        addresses = _plain(settings.stores.database_read_url), _plain(database_url)
        checks.append(await _unneeded("replica", partial(check_replica, *addresses)))
    redis_url, found = redis_address(settings, running)
    checks += found
    if redis_url:
        checks.append(await attempt("redis", partial(check_redis, redis_url)))
    if settings.stores.neo4j is not None:
        checks.append(await _unneeded("neo4j", partial(check_neo4j, settings.stores.neo4j)))
    reachable = all(
        check.status in (OK, DEGRADED) for check in checks if check.name not in ("port", "python", "home", "up")
    )
    if database_url and redis_url:
        reached = settings.change(stores={"database_url": database_url, "redis_url": redis_url})
        checks += await check_system(wiring, reached) if reachable else [skipped]
    return checks


async def _unneeded(name: str, check: Callable[[], Awaitable[Check]]) -> Check:
    """As `attempt`, of a server without which questions are answered."""
    found = await attempt(name, check)
    return replace(found, status=DEGRADED) if found.status == FAILED else found


def check_python(version: tuple[int, int] = sys.version_info[:2]) -> Check:
    """Python is 3.11 or 3.12."""
    shown = f"{version[0]}.{version[1]}"
    if version in _SUPPORTED_PYTHON:
        return ok("python", shown)
    return failure("python", "PYTHON_UNSUPPORTED", shown, "Install agentic-rag under Python 3.11 or 3.12.")


def check_ignored_settings(settings: Settings) -> Check:
    """Settings of an earlier version, and names near ours, that are ignored."""
    remedy = "Correct or remove them; docs/configuration.md lists every setting and what replaced the removed ones."
    return Check("settings", DEGRADED, " ".join(settings.warnings), "SETTING_REMOVED", remedy)


async def check_postgres(database_url: str, variable: str = _USER) -> list[Check]:
    """Postgres is reachable and new enough; pgvector and schema are present. `variable` has the address."""
    checks = await attempt_all("postgres", partial(_look_into_postgres, database_url, variable))
    if checks[-1].name == "postgres":
        # Nothing else could be asked there.
        return checks
    return [*checks, await attempt("migrations", partial(_migrations, database_url), _DATABASE)]


async def _look_into_postgres(database_url: str, variable: str) -> list[Check]:
    import asyncpg

    try:
        connection = await asyncpg.connect(_plain(database_url), timeout=ANSWER_SECONDS, command_timeout=ANSWER_SECONDS)
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError) as error:
        remedy = f"Correct the user, the password or the database in {variable}."
        return [failure("postgres", "DATABASE_LOGIN_REFUSED", str(error), remedy)]
    except (OSError, TimeoutError, ValueError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        remedy = f"Start the server, correct {variable}, or unset it to use {_INSTEAD[variable]}."
        return [failure("postgres", "DATABASE_UNREACHABLE", str(error) or type(error).__name__, remedy)]
    try:
        return await _look_into(connection, variable)
    except TimeoutError:
        told = f"takes connections, and gives no answer within {ANSWER_SECONDS} s to what is asked on one"
        return [failure("postgres", "TIMEOUT", told, _DATABASE)]
    finally:
        with suppress(OSError, TimeoutError, asyncpg.InterfaceError):
            await connection.close(timeout=_CLOSING_SECONDS)


async def _look_into(connection: asyncpg.Connection, variable: str) -> list[Check]:
    checks = [await try_postgres(connection, variable) or _check_version(connection), await _check_vector(connection)]
    before, there = datetime.now(UTC), await connection.fetchval("SELECT clock_timestamp()")
    return [*checks, judge_clock(before, cast("datetime", there), datetime.now(UTC))]


def judge_clock(before: datetime, there: datetime, after: datetime) -> Check:
    """Whether the clock of the database's machine, read between two looks at this one's, is right by this one."""
    apart = max(before - there, there - after, timedelta())
    if apart < _CLOCKS_APART:
        return ok("clock", "as the database's")
    side = "behind" if there < before else "ahead of"
    return Check(
        "clock",
        DEGRADED,
        f"the database's clock is {apart.total_seconds():.0f} s {side} this machine's",
        "CLOCK_SKEWED",
        "Synchronise the clocks of both machines (chrony, systemd-timesyncd): keys end too early or too late, "
        "and workers that live look dead.",
    )


def _check_version(connection: asyncpg.Connection) -> Check:
    version = connection.get_server_version()
    shown = f"{version.major}.{version.minor}"
    if version.major >= _LEAST_POSTGRES:
        return ok("postgres", shown)
    return failure("postgres", "POSTGRES_TOO_OLD", shown, f"Use Postgres {_LEAST_POSTGRES} or newer.")


async def _check_vector(connection: asyncpg.Connection) -> Check:
    found = await connection.fetchrow(_VECTOR)
    installed, available = (found["installed"], found["available"]) if found else (None, None)
    if installed:
        return ok("pgvector", installed)
    if available:
        return failure("pgvector", "PGVECTOR_MISSING", "not in this database yet", "Run `rag migrate up`.")
    return failure(
        "pgvector",
        "PGVECTOR_MISSING",
        "not on this server",
        "Install it there (Debian: postgresql-NN-pgvector; Docker: image pgvector/pgvector:pgNN).",
    )


async def _migrations(database_url: str) -> Check:
    from agentic_rag_migrations.upgrade import status

    found = await status(database_url)
    if found.pending:
        pending = f"{len(found.pending)} pending: {', '.join(found.pending)}"
        return failure("migrations", "SCHEMA_TOO_OLD", pending, "Run `rag migrate up`.")
    if found.current != found.head:
        return ok("migrations", f"at {found.current}, newer than {found.head} of this version, which it serves")
    return ok("migrations", f"at {found.head}")


async def check_neo4j(address: Neo4jAddress, answer_seconds: float = ANSWER_SECONDS) -> Check:
    """Neo4j is reachable and new enough, and answers a statement. Answers continue without it, flagged, so its absence
    is not a failure.
    """
    import neo4j

    auth = (address.user, address.password) if address.password else None
    try:
        async with neo4j.AsyncGraphDatabase.driver(
            address.uri, auth=auth, connection_timeout=answer_seconds, telemetry_disabled=True
        ) as driver:
            found = str((await asyncio.wait_for(driver.get_server_info(), answer_seconds)).agent)
            try:
                await asyncio.wait_for(driver.execute_query("RETURN 1"), answer_seconds)
            except TimeoutError:
                told = f"takes connections, and gives no answer within {answer_seconds:g} s to what is asked on one"
                return Check("neo4j", DEGRADED, told, "TIMEOUT", _GRAPH)
    except neo4j.exceptions.AuthError as error:
        remedy = "Correct the login in NEO4J_URI (bolt://USER:PASSWORD@HOST)."
        return Check("neo4j", DEGRADED, str(error), "GRAPH_LOGIN_REFUSED", remedy)
    except (OSError, TimeoutError, ValueError, neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError) as error:
        remedy = "Start the server, correct NEO4J_URI, or unset it to keep the graph in Postgres."
        said = str(error).partition("\n")[0].rstrip(": ") or type(error).__name__
        return Check("neo4j", DEGRADED, said, "DEPENDENCY_UNAVAILABLE", remedy)
    version = found.rpartition("/")[2]
    if not version.split(".")[0].isdigit() or int(version.split(".")[0]) < _LEAST_NEO4J:
        return Check("neo4j", DEGRADED, found, "NEO4J_TOO_OLD", f"Use Neo4j {_LEAST_NEO4J}.26 or newer.")
    return ok("neo4j", version)


def _plain(database_url: str) -> str:
    scheme, separator, rest = database_url.partition("://")
    return f"{scheme.partition('+')[0]}{separator}{rest}"


_MARKS = {"ok": "ok  ", "degraded": "warn", "failed": "FAIL", "skipped": "–   "}


def doctor(context: typer.Context, as_json: JsonOption = False) -> None:
    """Check everything this needs and say what to do about what is missing (exit code 4). Writes a probe to each store;
    starts embedded servers that do not run, for as long as it looks.

    Example: rag doctor
    """
    wiring = wiring_of(context)
    try:
        settings = wiring.settings()
    except SettingsInvalid as invalid:
        remedy = "Correct these variables; docs/configuration.md lists every setting."
        checks = [check_python(), failure("settings", invalid.code, "; ".join(invalid.problems), remedy)]
        _tell(checks, as_json=as_json)
    else:
        with unheld_runner() as runner:
            found = runner.run(examine(wiring, settings))
            shown = [replace(one, detail=hide_secrets(settings, one.detail)) for one in found]
            checks = [ok("settings", "valid"), *shown]
            _tell(checks, as_json=as_json)
    if any(check.status == FAILED for check in checks):
        raise typer.Exit(ExitCode.UNAVAILABLE)


def _tell(found: Sequence[Check], *, as_json: bool) -> None:
    checks = [replace(check, detail=redact(check.detail)) for check in found]
    if as_json:
        terminal.result_json([asdict(check) for check in checks])
        return
    for check in checks:
        terminal.result(f"{_MARKS[check.status]}  {check.name:<16} {check.detail}")
        if check.remedy:
            terminal.result(f"      [{check.code}] {check.remedy}")
