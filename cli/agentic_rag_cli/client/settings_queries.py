"""Queries of the settings of a workspace."""

from __future__ import annotations

from agentic_rag_cli.client.queries import FAULTS

_RAG_CONFIG = "settings { ragConfig { topK similarityThreshold rerank } }"

RAG_CONFIG = f"query ($id: ID!) {{ workspace(id: $id) {{ {_RAG_CONFIG} }} }}"

SET_RAG_CONFIG = f"""
mutation ($input: UpdateWorkspaceSettingsInput!) {{
  updateWorkspaceSettings(input: $input) {{ workspace {{ {_RAG_CONFIG} }} {FAULTS} }}
}}
"""
