"""How many restricted versions there are up to each, so that nobody counts them all to know what a caller is shown."""

from agentic_rag_migrations.script import run_sql

revision = "0047"
down_revision = "0046"


def upgrade() -> None:
    run_sql("0047_restricted_counts.sql")
