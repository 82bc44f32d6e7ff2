"""Who the caller is, for pages that show what its role allows."""

import strawberry

from agentic_rag_server.auth.roles import Action, can_perform
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field
from agentic_rag_server.graphql.workspaces.organisations import KeyScope, Role


@strawberry.type(description="Whoever the token of this request speaks for.")
class Caller:
    subject: str = strawberry.field(description="`user:NAME` or `key:NAME`.")
    role: Role  # type: ignore[valid-type]
    groups: list[str]
    scopes: list[KeyScope] | None = strawberry.field(  # type: ignore[valid-type]
        description="What its key is held to; null: all that the role may do."
    )
    allowed: list[str] = strawberry.field(
        description="Actions that role and scopes allow, such as `UPLOAD_DOCUMENT`; documents and workspaces have "
        "rights of their own beside them."
    )


@strawberry.type
class CallerQuery:
    @field(Action.READ, right=Sight.ORGANISATION, description="Who asks, and what its role and scopes allow.")
    async def caller(self, info: Info) -> Caller:
        principal = info.context.principal
        return Caller(
            subject=principal.subject_id,
            role=principal.role,
            groups=list(principal.groups),
            scopes=None if principal.scopes is None else sorted(principal.scopes, key=lambda one: one.value),
            allowed=[action.name for action in Action if can_perform(principal, action)],
        )
