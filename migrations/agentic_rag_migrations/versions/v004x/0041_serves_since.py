"""The schema says which programs it serves, so that two versions run side by side while servers are replaced."""

from agentic_rag_migrations.script import run_sql

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    run_sql("0041_serves_since.sql")
