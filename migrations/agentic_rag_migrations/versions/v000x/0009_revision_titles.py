"""The title that a revision's passages were analysed under."""

from agentic_rag_migrations.script import run_sql

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run_sql("0009_revision_titles.sql")
