"""The external owner of documents: a project or an agent in the caller's own system."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.tenancy.principals import MAX_NAME_CHARACTERS, validate_name
from agentic_rag.workspaces.workspace import WorkspaceKind

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
