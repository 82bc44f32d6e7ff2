"""Alembic's entry: runs the scripts on the connection that `upgrade` hands over, and never makes one itself."""

from alembic import context

VERSION_TABLE = "rag_schema_version"

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
with context.begin_transaction():
    context.run_migrations()
