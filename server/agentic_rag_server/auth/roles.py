"""Who may do what: the weakest role that each guarded action asks for."""

from __future__ import annotations

import enum

from agentic_rag.domain.errors import Forbidden
from agentic_rag.domain.tenancy import Principal, Role

_STRENGTH = {role: strength for strength, role in enumerate(Role)}


class Action(enum.Enum):
    """Actions that not every caller may take. Reading and asking are open to every role."""

    CREATE_WORKSPACE = "create a workspace"
    DELETE_DOCUMENT = "delete a document"
    SET_DOCUMENT_ACCESS = "say who reads a document"
    REINGEST_DOCUMENT = "ingest a document again"
    SEE_DEAD_LETTERS = "see dead letters"
    REPLAY_DEAD_LETTER = "replay a dead letter"
    PURGE_DEAD_LETTER = "purge a dead letter"
    UPLOAD_DOCUMENT = "upload a document"
    TAKE_SNAPSHOT = "take or list snapshots"
    SWITCH_SPACE = "switch the embedding model"
    MANAGE_PROVIDER_KEYS = "manage keys of providers"


_NEEDED = {
    Action.CREATE_WORKSPACE: Role.ADMIN,
    Action.DELETE_DOCUMENT: Role.MEMBER,
    Action.SET_DOCUMENT_ACCESS: Role.MEMBER,
    Action.UPLOAD_DOCUMENT: Role.MEMBER,
    Action.REINGEST_DOCUMENT: Role.MEMBER,
    Action.SEE_DEAD_LETTERS: Role.ADMIN,
    Action.REPLAY_DEAD_LETTER: Role.ADMIN,
    Action.PURGE_DEAD_LETTER: Role.ADMIN,
    Action.TAKE_SNAPSHOT: Role.ADMIN,
    Action.SWITCH_SPACE: Role.ADMIN,
    Action.MANAGE_PROVIDER_KEYS: Role.ADMIN,
}


def is_allowed(principal: Principal, action: Action) -> bool:
    """Whether the caller's role is strong enough."""
    return _STRENGTH[principal.role] >= _STRENGTH[_NEEDED[action]]


def authorise(principal: Principal, action: Action) -> None:
    """Let the action pass. Errors: `Forbidden`, naming the role it takes."""
    if not is_allowed(principal, action):
        needed = _NEEDED[action]
        raise Forbidden(f"To {action.value} takes the role {needed.value}; this token has {principal.role.value}.")
