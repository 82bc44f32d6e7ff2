"""What callers say of runs, and the tokens that a judged run took."""

from agentic_rag_migrations.script import run_sql

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    run_sql("0035_feedback.sql")
