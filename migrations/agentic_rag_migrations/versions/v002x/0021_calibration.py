"""Calibrations of abstention: what they measured, thresholds by kind of question, and when the next is due."""

from agentic_rag_migrations.script import run_sql

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run_sql("0021_calibration.sql")
