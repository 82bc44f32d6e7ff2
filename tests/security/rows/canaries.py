"""Rows on many tenants at once: no word of one is seen by another, also without the application's own predicates."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping

from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.operations.leak_canaries import CanaryReport
from tests.bench.reports import Row, exactly
from tests.chaos.ground import Ground as Plane
from tests.chaos.ground import until
from tests.security import mutant
from tests.security.canary_requests import find_own, send_many
from tests.security.canary_world import CANARY, POOL, PRODUCT, CanaryWorld, canary_world, home_of
from tests.security.ground import Ground
from tests.security.table import Measure

TENANTS, SHORT_TENANTS = 20, 4
REQUESTS, SHORT_REQUESTS = 10_000, 150
WITHOUT_POLICIES_REQUESTS = 400
MUTANT = "tests.security.mutant"

SESSIONS = """
SELECT count(*) AS open, count(*) FILTER (WHERE state <> 'idle') AS busy
FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'agentic-rag' AND pid <> pg_backend_pid()
"""


async def tenant_canaries(ground: Ground, short: bool) -> list[Row]:
    """The product as it is."""
    tenants, requests = _sizes(short)
    async with canary_world(ground, tenants) as world:
        rows = await _attacked(world, requests)
        leaks = _metric(await world.metrics(), "rag_tenant_leaks_total")
        attack = await world.plane.container.leak_canaries.run()
    return [
        *rows,
        exactly("rag_tenant_leaks_total of server and worker", leaks, 0),
        Row(
            f"self-attack of {attack.organisations} organisations, {attack.checks} checks",
            _held(attack),
            "holds",
            attack.is_clean,
        ),
    ]


def _held(attack: CanaryReport) -> str:
    return (
        "holds" if attack.is_clean else f"{len(attack.leaks)} leaks, {len(attack.blind)} blind, {attack.failed} failed"
    )


async def tenant_canaries_mutant(ground: Ground, short: bool) -> list[Row]:
    """The product without its own tenant predicates; then, where nothing is left, the proof that leaks are seen."""
    tenants, requests = _sizes(short)
    async with canary_world(ground, tenants, program=MUTANT, prepared=_without_predicates) as world:
        rows = await _attacked(world, requests)
        stopped = _metric(await world.metrics(), "rag_tenant_leaks_total")
        notes = {
            note.original: note
            for command in ("worker", "serve")
            for note in mutant.read_notes(home_of(world, command))
        }
        unbound = await _replayed(world, list(notes.values()), role=None)
        bound = await _replayed(world, list(notes.values()), role="rag_app")
    rows += [
        Row("statements without their tenant predicates", str(len(notes)), "≥ 40", len(notes) >= 40),
        Row("of these, with words of others for a role without policies", str(unbound), "> 0", unbound > 0),
        exactly("the same for the application's role", bound, 0),
        Row("foreign values stopped behind caches without tenants", str(stopped), "> 0", stopped > 0),
    ]
    return rows if short else [*rows, await _seen_without_policies(ground)]


async def _seen_without_policies(ground: Ground) -> Row:
    """The harness itself: with the policies gone as well it must find leaks."""
    world_of = canary_world(
        ground,
        SHORT_TENANTS,
        program=MUTANT,
        # Writing mixes tenants up where nothing is left, and is refused by foreign keys: only reading is tried.
        filled_by=PRODUCT,
        prepared=_without_predicates,
        **{mutant.WITHOUT_POLICIES: "1"},
    )
    async with world_of as world:
        seen = await send_many(world, WITHOUT_POLICIES_REQUESTS, seed=3)
    found = len(seen.foreign)
    return Row("foreign words seen where policies are gone as well", str(found), "> 0", found > 0)


def _sizes(short: bool) -> tuple[int, int]:
    return (SHORT_TENANTS, SHORT_REQUESTS) if short else (TENANTS, REQUESTS)


async def _attacked(world: CanaryWorld, requests: int) -> list[Row]:
    """Send, then search everything that was answered or written."""
    began = time.monotonic()
    seen = await send_many(world, requests, seed=1)
    seconds = time.monotonic() - began
    found = await find_own(world)
    sessions = await _sessions(world)
    await until(lambda: _exported(world), "spans are exported", 20.0, 0.05)
    places = {
        "logs": world.logs(),
        "metrics": await world.metrics(),
        "exports": world.spans.text(),
    }
    for line in (*seen.foreign[:20], *seen.faults[:5]):
        print(f"  {line}")
    print(f"  {seen.sent} sent in {seconds:.0f} s, {dict(seen.statuses)}, {dict(seen.kinds)}")
    count = len(world.tenants)
    name = f"{count} tenants, {seen.sent} requests, {seen.cancelled} cancelled"
    return [
        exactly(f"{name}: foreign words in answers, citations, debug, errors, headers", len(seen.foreign), 0),
        *(exactly(f"words of tenants in {place}", len(CANARY.findall(text)), 0) for place, text in places.items()),
        Row("places searched hold something", str(sum(map(bool, places.values()))), "3", all(places.values())),
        exactly("answers of 500 and over but refusals", len(seen.faults), 0),
        Row("refusals with Retry-After", str(seen.refused), "0", not seen.refused, timed=True),
        exactly("operations that did not fit the schema", seen.invalid, 0),
        Row("own words seen meanwhile", str(seen.own), f"≥ {requests // 5}", seen.own >= requests // 5),
        exactly("tenants that find their own word afterwards", found, count),
        Row("requests that were cancelled", str(seen.cancelled), "> 0", seen.cancelled > 0),
        Row(
            "connections of the pools afterwards, none in a transaction", sessions, f"≤ {2 * POOL + 2}", _idle(sessions)
        ),
    ]


async def _exported(world: CanaryWorld) -> bool:
    return len(world.spans.spans) > len(world.tenants)


async def _sessions(world: CanaryWorld) -> str:
    """Connections of the application's pools, once nothing runs any more."""
    shown = ""

    async def idle() -> bool:
        nonlocal shown
        [row] = await world.plane.rows(SESSIONS)
        shown = f"{row['open']}, {row['busy']} busy"
        return row["busy"] == 0

    with contextlib.suppress(AssertionError):  # the row shows what is not idle
        await until(idle, "connections are idle", 15.0, 0.1)
    return shown


def _idle(sessions: str) -> bool:
    """Server and worker have a pool each; the worker's heartbeat and this process have a connection more."""
    opened, busy = sessions.split(", ")
    return busy == "0 busy" and int(opened) <= 2 * POOL + 2


def _metric(text: str, name: str) -> int:
    values = [line.split()[-1] for line in text.splitlines() if line.startswith(f"{name} ")]
    assert values, f"{name} is not exported"
    return round(sum(map(float, values)))


async def _without_predicates(plane: Plane) -> None:
    """The functions that the application asks as the owner lose their predicates too."""
    async with plane.connection() as connection:
        for name in mutant.MUTATED_FUNCTIONS:
            definition = await connection.fetchval(
                "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = $1", name
            )
            changed = mutant.function_without_tenant(definition)
            assert changed != definition, f"{name} has no predicate that could be removed"
            await connection.execute(changed)


async def _replayed(world: CanaryWorld, notes: list[mutant.Note], role: str | None) -> int:
    """How many changed statements that only read bring a word of more than one tenant, run as that role with the
    arguments they had, in a transaction of the first tenant.
    """
    org_id = await world.plane.value("SELECT org_id FROM rag_organizations WHERE name = 'tenant 0'")
    pool = PostgresPool(world.plane.database_url, PoolOptions(role=role, max_size=1))
    leaking = 0
    try:
        for note in notes:
            try:
                async with pool.snapshot(org_id) as connection:
                    found = repr([dict(row) for row in await connection.fetch(note.mutated, *note.arguments)])
            except AgenticRagError:
                continue  # it writes, or stands on a table that only its transaction has
            leaking += any(word != world.tenants[0].canary for word in CANARY.findall(found))
    finally:
        await pool.aclose()
    return leaking


ROWS: Mapping[str, Measure] = {"tenant-canaries": tenant_canaries, "tenant-canaries-mutant": tenant_canaries_mutant}
