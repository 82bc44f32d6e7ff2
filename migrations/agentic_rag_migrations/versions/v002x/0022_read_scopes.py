"""Access sets are read once, and newer ones after."""

from agentic_rag_migrations.script import run_sql

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    run_sql("0022_read_scopes.sql")
