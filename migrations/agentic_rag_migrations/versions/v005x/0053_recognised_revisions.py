"""Which pages of a revision were recognised in pictures."""

from agentic_rag_migrations.script import run_sql

revision = "0053"
down_revision = "0052"


def upgrade() -> None:
    run_sql("0053_recognised_revisions.sql")
