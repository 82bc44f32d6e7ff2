"""A segment says by which rules its terms were made."""

from agentic_rag_migrations.script import run_sql

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    run_sql("0030_terms.sql")
