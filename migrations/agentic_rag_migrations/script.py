"""Runs the SQL file of a revision inside Alembic's transaction."""

from importlib.resources import files

from alembic import op


def run_sql(file_name: str) -> None:
    """Execute every statement of `sql/FILE_NAME`.

    The driver's simple query protocol takes a whole file; SQLAlchemy would prepare it, which allows one statement.
    """
    sql = files("agentic_rag_migrations").joinpath("sql", file_name).read_text("utf-8")
    adapted = op.get_bind().connection.dbapi_connection
    if adapted is None:
        raise RuntimeError("the migration's connection is closed")
    adapted.run_async(lambda driver: driver.execute(sql))
