"""Jobs and documents of a workspace are found by when they changed."""

from agentic_rag_migrations.script import run_sql

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    run_sql("0039_changes.sql")
