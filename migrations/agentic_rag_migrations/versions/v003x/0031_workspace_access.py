"""A workspace may be for named readers and writers."""

from agentic_rag_migrations.script import run_sql

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    run_sql("0031_workspace_access.sql")
