"""Long texts in pieces too, so that a span at the end of one is read as cheaply as at its beginning."""

from agentic_rag_migrations.script import run_sql

revision = "0043"
down_revision = "0042"


def upgrade() -> None:
    run_sql("0043_text_pieces.sql")
