"""A corpus: the unit of isolation, versioning, caching and settings."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime

from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import RagConfig
from agentic_rag.workspaces.settings import WorkspaceSettings as WorkspaceSettings


class WorkspaceKind(enum.Enum):
    """The kind of a workspace; `external_ref` is the caller's own id of the project or agent."""

    GENERAL = "general"
    PROJECT = "project"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Workspace:
    """A corpus: the unit of isolation, versioning, caching and settings."""

    ref: WorkspaceRef
    name: str
    kind: WorkspaceKind
    external_ref: str | None
    corpus_version: int
    graph_version: int
    active_space: int | None
    """Number of the embedding space that answers questions; None until the first vector is published."""
    created_at: datetime
    settings: WorkspaceSettings = field(default_factory=WorkspaceSettings)


@dataclass(frozen=True, slots=True)
class CorpusHead:
    """The newest corpus version, its active space (None before the first vector), the support below which answers
    become abstentions, the caller's read scope, and the search settings (None: the process's default).
    """

    version: int
    space: EmbeddingSpace | None
    support_threshold: float | None = None
    access: ReadScope = ReadScope()
    rag_config: RagConfig | None = None
