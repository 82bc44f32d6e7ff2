"""Questions that are asked again after each publish, and when they are due."""

from agentic_rag_migrations.script import run_sql

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    run_sql("0049_saved_questions.sql")
