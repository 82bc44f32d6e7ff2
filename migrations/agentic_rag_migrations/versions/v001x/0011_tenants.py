"""Organisations with feature flags, and API keys with scopes."""

from agentic_rag_migrations.script import backfill, run_sql

revision = "0011"
down_revision = "0010"

WITHOUT_FLAG = "NOT settings @? '$.flags.ragGuidelines'"

# Spelt out, so that a default which changes one day changes nothing for those who were here before.
SET_FLAG = """
UPDATE rag_organizations
SET settings = settings || jsonb_build_object('flags', coalesce(settings->'flags', '{}') || '{"ragGuidelines": false}')
WHERE NOT settings @? '$.flags.ragGuidelines'
"""


def upgrade() -> None:
    run_sql("0011_tenants.sql")
    backfill("rag_organizations", SET_FLAG, open_rows=WITHOUT_FLAG)
