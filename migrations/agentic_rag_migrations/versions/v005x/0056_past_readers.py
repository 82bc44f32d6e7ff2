"""Who may read text of a document that is no longer kept, for backups and snapshots that have it."""

from agentic_rag_migrations.script import run_sql

revision = "0056"
down_revision = "0055"


def upgrade() -> None:
    run_sql("0056_past_readers.sql")
