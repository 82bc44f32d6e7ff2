"""Declarations of rights: each operation says beside itself who may do it, and does not start without saying so."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document_access import DocumentAccess, DocumentRight
from agentic_rag.kernel.errors import Forbidden
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, WorkspaceRef
from agentic_rag_server.auth.roles import Action, authorise, can_perform


class Sight(enum.Enum):
    """Who of an organisation has what an operation is about, where a right to a document does not say it. Another
    organisation has nothing of it. A list shows each caller what it has.
    """

    ORGANISATION = "everybody in it"
    PATH = "whoever may replace the document that has the path, and everybody where none has"
    ASKER = "who asked, and who manages the workspace"
    SUBJECT = "who began it, and nobody else"
    PLATFORM = "operators of the default organisation, whose keys are made with the database's password"


@dataclass(frozen=True, slots=True)
class Rule:
    """Who may do an operation: callers who may perform every action and have the right. `make security` asks the server
    for each role, scope and relation, and compares the answers with the rules.
    """

    actions: tuple[Action, ...]
    right: DocumentRight | Sight
    document: str | None = None
    """The argument with the id of the document that the right is checked for before the operation begins."""
    is_hidden: bool = False
    """A caller who may not perform the actions gets null instead of FORBIDDEN."""

    def authorise(self, principal: Principal) -> None:
        """Errors: `Forbidden`, with the missing role or scope, or for another organisation than the platform's."""
        for action in self.actions:
            authorise(principal, action)
        if self.right is Sight.PLATFORM and principal.org_id != DEFAULT_ORG_ID:
            raise Forbidden("This is for operators of the default organisation: it concerns all organisations.")

    def permits(self, principal: Principal) -> bool:
        """Whether the caller may perform the actions. For rights other than `PLATFORM`."""
        return all(can_perform(principal, action) for action in self.actions)

    async def require(
        self, access: DocumentAccess, principal: Principal, workspace: WorkspaceRef, document_id: UUID
    ) -> None:
        """Check the right to a document. Errors: those of `DocumentAccess.require`."""
        if isinstance(self.right, DocumentRight):
            await access.require(principal, workspace, document_id, self.right)
