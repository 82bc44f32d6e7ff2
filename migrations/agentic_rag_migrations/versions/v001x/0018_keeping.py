"""How long a workspace keeps runs, finished jobs, usage and audit; indexes for what is expired, counted and cited."""

from agentic_rag_migrations.script import run_sql

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    run_sql("0018_keeping.sql")
