"""A corpus: the unit of isolation, versioning, caching and settings."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS, WorkspaceRef, validate_name
from agentic_rag.workspaces.settings import RagConfig, WorkspaceSettings
from agentic_rag.workspaces.web_access import WebAccess


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
    readers: tuple[str, ...] | None = None
    """The principals that may enter it, beside `writers` and those who manage it; None: everybody."""
    writers: tuple[str, ...] | None = None
    """The principals that may change its documents, as their roles and the documents' owners let; None: everybody who
    may enter.
    """

    @property
    def entering(self) -> tuple[str, ...] | None:
        """The principals that may enter it; None: everybody."""
        return None if self.readers is None else tuple(sorted({*self.readers, *(self.writers or ())}))


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
    kind_thresholds: tuple[tuple[str, float], ...] = ()
    """The same support for single kinds of questions, by kind."""
    similarity_exponent: float | None = None
    """The scale of similarity thresholds measured for the space; None: the model's."""
    web: WebAccess = WebAccess()
    organisation_allows_web: bool = False


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


_DIGEST_DIGITS = 12


@dataclass(frozen=True, slots=True)
class ExternalOwner:
    """A project or agent of an organisation, by the caller's own id of it."""

    org_id: UUID
    kind: WorkspaceKind
    external_ref: str

    @property
    def names(self) -> tuple[str, str]:
        """Two names for its workspace: a readable one, and one for when that is taken."""
        name = f"{self.kind.value} {self.external_ref}"
        digest = hashlib.sha256(self.external_ref.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_DIGITS]
        shortened = name[: MAX_NAME_CHARACTERS - _DIGEST_DIGITS - 1].rstrip()
        return name[:MAX_NAME_CHARACTERS].rstrip(), f"{shortened} {digest}"


def project(org_id: UUID, external_ref: str) -> ExternalOwner:
    """A project. Errors: `InvalidInput` for an id that is empty, not printable or of more than 200 characters."""
    return ExternalOwner(org_id, WorkspaceKind.PROJECT, validate_name(external_ref, ("id",)))


def agent(org_id: UUID, external_ref: str) -> ExternalOwner:
    """An agent. Errors: as `project`."""
    return ExternalOwner(org_id, WorkspaceKind.AGENT, validate_name(external_ref, ("id",)))
