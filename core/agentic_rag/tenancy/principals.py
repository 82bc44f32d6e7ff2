"""Who owns and who asks: organisations, workspaces, principals."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput

DEFAULT_ORG_ID = UUID("00000000-0000-4000-8000-000000000001")
"""The organisation that exists in embedded mode, so that a newcomer needs no tenant set-up."""

DEFAULT_ACCESS_ID = 0
"""The access set 'everybody in the workspace'; every workspace has it from birth."""

MAX_NAME_CHARACTERS = 200
"""Longest name or external reference of a workspace."""


def validate_name(text: str, path: tuple[str, ...]) -> str:
    """`text` without the space around it. Errors: `InvalidInput` with that `path` when it is empty, too long or not
    printable: such a name can be told from no other on a screen.
    """
    name = text.strip()
    if not name or len(name) > MAX_NAME_CHARACTERS or not name.isprintable():
        raise InvalidInput(f"`{path[-1]}` takes 1 to {MAX_NAME_CHARACTERS} printable characters.", path=path)
    return name


class Role(enum.Enum):
    """What a principal may do, weakest first."""

    VIEWER = "viewer"
    MEMBER = "member"
    ADMIN = "admin"
    OPERATOR = "operator"


class KeyScope(enum.Enum):
    """What a credential may be held to, whatever its role would allow."""

    ASK = "ask"
    READ = "read"
    UPLOAD = "upload"
    DELETE = "delete"
    ADMIN = "admin"
    """Everything that is none of the others."""


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller. The organisation comes from the credential only, never from the request."""

    org_id: UUID
    subject: str
    role: Role
    groups: tuple[str, ...] = ()
    scopes: frozenset[KeyScope] | None = None
    """None: all that the role may do."""


@dataclass(frozen=True, slots=True)
class WorkspaceRef:
    """The composite key under which everything of a workspace is stored."""

    org_id: UUID
    workspace_id: UUID
