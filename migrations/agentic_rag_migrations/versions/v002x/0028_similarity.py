"""The head of a corpus tells the measured similarity scale of its space."""

from agentic_rag_migrations.script import run_sql

revision = "0028"
down_revision = "0027"


def upgrade() -> None:
    run_sql("0028_similarity.sql")
