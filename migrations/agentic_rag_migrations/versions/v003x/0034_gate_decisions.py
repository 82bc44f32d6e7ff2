"""What the gate decided about each run after its answer."""

from agentic_rag_migrations.script import run_sql

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    run_sql("0034_gate_decisions.sql")
