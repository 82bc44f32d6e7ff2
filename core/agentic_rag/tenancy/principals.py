"""Owners and callers: organisations, workspaces, principals."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from hashlib import sha256
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


class SubjectKind(enum.Enum):
    """What a subject is. A key, a person and a part of the product of one name are three subjects."""

    USER = "user"
    """A person or program that an issuer of tokens names."""
    KEY = "key"
    """The subject of an API key."""
    SYSTEM = "system"
    """The product itself: its command line, schedules and jobs. No credential is one."""


class KeyScope(enum.Enum):
    """A restriction of a credential below the rights of its role."""

    ASK = "ask"
    READ = "read"
    UPLOAD = "upload"
    DELETE = "delete"
    ADMIN = "admin"
    """Every right that no other scope covers."""


_RESERVED = frozenset({"cli", "everyone", "jobs", "nobody", "system"})
"""Names that stand for a part of the product, or for all or none of its callers."""


def validate_subject(text: str) -> str:
    """The subject of a new API key. Errors: `InvalidInput` with path `subject` for a name that `validate_name` refuses,
    that is reserved, or that begins with a kind as if it were a stored subject.
    """
    name = validate_name(text, ("subject",))
    kind, colon, _ = name.casefold().partition(":")
    if name.casefold() in _RESERVED or (colon and kind in {"group", *(one.value for one in SubjectKind)}):
        raise InvalidInput(
            f"`subject` may not be {name!r}: the names {', '.join(sorted(_RESERVED))} and those that begin with "
            "`user:`, `key:`, `system:` or `group:` are reserved.",
            code="SUBJECT_RESERVED",
            path=("subject",),
        )
    return name


@dataclass(frozen=True, slots=True)
class Principal:
    """A verified caller. The organisation comes from the credential only, never from the request."""

    org_id: UUID
    subject: str
    role: Role
    groups: tuple[str, ...] = ()
    scopes: frozenset[KeyScope] | None = None
    """None: all rights of the role."""
    kind: SubjectKind = SubjectKind.USER
    credential: str = field(default="", compare=False)
    """What the caller proved itself with, as the audit log names it: `api_key:ID`, `token:ID`, `server_token`."""

    @property
    def subject_id(self) -> str:
        """The subject with its kind, as it is stored: `user:ada`, `key:ci`, `system:cli`."""
        return f"{self.kind.value}:{self.subject}"

    def own_key(self, idempotency_key: str) -> str:
        """An idempotency key as it is stored: those of two subjects never meet, so neither learns of the other's."""
        return sha256(f"{self.subject_id}\0{idempotency_key}".encode()).hexdigest()


def name_of_subject(subject_id: str) -> str:
    """A stored subject without its kind, for systems that know the names of their users only."""
    return subject_id.partition(":")[2]


@dataclass(frozen=True, slots=True)
class WorkspaceRef:
    """The composite key of all data of a workspace."""

    org_id: UUID
    workspace_id: UUID

    @property
    def key(self) -> tuple[UUID, UUID]:
        """Both ids, in the order in which every table's key has them."""
        return self.org_id, self.workspace_id
