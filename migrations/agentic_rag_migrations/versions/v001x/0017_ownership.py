"""Subjects have kinds, documents have writers, and keys that servers made at their start are revoked."""

from agentic_rag_migrations.script import backfill, run_sql

revision = "0017"
down_revision = "0016"

# A name that an API key of the organisation has was most likely the key's. The audit log stays as it was written.
KIND = """
CASE WHEN {column} = 'cli' THEN 'system:cli'
     WHEN EXISTS (SELECT FROM rag_api_keys k WHERE k.org_id = {table}.org_id AND k.subject = {column}) THEN 'key:' || {column}
     ELSE 'user:' || {column} END
"""  # noqa: E501

# Filled with the names of tables and columns below.
WITHOUT_KIND = "{column} !~ '^(user|key|system):'"

SET_KIND = "UPDATE {table} SET {column} = " + KIND + " WHERE " + WITHOUT_KIND  # noqa: S608 - constants

# Whoever could read as a user of that name can read as a key of that name.
WITHOUT_KEYS = """
EXISTS (
    SELECT FROM rag_api_keys k
    WHERE k.org_id = rag_access_sets.org_id AND 'user:' || k.subject = ANY (principals)
      AND NOT 'key:' || k.subject = ANY (principals)
)
"""

ADD_KEYS = f"""
UPDATE rag_access_sets SET principals = (
    SELECT array_agg(p ORDER BY p COLLATE "C") FROM (
        SELECT unnest(principals) AS p
        UNION
        SELECT 'key:' || k.subject FROM rag_api_keys k
        WHERE k.org_id = rag_access_sets.org_id AND 'user:' || k.subject = ANY (principals)
    ) all_of_them
)
WHERE {WITHOUT_KEYS}
"""  # noqa: S608 - constants


# Every start of a server made an operator's key of its token, which stayed when the token was gone.
MADE_AT_START = "name = 'development' AND subject = 'developer' AND role = 'operator' AND revoked_at IS NULL"

REVOKE = f"UPDATE rag_api_keys SET revoked_at = now() WHERE {MADE_AT_START}"  # noqa: S608 - constants


def upgrade() -> None:
    for table, column in (("rag_documents", "uploaded_by"), ("rag_runs", "subject")):
        names = {"table": table, "column": column}
        backfill(table, SET_KIND.format(**names), open_rows=WITHOUT_KIND.format(**names))
    backfill("rag_api_keys", REVOKE, open_rows=MADE_AT_START)
    backfill("rag_access_sets", ADD_KEYS, open_rows=WITHOUT_KEYS)
    # Last: from here to the end nobody reads documents.
    run_sql("0017_ownership.sql")
