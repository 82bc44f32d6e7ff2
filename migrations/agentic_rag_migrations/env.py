"""Alembic's entry: runs the scripts on the connection that `upgrade` hands over, and never makes one itself. Each is a
transaction of its own, so that the locks of one do not last until the end of all.
"""

from alembic import context

VERSION_TABLE = "rag_schema_version"

context.configure(
    connection=context.config.attributes["connection"], version_table=VERSION_TABLE, transaction_per_migration=True
)
with context.begin_transaction():
    context.run_migrations()
