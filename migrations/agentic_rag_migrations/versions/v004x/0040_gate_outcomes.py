"""What came of runs that looked outside, implicit feedback, and plans that the gate put to rest."""

from agentic_rag_migrations.script import run_sql

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    run_sql("0040_gate_outcomes.sql")
