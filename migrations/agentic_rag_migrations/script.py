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
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname LIKE 'rag\\_%'
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
    succeeds. So the force is lifted, inside the migration's transaction and under its exclusive lock on the table, and
    put back. Errors: `RuntimeError` when the policy still binds or the counts differ; the migration is then undone.
    """
    count = f"SELECT count(*) FROM {table} WHERE {open_rows}"  # noqa: S608 - both come from a migration
    await driver.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    if await driver.fetchval("SELECT row_security_active($1::text)", table):
        raise RuntimeError(f"the policy of {table} still binds this role")
    before = await driver.fetchval(count)
    tag = await driver.execute(statement)
    after = await driver.fetchval(count)
    changed = int(tag.rpartition(" ")[2])
    if changed != before or after:
        raise RuntimeError(f"{before} rows of {table} were to be changed, {changed} were and {after} are left")
    await driver.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    return changed


def _on_driver(work: Callable[[Any], Awaitable[Any]]) -> None:
    adapted = op.get_bind().connection.dbapi_connection
    if adapted is None:
        raise RuntimeError("the migration's connection is closed")
    adapted.run_async(work)
