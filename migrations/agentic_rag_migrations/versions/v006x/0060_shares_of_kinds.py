"""Which share of the ceilings on embedding and on chat models is used, for the metrics."""

from agentic_rag_migrations.script import run_sql

revision = "0060"
down_revision = "0059"


def upgrade() -> None:
    run_sql("0060_shares_of_kinds.sql")
