"""Where the original bytes of documents are, and uploads by idempotency key."""

from agentic_rag_migrations.script import run_sql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run_sql("0003_originals.sql")
