"""The support below which a workspace abstains."""

from agentic_rag_migrations.script import run_sql

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    run_sql("0010_support.sql")
