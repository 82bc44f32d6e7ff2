"""Keys that organisations bring for providers of models."""

from agentic_rag_migrations.script import run_sql

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    run_sql("0013_provider_keys.sql")
