"""Every table of the product and its class. A test compares this list with the database.

Organisation tables carry `org_id`, workspace tables `org_id` and `workspace_id`, in every key; both have
FORCE ROW LEVEL SECURITY with a policy on the transaction-local setting `rag.org_id`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType


class TableClass(enum.Enum):
    """Who a table's rows belong to."""

    GLOBAL = "global"
    ORGANISATION = "organisation"
    WORKSPACE = "workspace"


TABLES: Mapping[str, TableClass] = MappingProxyType(
    {
        "rag_schema_version": TableClass.GLOBAL,
        "rag_organizations": TableClass.ORGANISATION,
        "rag_api_keys": TableClass.ORGANISATION,
        "rag_workspaces": TableClass.WORKSPACE,
        "rag_access_sets": TableClass.WORKSPACE,
        "rag_restricted_versions": TableClass.WORKSPACE,
        "rag_version_times": TableClass.WORKSPACE,
        "rag_embedding_spaces": TableClass.WORKSPACE,
        "rag_documents": TableClass.WORKSPACE,
        "rag_document_labels": TableClass.WORKSPACE,
        "rag_revisions": TableClass.WORKSPACE,
        "rag_text_pieces": TableClass.WORKSPACE,
        "rag_chunks": TableClass.WORKSPACE,
        "rag_closed_ordinals": TableClass.WORKSPACE,
        "rag_moved_ordinals": TableClass.WORKSPACE,
        "rag_embeddings": TableClass.WORKSPACE,
        "rag_vector_indexes": TableClass.WORKSPACE,
        "rag_segments": TableClass.WORKSPACE,
        "rag_staged_chunks": TableClass.WORKSPACE,
        "rag_entities": TableClass.WORKSPACE,
        "rag_mentions": TableClass.WORKSPACE,
        "rag_tombstones": TableClass.WORKSPACE,
        "rag_past_erasures": TableClass.WORKSPACE,
        "rag_graph_erasures": TableClass.WORKSPACE,
        "rag_audit": TableClass.ORGANISATION,
        "rag_erasures": TableClass.ORGANISATION,
        "rag_dead_payloads": TableClass.GLOBAL,
        "rag_workers": TableClass.GLOBAL,
        "rag_processes": TableClass.GLOBAL,
        "rag_provider_keys": TableClass.ORGANISATION,
        "rag_sources": TableClass.WORKSPACE,
        "rag_jobs": TableClass.WORKSPACE,
        "rag_job_attempts": TableClass.WORKSPACE,
        "rag_crawl_pages": TableClass.WORKSPACE,
        "rag_eval_runs": TableClass.WORKSPACE,
        "rag_eval_scores": TableClass.WORKSPACE,
        "rag_runs": TableClass.WORKSPACE,
        "rag_run_stages": TableClass.WORKSPACE,
        "rag_threads": TableClass.WORKSPACE,
        "rag_thread_turns": TableClass.WORKSPACE,
        "rag_saved_questions": TableClass.WORKSPACE,
        "rag_gate_decisions": TableClass.WORKSPACE,
        "rag_feedback": TableClass.WORKSPACE,
        "rag_implicit_feedback": TableClass.WORKSPACE,
        "rag_gate_rollbacks": TableClass.WORKSPACE,
        "rag_cache_entries": TableClass.WORKSPACE,
        "rag_snapshots": TableClass.WORKSPACE,
        "rag_restores": TableClass.WORKSPACE,
        "rag_originals": TableClass.WORKSPACE,
        "rag_stored_bytes": TableClass.ORGANISATION,
        "rag_doomed_blobs": TableClass.WORKSPACE,
        "rag_uploads": TableClass.WORKSPACE,
        "rag_usage": TableClass.WORKSPACE,
    }
)

ROLES = ("rag_owner", "rag_app", "rag_dispatcher")
"""owner migrates and builds indexes; app serves requests and jobs; dispatcher sees `rag_jobs` of every tenant, and
`rag_workers`.
"""
