"""Moves a table of tenants into hash partitions by workspace, into another number of them, or back into one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_migrations.apply import LOCK_TIMEOUT
from agentic_rag_migrations.table_facts import (
    PARTNERS,
    SCHEMA,
    TableFacts,
    View,
    on_part,
    read_facts,
    workspace_of,
)

COLUMNS = """
SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
WHERE attrelid = to_regclass('public.' || $1::text) AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
"""

PARTS = """
SELECT count(*) FROM pg_inherits i WHERE i.inhparent = to_regclass('public.' || $1::text)
"""

LEAVES = """
SELECT c.oid::regclass::text AS name,
       (regexp_match(pg_get_expr(c.relpartbound, c.oid), 'remainder (\\d+)'))[1]::integer AS remainder
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = to_regclass('public.' || $1::text)
ORDER BY remainder
"""

HOLDS = "SELECT satisfies_hash_partition(to_regclass('public.' || $1::text), $2, $3, $4::uuid)"

GRANTED = """
SELECT DISTINCT CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END AS name
FROM pg_class c, LATERAL aclexplode(c.relacl) a WHERE c.oid = to_regclass($1) AND a.grantee <> c.relowner
"""

OTHERS = """
SELECT EXISTS (
    SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'virtualxid' AND l.granted AND a.datname = current_database() AND a.usesysid IS NOT NULL
      AND a.pid <> pg_backend_pid()
)
"""
"""Transactions of others in this database, but for vacuum."""

SETTINGS = """
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL lock_timeout = '3s';
SET LOCAL maintenance_work_mem = '256MB';
SET LOCAL max_parallel_maintenance_workers = 0;
SET LOCAL row_security = off
"""
"""Where a policy would hide rows, the statement fails. The table alone is waited for longer than a `deadlock_timeout`,
after which Postgres ends its autovacuum: this transaction holds nothing yet for which a reader waits.
"""

Say = Callable[[str], None]
"""Hears what is done next."""


class StillRead(Exception):
    """Somebody reads at an instant before the move, at which a table that is written anew has no row."""


@dataclass(frozen=True, slots=True)
class Rows:
    """What went over."""

    rows: int
    before: int
    """Partitions that the table had; 0: none, it was whole."""


async def move(connection: Any, table: str, parts: int, say: Say) -> Rows:
    """Inside a transaction as the owner of the table, with nobody else at it: lay the rows of a table of `public` in
    `parts` partitions, in none for 0. All else that the catalogue says of the table is as before. Errors:
    `Misconfigured` code TABLE_NOT_MOVABLE, `StillRead`, those of the driver; the transaction must then be rolled back.
    """
    await connection.execute(SETTINGS)
    partners = await connection.fetch(PARTNERS, table)
    await connection.execute(f"LOCK TABLE public.{table}")
    await connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
    if partners:
        await connection.execute("LOCK TABLE " + ", ".join(one["name"] for one in partners))
    if await connection.fetchval(OTHERS):
        raise StillRead
    before: int = await connection.fetchval(PARTS, table)
    facts = await read_facts(connection, table)
    # The owner acts for no tenant: it sees rows, to copy them and to check references, only where no policy is forced.
    forced = [f"public.{table}", *(one["name"] for one in partners if one["is_forced"])]
    await _bind_owner(connection, forced, "NO FORCE")
    # Before the rows: whoever reads a view holds it while he waits for its table, so that all would be copied in vain.
    for view in reversed(facts.views):
        await connection.execute(f"DROP VIEW {view.name}")
    say(f"{table}: rows")
    rows = await _fill(connection, table, parts, facts)
    await _put_in_place(connection, table, facts)
    say(f"{table}: indexes")
    await _make(connection, table, parts, facts)
    say(f"{table}: references")
    for statement in facts.statements("reference", "trigger", "policy", "policies hold", "comment"):
        await connection.execute(statement)
    await _grant(connection, table, facts)
    await _bind_owner(connection, [name for name in forced if name != f"public.{table}"], "FORCE")
    await _close_parts(connection, table)
    say(f"{table}: comparison")
    changed = facts.differences(await read_facts(connection, table))
    if changed:
        raise not_movable(table, "; ".join(changed))
    await connection.execute(f"ANALYZE public.{table}")
    return Rows(rows, before)


def not_movable(table: str, why: str) -> Misconfigured:
    """The error for a table that has what this command does not know how to take along."""
    return Misconfigured(
        f"{table} stays as it is, since not all that belongs to it could be kept: {why}. Remove what is not of the "
        "product (a view, a rule, a publication of your own), partition, and make it again.",
        code="TABLE_NOT_MOVABLE",
    )


async def _bind_owner(connection: Any, tables: list[str], how: str) -> None:
    for name in tables:
        await connection.execute(f"ALTER TABLE {name} {how} ROW LEVEL SECURITY")


async def _fill(connection: Any, table: str, parts: int, facts: TableFacts) -> int:
    """Write the rows into a new table beside the old one."""
    new = f"{SCHEMA}.{table}"
    options = f" WITH ({', '.join(facts.storage)})" if facts.storage else ""
    like = f"CREATE TABLE {new} (LIKE public.{table} INCLUDING ALL EXCLUDING INDEXES EXCLUDING STATISTICS)"
    if parts:
        await connection.execute(f"{like} PARTITION BY HASH (workspace_id)")
        for number in range(parts):
            await connection.execute(
                f"CREATE TABLE {new}_{number:03}_of_{parts:03} PARTITION OF {new} "
                f"FOR VALUES WITH (MODULUS {parts}, REMAINDER {number}){options}"
            )
    else:
        await connection.execute(f"{like}{options}")
    columns = await connection.fetchval(COLUMNS, table)
    status = await connection.execute(
        f"INSERT INTO {new} ({columns}) SELECT {columns} FROM public.{table}"  # noqa: S608 - names of the catalogue
    )
    rows = int(status.rpartition(" ")[2])
    for name in (f"public.{table}", new):
        found = await connection.fetchval(f"SELECT count(*) FROM {name}")  # noqa: S608 - the same
        if found != rows:
            raise not_movable(table, f"{name} has {found} rows, {rows} were copied")
    return rows


async def _put_in_place(connection: Any, table: str, facts: TableFacts) -> None:
    """The new table takes the place of the old one, which goes with all that belongs to it."""
    for statement in facts.statements("reference"):
        owner, _, rest = statement.removeprefix("ALTER TABLE ").partition(" ADD CONSTRAINT ")
        if owner != table:
            name = rest.partition(" FOREIGN KEY ")[0]
            await connection.execute(f"ALTER TABLE {owner} DROP CONSTRAINT {name}")
    # Without CASCADE: what depends on the table and is not known here stops the move.
    await connection.execute(f"DROP TABLE public.{table}")
    await connection.execute(f"ALTER TABLE {SCHEMA}.{table} SET SCHEMA public")


async def _make(connection: Any, table: str, parts: int, facts: TableFacts) -> None:
    for statement in facts.statements("statistics", "column options", "key"):
        await connection.execute(statement)
    for statement in facts.statements("index"):
        workspace = workspace_of(statement)
        if workspace is None or not parts:
            await connection.execute(statement)
        else:
            part = await part_of(connection, table, parts, workspace)
            await connection.execute(on_part(statement, part))
    for statement in facts.statements("statistics object"):
        await connection.execute(statement)


async def part_of(connection: Any, table: str, parts: int, workspace: str) -> str:
    """The partition in which a workspace lies."""
    for leaf in await connection.fetch(LEAVES, table):
        if await connection.fetchval(HOLDS, table, parts, leaf["remainder"], workspace):
            return leaf["name"]
    raise not_movable(table, f"no partition holds workspace {workspace}")


async def _grant(connection: Any, table: str, facts: TableFacts) -> None:
    """The rights of before, and none of ALTER DEFAULT PRIVILEGES."""
    await _revoke(connection, f"public.{table}")
    for statement in facts.statements("grants"):
        await connection.execute(statement)
    for view in facts.views:
        await _make_view(connection, view)


async def _make_view(connection: Any, view: View) -> None:
    made, *others = view.statements
    await connection.execute(made)
    await _revoke(connection, view.name)
    for statement in others:
        await connection.execute(statement)


async def _revoke(connection: Any, name: str) -> None:
    for row in await connection.fetch(GRANTED, name):
        await connection.execute(f"REVOKE ALL ON {name} FROM {row['name']}")


async def _close_parts(connection: Any, table: str) -> None:
    """Nobody reads or writes a part by its own name: it has no policy and no grant. Through its table, the policies and
    grants of the table count.
    """
    for leaf in await connection.fetch(LEAVES, table):
        await _revoke(connection, leaf["name"])
        for how in ("ENABLE", "FORCE"):
            await connection.execute(f"ALTER TABLE {leaf['name']} {how} ROW LEVEL SECURITY")
