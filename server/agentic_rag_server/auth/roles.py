"""Permissions: the weakest role of each action, and its scope for credentials that are limited to scopes."""

from __future__ import annotations

import enum

from agentic_rag.kernel.errors import Forbidden
from agentic_rag.tenancy.principals import KeyScope, Principal, Role

_STRENGTH = {role: strength for strength, role in enumerate(Role)}


class Action(enum.Enum):
    """An action; its value completes the sentence "To … takes the role …"."""

    READ = "read"
    ASK = "ask"
    CREATE_WORKSPACE = "create a workspace"
    DELETE_DOCUMENT = "delete a document"
    SET_DOCUMENT_ACCESS = "say who reads a document"
    REINGEST_DOCUMENT = "ingest a document again"
    SEE_DEAD_LETTERS = "see dead letters"
    REPLAY_DEAD_LETTER = "replay a dead letter"
    PURGE_DEAD_LETTER = "purge a dead letter"
    UPLOAD_DOCUMENT = "upload a document"
    MANAGE_GUIDELINES = "manage guidelines"
    TAKE_SNAPSHOT = "take or list snapshots"
    EVALUATE = "start or read evaluations"
    SWITCH_SPACE = "switch the embedding model"
    MANAGE_PROVIDER_KEYS = "manage keys of providers"
    CHANGE_WORKSPACE = "change a workspace's settings"
    CHANGE_ORGANISATION = "change the organisation's settings"
    MANAGE_KEYS = "see, make or revoke API keys"
    SEE_USAGE = "see what models cost"
    SET_BUDGET = "set a budget"
    SET_RATE_LIMITS = "say how much an organisation may send"
    REQUIRE_OWN_KEY = "say whose key an organisation works with"


_NEEDED = {
    Action.READ: Role.VIEWER,
    Action.ASK: Role.VIEWER,
    Action.CREATE_WORKSPACE: Role.ADMIN,
    Action.DELETE_DOCUMENT: Role.MEMBER,
    Action.SET_DOCUMENT_ACCESS: Role.MEMBER,
    Action.UPLOAD_DOCUMENT: Role.MEMBER,
    Action.MANAGE_GUIDELINES: Role.ADMIN,
    Action.REINGEST_DOCUMENT: Role.MEMBER,
    Action.SEE_DEAD_LETTERS: Role.ADMIN,
    Action.REPLAY_DEAD_LETTER: Role.ADMIN,
    Action.PURGE_DEAD_LETTER: Role.ADMIN,
    Action.TAKE_SNAPSHOT: Role.ADMIN,
    Action.EVALUATE: Role.ADMIN,
    Action.SWITCH_SPACE: Role.ADMIN,
    Action.MANAGE_PROVIDER_KEYS: Role.ADMIN,
    Action.CHANGE_WORKSPACE: Role.ADMIN,
    Action.CHANGE_ORGANISATION: Role.ADMIN,
    Action.MANAGE_KEYS: Role.ADMIN,
    Action.SEE_USAGE: Role.ADMIN,
    Action.SET_BUDGET: Role.ADMIN,
    Action.SET_RATE_LIMITS: Role.OPERATOR,
    Action.REQUIRE_OWN_KEY: Role.OPERATOR,
}

_SCOPES = {
    Action.READ: KeyScope.READ,
    Action.ASK: KeyScope.ASK,
    Action.UPLOAD_DOCUMENT: KeyScope.UPLOAD,
    Action.REINGEST_DOCUMENT: KeyScope.UPLOAD,
    Action.DELETE_DOCUMENT: KeyScope.DELETE,
}
"""Every other action needs the scope `admin`, so that a new action is closed to narrow keys."""


def at_least(principal: Principal, role: Role) -> bool:
    """Whether the caller has the role or a stronger one."""
    return _STRENGTH[principal.role] >= _STRENGTH[role]


def scope_of(action: Action) -> KeyScope:
    """The scope that a limited credential needs for the action."""
    return _SCOPES.get(action, KeyScope.ADMIN)


def can_perform(principal: Principal, action: Action) -> bool:
    """Whether the caller's role and scopes permit the action."""
    return at_least(principal, _NEEDED[action]) and _has_scope(principal, action)


def authorise(principal: Principal, action: Action) -> None:
    """Errors: `Forbidden`, with the missing role or scope."""
    needed = _NEEDED[action]
    if not at_least(principal, needed):
        raise Forbidden(f"To {action.value} takes the role {needed.value}; this token has {principal.role.value}.")
    if not _has_scope(principal, action):
        raise Forbidden(f"To {action.value} takes the scope {scope_of(action).value}, which this API key has not.")


def _has_scope(principal: Principal, action: Action) -> bool:
    return principal.scopes is None or scope_of(action) in principal.scopes
