"""A chunk is found by its public id."""

from agentic_rag_migrations.script import run_sql

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    run_sql("0026_chunk_ids.sql")
