"""The head of a corpus tells whether its organisation and its workspace allow the web."""

from agentic_rag_migrations.script import run_sql

revision = "0032"
down_revision = "0031"


def upgrade() -> None:
    run_sql("0032_web_access.sql")
