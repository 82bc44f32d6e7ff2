"""When the pages that the web brought to a workspace are asked for again."""

from agentic_rag_migrations.script import run_sql

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    run_sql("0050_recrawls.sql")
