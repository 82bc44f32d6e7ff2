"""Ids of documents follow from a secret of their organisation too."""

from agentic_rag_migrations.script import run_sql

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    run_sql("0029_document_keys.sql")
