"""Searches and pages of the web are counted in the table of usage."""

from agentic_rag_migrations.script import run_sql

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    run_sql("0036_web_usage.sql")
