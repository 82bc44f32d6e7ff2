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
    SWITCH_SPACE = "switch the embedding model"


_NEEDED = {Action.CREATE_WORKSPACE: Role.ADMIN, Action.DELETE_DOCUMENT: Role.MEMBER, Action.SWITCH_SPACE: Role.ADMIN}


def authorise(principal: Principal, action: Action) -> None:
    """Let the action pass. Errors: `Forbidden`, naming the role it takes."""
    needed = _NEEDED[action]
    if _STRENGTH[principal.role] < _STRENGTH[needed]:
        raise Forbidden(f"To {action.value} takes the role {needed.value}; this token has {principal.role.value}.")
