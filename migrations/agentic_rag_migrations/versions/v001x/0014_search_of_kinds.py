"""How a workspace is searched is read with its version."""

from agentic_rag_migrations.script import run_sql

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    run_sql("0014_search_of_kinds.sql")
