"""What is said of a document beside its text."""

from agentic_rag_migrations.script import run_sql

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    run_sql("0023_document_metadata.sql")
