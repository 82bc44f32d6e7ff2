"""Pieces of the long texts that are there, in a transaction of its own: it holds no lock that writers wait for."""

from agentic_rag_migrations.script import run_sql

revision = "0044"
down_revision = "0043"


def upgrade() -> None:
    run_sql("0044_pieces_of_older_texts.sql")
