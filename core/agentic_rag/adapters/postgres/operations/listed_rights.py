"""The rights that a database knows, of all organisations: what a restore of an earlier state must not exceed."""

# asyncpg ships no types.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import fields
from typing import Any, TypeVar

import msgspec
import orjson

from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.operations.backups.rights import (
    LISTED_DOCUMENTS,
    KeptDays,
    Listed,
    ListedOrganisation,
    ListedRights,
    ListedWorkspace,
)
from agentic_rag.workspaces.rate_limits import RateLimits

T = TypeVar("T", SpendingLimits, RateLimits, KeptDays)

KEPT_DAYS = [one.name for one in fields(KeptDays)]

RIGHTS_SINCE = "0031"
"""The schema that has all of these rights."""

PAST_SINCE = "0056"
"""The schema that remembers who read text that is no longer kept."""

SAVED_SINCE = "0049"
"""The schema that has saved questions."""

_BATCH = 100

ORGANISATIONS = """
SELECT o.org_id, now() AS read_at,
       ARRAY (SELECT key FROM jsonb_each_text(o.settings -> 'flags') WHERE value = 'true' ORDER BY key) AS flags,
       ARRAY (SELECT k.provider FROM rag_provider_keys k WHERE k.org_id = o.org_id ORDER BY k.provider) AS providers,
       ARRAY (SELECT k.updated_at FROM rag_provider_keys k WHERE k.org_id = o.org_id ORDER BY k.provider) AS set_at,
       (o.settings -> 'budget')::text AS budget, (o.settings -> 'rates')::text AS rates
FROM rag_organizations o
"""

WORKSPACES = """
SELECT w.org_id, w.workspace_id, now() AS read_at, w.readers, w.writers,
       coalesce((w.settings -> 'web' ->> 'allow')::boolean, false) AS allows_web,
       ARRAY (
           SELECT s.source_id FROM rag_sources s
           WHERE s.org_id = w.org_id AND s.workspace_id = w.workspace_id AND NOT s.is_leaving
       ) AS sources,
       (w.settings -> 'budget')::text AS budget,
       (SELECT jsonb_object_agg(key, value) FROM jsonb_each(w.settings) WHERE key = ANY ($1))::text AS days
FROM rag_workspaces w
"""

SAVED = "SELECT workspace_id, array_agg(saved_id) FROM rag_saved_questions GROUP BY workspace_id"

# The set of a document comes first, then those of passages that only older versions hold or held. A set that is not
# known any more, of a document that was erased before schema 0019, has no readers to tell.
DOCUMENTS = f"""
WITH older AS (
    SELECT org_id, workspace_id, document_id, array_agg(DISTINCT access_id ORDER BY access_id) AS sets
    FROM rag_chunks WHERE visible_to IS NOT NULL
    GROUP BY org_id, workspace_id, document_id
), documents AS (
    SELECT d.*, array_remove(array_remove(coalesce(o.sets, '{{}}') || {{past}}, NULL), d.access_id) AS older
    FROM rag_documents d LEFT JOIN older o USING (org_id, workspace_id, document_id)
), known AS (
    SELECT org_id, workspace_id, document_id, access_id, older, writers, uploaded_by,
           CASE WHEN older <> '{{}}' THEN revision_id END AS revision_id
    FROM documents
    UNION ALL
    SELECT org_id, workspace_id, document_id, access_id, '{{}}', '{{}}', NULL, NULL
    FROM rag_tombstones WHERE access_id IS NOT NULL
), parts AS (
    SELECT org_id, workspace_id, access_id, older, writers, uploaded_by, revision_id,
           array_agg(document_id) AS documents
    FROM (
        SELECT *, row_number() OVER (
            PARTITION BY org_id, workspace_id, access_id, older, writers, uploaded_by, revision_id
        ) / {LISTED_DOCUMENTS} AS part
        FROM known
    ) numbered
    GROUP BY org_id, workspace_id, access_id, older, writers, uploaded_by, revision_id, part
)
SELECT p.org_id, p.workspace_id, now() AS read_at, p.writers, p.uploaded_by AS owner, p.documents, p.revision_id,
       (
           SELECT json_agg(g.principals ORDER BY g.access_id <> p.access_id, g.access_id)::text
           FROM rag_access_sets g
           WHERE g.org_id = p.org_id AND g.workspace_id = p.workspace_id
             AND g.access_id = ANY (p.access_id || p.older)
       ) AS readers
FROM parts p
"""  # noqa: S608 - a constant


async def listed_rights(connection: Any, schema: str) -> AsyncIterator[Listed]:
    """All of them. `connection` is the driver's, in a transaction at one instant, above row level security; `schema` is
    that of the database.
    """
    async for row in connection.cursor(ORGANISATIONS, prefetch=_BATCH):
        yield ListedOrganisation(
            org_id=row["org_id"],
            read_at=row["read_at"].isoformat(),
            flags=tuple(row["flags"]),
            provider_keys=dict(zip(row["providers"], (one.isoformat() for one in row["set_at"]), strict=True)),
            budget=_value(SpendingLimits, row["budget"]),
            rates=_value(RateLimits, row["rates"]),
        )
    has_saved = schema >= SAVED_SINCE
    saved = dict(await connection.fetch(SAVED)) if has_saved else {}
    async for row in connection.cursor(WORKSPACES, KEPT_DAYS, prefetch=_BATCH):
        yield ListedWorkspace(
            org_id=row["org_id"],
            workspace_id=row["workspace_id"],
            read_at=row["read_at"].isoformat(),
            readers=None if row["readers"] is None else tuple(row["readers"]),
            writers=None if row["writers"] is None else tuple(row["writers"]),
            allows_web=row["allows_web"],
            sources=tuple(row["sources"]),
            budget=_value(SpendingLimits, row["budget"]),
            saved=tuple(saved.get(row["workspace_id"], ())) if has_saved else None,
            days=_value(KeptDays, row["days"]),
        )
    past = "d.past_access_id" if schema >= PAST_SINCE else "NULL::integer"
    async for row in connection.cursor(DOCUMENTS.replace("{past}", past), prefetch=_BATCH):
        if row["readers"] is None:
            continue
        yield ListedRights(
            org_id=row["org_id"],
            workspace_id=row["workspace_id"],
            read_at=row["read_at"].isoformat(),
            readers=tuple(map(tuple, orjson.loads(row["readers"]))),
            writers=tuple(row["writers"]),
            owner=row["owner"],
            documents=tuple(row["documents"]),
            revision=row["revision_id"],
        )


def _value(kind: type[T], stored: str | None) -> T:
    """Settings that were never stored are those of the class."""
    return msgspec.json.decode(stored or "{}", type=kind)
