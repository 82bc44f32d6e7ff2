"""Runs the SQL file of a revision inside Alembic's transaction."""

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from alembic import op

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

_ACT_FOR = "SELECT set_config('rag.org_id', $1, true)"


def run_sql(file_name: str) -> None:
    """Execute every statement of the file in `sql`, then put new tables behind row level security.

    The driver's simple query protocol takes a whole file; SQLAlchemy would prepare it, which allows one statement.
    """
    sql = files("agentic_rag_migrations").joinpath("sql", f"v{file_name[:3]}x", file_name).read_text("utf-8")
    _on_driver(lambda driver: driver.execute(f"{sql}\n{PROTECT}"))


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
