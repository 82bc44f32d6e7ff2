"""The dispatcher may ask whether any original was stored."""

from agentic_rag_migrations.script import run_sql

revision = "0059"
down_revision = "0058"


def upgrade() -> None:
    run_sql("0059_stored_originals.sql")
