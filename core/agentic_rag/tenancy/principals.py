"""Owners and callers: organisations, workspaces, principals."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput

DEFAULT_ORG_ID = UUID("00000000-0000-4000-8000-000000000001")
"""The default organisation of embedded mode, which needs no tenant set-up."""

DEFAULT_ACCESS_ID = 0
"""The access set 'everybody in the workspace'; every workspace is created with it."""

MAX_NAME_CHARACTERS = 200
"""Longest name or external reference of a workspace."""


def validate_name(text: str, path: tuple[str, ...]) -> str:
    """Strip `text`. Errors: `InvalidInput` with that `path` when the name is empty, too long or not printable: on a
    screen such a name looks like others.
    """
    name = text.strip()
    if not name or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise InvalidInput(f"`{path[-1]}` takes 1 to {MAX_NAME_CHARACTERS} printable characters.", path=path)
    return name


class Role(enum.Enum):
    """The rights of a principal, weakest first."""

    VIEWER = "viewer"
    MEMBER = "member"
    ADMIN = "admin"
    OPERATOR = "operator"


class KeyScope(enum.Enum):
    """A restriction of a credential below the rights of its role."""

    ASK = "ask"
    READ = "read"
    UPLOAD = "upload"
    DELETE = "delete"
    ADMIN = "admin"
    """Every right that no other scope covers."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller. The organisation comes from the credential only, never from the request."""

    org_id: UUID
    subject: str
    role: Role
    groups: tuple[str, ...] = ()
    scopes: frozenset[KeyScope] | None = None
    """None: all rights of the role."""


@dataclass(frozen=True, slots=True)
class WorkspaceRef:
    """The composite key of all data of a workspace."""

    org_id: UUID
    workspace_id: UUID

    @property
    def key(self) -> tuple[UUID, UUID]:
        """Both ids, in the order in which every table's key has them."""
        return self.org_id, self.workspace_id
