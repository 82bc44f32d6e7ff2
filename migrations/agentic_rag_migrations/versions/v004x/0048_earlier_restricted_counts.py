"""The counts of the restricted versions that are there, in a transaction of its own: no reader waits for it."""

from agentic_rag_migrations.script import run_sql

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    run_sql("0048_earlier_restricted_counts.sql")
