"""Who may read a document."""

from agentic_rag_migrations.script import run_sql

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    run_sql("0012_access.sql")
