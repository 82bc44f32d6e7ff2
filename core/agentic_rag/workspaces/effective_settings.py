"""The settings of a workspace, completed with the defaults of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from agentic_rag.workspaces.settings import RagConfig, WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind

KIND_DEFAULTS: Mapping[WorkspaceKind, WorkspaceSettings] = MappingProxyType(
    {
        WorkspaceKind.GENERAL: WorkspaceSettings(),
        WorkspaceKind.PROJECT: WorkspaceSettings(rag_config=RagConfig(top_k=5, similarity_threshold=0.75)),
        WorkspaceKind.AGENT: WorkspaceSettings(
            chunk_profile="agent", rag_config=RagConfig(top_k=5, similarity_threshold=0.7)
        ),
    }
)
"""Guidelines of projects: requirement B5. Documents of agents: E3 (1,000 characters, 200 of overlap) and E4."""


def effective_rag_config(kind: WorkspaceKind, own: RagConfig | None) -> RagConfig | None:
    """The search settings of a workspace of that kind; None: the process's value applies."""
    return own or KIND_DEFAULTS[kind].rag_config


def effective_settings(workspace: Workspace) -> WorkspaceSettings:
    """The workspace's settings, completed with those of its kind; for a remaining None the process's value applies."""
    own, of_kind = workspace.settings, KIND_DEFAULTS[workspace.kind]
    return replace(
        own,
        chunk_profile=own.chunk_profile or of_kind.chunk_profile,
        rag_config=effective_rag_config(workspace.kind, own.rag_config),
    )
