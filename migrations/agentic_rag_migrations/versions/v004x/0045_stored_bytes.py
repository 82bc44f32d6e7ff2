"""How much an organisation stores, known without reading its originals."""

from agentic_rag_migrations.script import run_sql

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    run_sql("0045_stored_bytes.sql")
