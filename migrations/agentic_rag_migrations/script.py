"""Runs the SQL file of a revision inside Alembic's transaction."""

from importlib.resources import files

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
    """Execute every statement of `sql/FILE_NAME`, then put new tables behind row level security.

    The driver's simple query protocol takes a whole file; SQLAlchemy would prepare it, which allows one statement.
    """
    sql = files("agentic_rag_migrations").joinpath("sql", file_name).read_text("utf-8")
    adapted = op.get_bind().connection.dbapi_connection
    if adapted is None:
        raise RuntimeError("the migration's connection is closed")
    adapted.run_async(lambda driver: driver.execute(f"{sql}\n{PROTECT}"))
