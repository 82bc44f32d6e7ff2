"""Runs the SQL file of a revision inside Alembic's transaction."""

import re
from collections.abc import Awaitable, Callable, Sequence
from importlib.resources import files
from typing import Any

from alembic import op

from agentic_rag_migrations.apply import LOCK_TIMEOUT

# The second wall behind explicit predicates, for every table of a tenant that has none yet. The sub-select makes the
# planner evaluate the setting once per statement, not once per row.
PROTECT = """
DO $$
DECLARE t text;
BEGIN
    FOR t IN
        SELECT c.relname FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname LIKE 'rag\\_%'
          AND NOT c.relforcerowsecurity
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant ON %I USING (org_id = (SELECT rag_current_org())) '
                       'WITH CHECK (org_id = (SELECT rag_current_org()))', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO rag_app', t);
    END LOOP;
END $$;
"""

_SEES_ORGANISATIONS = """
SELECT EXISTS (SELECT FROM pg_policies WHERE tablename = 'rag_organizations' AND policyname = 'owner_reads')
    OR NOT row_security_active('rag_organizations')
"""

CONCURRENT_INDEX = re.compile(r"^CREATE INDEX CONCURRENTLY (\w+) ON (\w+)[^;]*;\n", re.M)
"""An index of a table that may have rows, on columns that it has before the revision."""

WRITERS_TIMEOUT = "60s"
"""How long a concurrent build waits for transactions that began before it; nobody waits for it meanwhile."""

_IS_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)"

_PARTS = "SELECT i.inhrelid::regclass::text AS name FROM pg_inherits i WHERE i.inhparent = to_regclass($1) ORDER BY 1"

_ACT_FOR = "SELECT set_config('rag.org_id', $1, true)"


def run_sql(file_name: str) -> None:
    """Build the concurrent indexes of the file in `sql`, then execute every other statement of it and put new tables
    behind row level security.

    The driver's simple query protocol takes a whole file; SQLAlchemy would prepare it, which allows one statement.
    """
    sql = files("agentic_rag_migrations").joinpath("sql", f"v{file_name[:3]}x", file_name).read_text("utf-8")
    indexes = list(CONCURRENT_INDEX.finditer(sql))
    if indexes:
        # Outside of a transaction, and first: what is broken off leaves the schema of the revision before.
        with op.get_context().autocommit_block():
            _on_driver(lambda driver: build_indexes(driver, indexes))
    _on_driver(lambda driver: driver.execute(f"{CONCURRENT_INDEX.sub('', sql)}\n{PROTECT}"))


async def build_indexes(driver: Any, indexes: Sequence[re.Match[str]]) -> None:
    """Build the indexes of `CONCURRENT_INDEX` while writes go on. One that is there is kept; one that was broken off is
    built anew. That of a table in partitions is built on each of them first, and then takes these for its own.
    """
    await driver.execute(f"SET lock_timeout = '{WRITERS_TIMEOUT}'")
    for statement, name, table in ((one[0], one[1], one[2]) for one in indexes):
        parts = [row["name"] for row in await driver.fetch(_PARTS, table)]
        if not parts:
            await _build_index(driver, name, statement)
        elif not await driver.fetchval(_IS_VALID, name):
            for part in parts:
                of_part = f"{part.rpartition('.')[2]}_{name}"
                on_part = statement.replace(f" {name} ON {table} ", f" {of_part} ON {part} ", 1)
                await _build_index(driver, f"{part}_{name}", on_part)
            # Finds every part built, and keeps writers waiting no longer than other statements of a revision may.
            await driver.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
            await driver.execute(statement.replace(" CONCURRENTLY", "", 1))
            await driver.execute(f"SET lock_timeout = '{WRITERS_TIMEOUT}'")
    await driver.execute("RESET lock_timeout")


async def _build_index(driver: Any, name: str, statement: str) -> None:
    is_valid = await driver.fetchval(_IS_VALID, name)
    if is_valid is False:
        await driver.execute(f"DROP INDEX CONCURRENTLY {name}")
    if not is_valid:
        await driver.execute(statement)


def backfill(table: str, statement: str, *, open_rows: str) -> None:
    """Change rows of every tenant, as `backfill_rows` does."""
    _on_driver(lambda driver: backfill_rows(driver, table, statement, open_rows=open_rows))


async def backfill_rows(driver: Any, table: str, statement: str, *, open_rows: str) -> int:
    """Change rows of every tenant; the number changed. `open_rows` is the condition of those that are still to be
    changed: `statement` must change exactly these and leave none.

    FORCE ROW LEVEL SECURITY hides every row from a migration, which acts for no tenant, and an UPDATE of nothing
    succeeds. So it acts for one organisation after the other: to lift the force would keep readers of the table waiting
    until the end of the revision. Errors: `RuntimeError` when the organisations are hidden or the counts differ; the
    migration is then undone.
    """
    if not await driver.fetchval(_SEES_ORGANISATIONS):
        raise RuntimeError("no policy shows this role the organisations")
    # Policies may let it read more than it may change.
    count = f"SELECT count(*) FROM {table} WHERE org_id = rag_current_org() AND ({open_rows})"  # noqa: S608 - constants
    before = changed = after = 0
    for row in await driver.fetch("SELECT org_id::text AS name FROM rag_organizations ORDER BY org_id"):
        await driver.execute(_ACT_FOR, row["name"])
        before += await driver.fetchval(count)
        tag = await driver.execute(statement)
        changed += int(tag.rpartition(" ")[2])
        after += await driver.fetchval(count)
    await driver.execute(_ACT_FOR, "")
    if changed != before or after:
        raise RuntimeError(f"{before} rows of {table} were to be changed, {changed} were and {after} are left")
    return changed


def _on_driver(work: Callable[[Any], Awaitable[Any]]) -> None:
    """Work on the driver's connection, in the transaction of the revision: SQLAlchemy begins it with its first own
    statement, which would be the one that writes down the revision, after all that the revision does.
    """
    bound = op.get_bind()
    bound.exec_driver_sql("SELECT")
    adapted = bound.connection.dbapi_connection
    if adapted is None:
        raise RuntimeError("the migration's connection is closed")
    adapted.run_async(work)
