"""Permissions: the table of actions, and its check."""

from __future__ import annotations

import enum

from agentic_rag.kernel.errors import Forbidden
from agentic_rag.tenancy.principals import KeyScope, Principal, Role

_STRENGTH = {role: strength for strength, role in enumerate(Role)}


@enum.unique
class Action(enum.Enum):
    """An action: words that complete the sentence "To … takes the role …", the weakest role, and the scope that a
    limited credential needs. Actions without a scope need `admin`, so that a new action is closed to narrow keys.
    """

    READ = "read", Role.VIEWER, KeyScope.READ
    ASK = "ask", Role.VIEWER, KeyScope.ASK
    CREATE_WORKSPACE = "create a workspace", Role.ADMIN
    DELETE_DOCUMENT = "delete a document", Role.MEMBER, KeyScope.DELETE
    WITHDRAW_DOCUMENT = "withdraw or restore a document", Role.MEMBER, KeyScope.DELETE
    SET_DOCUMENT_ACCESS = "say who reads a document", Role.MEMBER
    UPDATE_DOCUMENT = "change what is said of a document", Role.MEMBER, KeyScope.UPLOAD
    REINGEST_DOCUMENT = "ingest a document again", Role.MEMBER, KeyScope.UPLOAD
    FIND_BY_PATH = "find the id of a document by its path", Role.ADMIN, KeyScope.READ
    SEE_DEAD_LETTERS = "see dead letters", Role.ADMIN
    REPLAY_DEAD_LETTER = "replay a dead letter", Role.ADMIN
    PURGE_DEAD_LETTER = "purge a dead letter", Role.ADMIN
    UPLOAD_DOCUMENT = "upload a document", Role.MEMBER, KeyScope.UPLOAD
    MANAGE_GUIDELINES = "manage guidelines", Role.ADMIN
    TAKE_SNAPSHOT = "take or list snapshots", Role.ADMIN
    EVALUATE = "start or read evaluations", Role.ADMIN
    MANAGE_SOURCES = "see, add, synchronise or remove sources", Role.ADMIN
    SEARCH_WEB = "search the web", Role.MEMBER
    CRAWL_WEB = "read pages of the web into a workspace", Role.ADMIN
    ADD_INTERNAL_SOURCE = "add a source that reaches files or addresses inside", Role.OPERATOR
    SWITCH_SPACE = "switch the embedding model", Role.ADMIN
    MANAGE_PROVIDER_KEYS = "manage keys of providers", Role.ADMIN
    CHANGE_WORKSPACE = "change a workspace's settings", Role.ADMIN
    DELETE_WORKSPACE = "delete a workspace", Role.ADMIN
    DELETE_ORGANISATION = "delete the organisation", Role.ADMIN
    RENAME_ORGANISATION = "rename the organisation", Role.OPERATOR
    CHANGE_ORGANISATION = "change the organisation's settings", Role.ADMIN
    MANAGE_KEYS = "see, make or revoke API keys", Role.ADMIN
    READ_AUDIT_LOG = "read the audit log", Role.ADMIN
    SEE_USAGE = "see what models cost", Role.ADMIN
    SET_BUDGET = "set a budget", Role.ADMIN
    SET_RATE_LIMITS = "say how much an organisation may send", Role.OPERATOR
    SEE_FIGURES = "see the figures of the server", Role.OPERATOR, KeyScope.READ
    REQUIRE_OWN_KEY = "say whose key an organisation works with", Role.OPERATOR
    INSPECT_STORES = "compare the stores of a workspace, or make its graph anew", Role.OPERATOR
    RESTORE_SNAPSHOT = "make a workspace from a snapshot", Role.OPERATOR
    RUN_PLATFORM = "see and change what all organisations share", Role.OPERATOR

    def __init__(self, words: str, role: Role, scope: KeyScope = KeyScope.ADMIN) -> None:
        self.words = words
        self.role = role
        self.scope = scope


def at_least(principal: Principal, role: Role) -> bool:
    """Whether the caller has the role or a stronger one."""
    return _STRENGTH[principal.role] >= _STRENGTH[role]


def can_perform(principal: Principal, action: Action) -> bool:
    """Whether the caller's role and scopes permit the action."""
    return at_least(principal, action.role) and _has_scope(principal, action)


def authorise(principal: Principal, action: Action) -> None:
    """Errors: `Forbidden`, with the missing role or scope."""
    if not at_least(principal, action.role):
        raise Forbidden(f"To {action.words} takes the role {action.role.value}; this token has {principal.role.value}.")
    if not _has_scope(principal, action):
        raise Forbidden(f"To {action.words} takes the scope {action.scope.value}, which this API key has not.")


def _has_scope(principal: Principal, action: Action) -> bool:
    return principal.scopes is None or action.scope in principal.scopes
