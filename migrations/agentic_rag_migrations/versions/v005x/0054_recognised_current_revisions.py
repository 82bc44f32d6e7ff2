"""Which pages of the revisions that are there were recognised in pictures."""

from agentic_rag_migrations.script import run_sql

revision = "0054"
down_revision = "0053"


def upgrade() -> None:
    run_sql("0054_recognised_current_revisions.sql")
