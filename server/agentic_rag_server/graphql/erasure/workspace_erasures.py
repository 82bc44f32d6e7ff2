"""Deleting workspaces and the organisation, with certificates and their proof."""

from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.erasure import workspace_erasure as erasures
from agentic_rag.kernel.public_ids import NodeKind, decode, encode_workspace
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.erasure.erasures import ErasedStore, Finding, NotCovered
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema
from agentic_rag_server.graphql.tenancy.tenants import read_org_id

MOST_LISTED = 1000
"""Erasures of a reply, the newest."""


@strawberry.type(description="A place that keeps something by rule.")
class KeptPlace:
    place: str
    reason: str


@strawberry.type(description="The erasure of a workspace or organisation: numbers only, no name and no word of it.")
class WorkspaceErasure:
    subject: strawberry.ID = strawberry.field(description="The id of the workspace, or of the organisation.")
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None = strawberry.field(description="Null while a job has work to do.")
    complete: bool
    stores: list[ErasedStore] = strawberry.field(description="What went so far, by table or store.")
    kept: list[KeptPlace]
    not_covered: list[NotCovered]


@strawberry.type(description="What every store says now of a workspace, or of an organisation, that was deleted.")
class WorkspaceErasureProof:
    erased: bool
    erasure: WorkspaceErasure
    findings: list[Finding]
    workspaces: list[WorkspaceErasure] = strawberry.field(
        description="Of an organisation the certificates of all its workspaces, newest first; of a workspace none."
    )


@strawberry.type(description="The erasure that has begun, or why there is none.")
class DeleteWorkspacePayload(Payload):
    erasure: WorkspaceErasure | None = None


@strawberry.type(description="The erasure that has begun, or why there is none.")
class DeleteOrganisationPayload(Payload):
    erasure: WorkspaceErasure | None = None


def _show(erasure: erasures.WorkspaceErasure) -> WorkspaceErasure:
    subject = str(erasure.org_id) if erasure.is_organisation else encode_workspace(erasure.subject_id)
    return to_schema(
        WorkspaceErasure,
        erasure,
        subject=subject,
        complete=erasure.is_complete,
        stores=[
            ErasedStore(store=store, count=count, done=erasure.is_complete)
            for store, count in sorted(erasure.counts.items())
        ],
        kept=[KeptPlace(place=place, reason=reason) for place, reason in erasures.KEPT.items()],
    )


async def _prove(context: RequestContext, org_id: UUID, subject_id: UUID) -> WorkspaceErasureProof:
    proof = await context.parts.prove_workspace_erasure.run(org_id, subject_id)
    return to_schema(
        WorkspaceErasureProof,
        proof,
        erased=proof.is_complete,
        erasure=_show(proof.erasure),
        workspaces=[_show(one) for one in proof.workspaces],
    )


@strawberry.type
class WorkspaceErasureQuery:
    @field(
        Action.DELETE_WORKSPACE,
        right=Sight.ORGANISATION,
        description="The certificates of deleted workspaces, newest first, at most 1,000. Takes the role admin.",
    )
    async def workspace_erasures(self, info: Info) -> list[WorkspaceErasure]:
        context = info.context
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            return [_show(one) for one in await transaction.workspace_erasures.all(MOST_LISTED)]

    @field(
        Action.DELETE_WORKSPACE,
        right=Sight.ORGANISATION,
        description="Search every store for remains of a deleted workspace. Takes the role admin.",
    )
    async def prove_workspace_erased(self, info: Info, workspace_id: strawberry.ID) -> WorkspaceErasureProof:
        """ERASURE_NOT_FOUND for one that was never deleted."""
        ref = info.context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        return await _prove(info.context, ref.org_id, ref.workspace_id)

    @field(
        Action.RUN_PLATFORM,
        right=Sight.PLATFORM,
        description="Search every store for remains of a deleted organisation. Takes the role operator in the default "
        "organisation.",
    )
    async def prove_tenant_erased(self, info: Info, id: strawberry.ID) -> WorkspaceErasureProof:
        """ERASURE_NOT_FOUND for one that was never deleted."""
        org_id = read_org_id(id, ("id",))
        return await _prove(info.context, org_id, org_id)


@strawberry.type
class WorkspaceErasureMutation:
    @mutation(
        Action.DELETE_WORKSPACE,
        DeleteWorkspacePayload,
        right=Sight.ORGANISATION,
        description="Delete a workspace, of an agent and of a project too, with all it holds: it is gone at once, and "
        "a job erases it from every store. `confirmName` repeats its name. Takes the role admin.",
    )
    async def delete_workspace(
        self, info: Info, workspace_id: strawberry.ID, confirm_name: str, cancel_jobs: bool = False
    ) -> DeleteWorkspacePayload:
        """WORKSPACE_BUSY while jobs wait or run, unless they are to be cancelled."""
        context = info.context
        ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        erasure = await context.parts.request_erasure.workspace(
            ref, confirm_name, context.principal.subject_id, cancel_jobs=cancel_jobs
        )
        return DeleteWorkspacePayload(erasure=_show(erasure))

    @mutation(
        Action.DELETE_ORGANISATION,
        DeleteOrganisationPayload,
        right=Sight.ORGANISATION,
        description="Delete the caller's organisation with its workspaces and keys: nobody has access from now on, and "
        "jobs erase it from every store. `confirmName` repeats its name. Takes the role admin.",
    )
    async def delete_organisation(
        self, info: Info, confirm_name: str, cancel_jobs: bool = False
    ) -> DeleteOrganisationPayload:
        """WORKSPACE_BUSY while jobs wait or run, unless they are to be cancelled."""
        caller = info.context.principal
        erasure = await info.context.parts.request_erasure.organisation(
            caller.org_id, confirm_name, caller.subject_id, cancel_jobs=cancel_jobs
        )
        return DeleteOrganisationPayload(erasure=_show(erasure))
