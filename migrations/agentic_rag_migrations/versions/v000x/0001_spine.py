"""The spine: tenants, documents, chunks, vectors, postings, entities, jobs, runs, cache."""

from agentic_rag_migrations.script import run_sql

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_sql("0001_spine.sql")
