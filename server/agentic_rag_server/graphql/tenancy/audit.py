"""The audit log of the organisation."""

from collections.abc import Mapping
from datetime import datetime

import strawberry

from agentic_rag.kernel.clock import with_zone
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.kernel.text import is_storable
from agentic_rag.tenancy import audit
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.documents.documents import Property
from agentic_rag_server.graphql.http.context import Info, page_request
from agentic_rag_server.graphql.http.fields import Connection, connection, field, to_schema


@strawberry.type(description="Who did something: with what credential, from where, with which rights.")
class AuditCaller:
    credential: str = strawberry.field(description="`api_key:ID`, `token:ID` (the token's `jti`) or `server_token`.")
    address: str = strawberry.field(description="Of the connection: a proxy's where one stands in front.")
    role: str
    groups: list[str]
    scopes: list[str] | None = strawberry.field(description="Null: all rights of the role.")


@strawberry.type(description="One act, as it was recorded in the transaction of the act.")
class AuditEntry:
    id: strawberry.ID
    created_at: datetime
    actor: str = strawberry.field(description="`user:NAME`, `key:NAME` or `system:NAME`.")
    action: str = strawberry.field(description="Such as `document.delete`.")
    subject: str = strawberry.field(description="What it was done to: the id that lists show, else a name.")
    workspace_id: strawberry.ID | None
    detail: list[Property] = strawberry.field(description="Such as `before` and `after`; never content.")
    caller: AuditCaller | None = strawberry.field(description="Null for jobs, schedules and the command line.")
    trace_id: str | None


@strawberry.type
class AuditQuery:
    @field(
        Action.READ_AUDIT_LOG,
        right=Sight.ORGANISATION,
        description="What was done in the organisation, newest first. `action` is a whole name (`document.delete`) or "
        "its first part (`document`); `since` is included, `until` is not. Takes the role admin.",
    )
    async def audit_log(
        self,
        info: Info,
        first: int = 50,
        after: str | None = None,
        workspace_id: strawberry.ID | None = None,
        actor: str | None = None,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Connection[AuditEntry]:
        context = info.context
        request = page_request(first, after)
        workspace = None if workspace_id is None else (await context.workspace(workspace_id)).workspace_id
        actor, action = (one if one is None or is_storable(one) else "" for one in (actor, action))
        wanted = audit.AuditFilter(workspace, actor, action, with_zone(since), with_zone(until))
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            return connection(await transaction.audit.page(request, wanted), _show_entry)


def _show_entry(record: audit.AuditRecord) -> AuditEntry:
    caller = record.caller
    return to_schema(
        AuditEntry,
        record,
        id=strawberry.ID(str(record.audit_id)),
        subject=record.public_subject,
        workspace_id=None if record.workspace_id is None else encode_workspace(record.workspace_id),
        detail=[Property(name=name, value="" if one is None else str(one)) for name, one in record.told.items()],
        caller=_show_caller(caller) if caller else None,
    )


def _show_caller(caller: Mapping[str, str]) -> AuditCaller:
    scopes = caller.get("scopes")
    return AuditCaller(
        credential=caller.get("credential", ""),
        address=caller.get("address", ""),
        role=caller.get("role", ""),
        groups=caller["groups"].split(",") if "groups" in caller else [],
        scopes=None if scopes is None else scopes.split(","),
    )
