"""Documents that are gone keep their readers; functions of the owner serve the bound organisation only."""

from agentic_rag_migrations.script import run_sql

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run_sql("0019_walls.sql")
