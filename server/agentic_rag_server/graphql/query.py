"""What can be read."""

from __future__ import annotations

import strawberry

from agentic_rag.documents import document as document_values
from agentic_rag.documents.document_access import visible_access_sets
from agentic_rag.jobs import job as job_values
from agentic_rag.kernel.pagination import Page
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode
from agentic_rag.kernel.text import is_storable
from agentic_rag.tenancy.access import may_manage_access, read_identity
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.answering.answers import RagAnswerPayload
from agentic_rag_server.graphql.answering.asking import ask_question
from agentic_rag_server.graphql.answering.explanations import RunExplanation, show_explanation
from agentic_rag_server.graphql.answering.runs import Run, show_run
from agentic_rag_server.graphql.documents.documents import Document, DocumentStatus, show_document
from agentic_rag_server.graphql.erasure.erasures import ErasureProof, show_proof
from agentic_rag_server.graphql.http.connections import Connection, connection
from agentic_rag_server.graphql.http.context import Info, RequestContext, page_request
from agentic_rag_server.graphql.http.nodes import Node
from agentic_rag_server.graphql.jobs.jobs import Job, JobKind, JobState, show_job
from agentic_rag_server.graphql.models.models import ModelQuery
from agentic_rag_server.graphql.models.provider_keys import ProviderKeyQuery
from agentic_rag_server.graphql.models.spaces import EmbeddingSpace, show_space
from agentic_rag_server.graphql.models.spending import SpendingQuery
from agentic_rag_server.graphql.operations.evaluations import EvaluationQuery
from agentic_rag_server.graphql.operations.snapshots import Snapshot, show_snapshot
from agentic_rag_server.graphql.workspaces.organisations import OrganisationQuery
from agentic_rag_server.graphql.workspaces.rate_limits import RateLimitQuery
from agentic_rag_server.graphql.workspaces.workspaces import Workspace, WorkspaceQuery, show_workspace


@strawberry.type
class Query(
    WorkspaceQuery, OrganisationQuery, ProviderKeyQuery, ModelQuery, SpendingQuery, RateLimitQuery, EvaluationQuery
):
    """Everything that can be read."""

    rag_answer: RagAnswerPayload = strawberry.field(
        resolver=ask_question, description="The same as the mutation, for clients that think of asking as reading."
    )

    @strawberry.field(description="Every workspace of the caller's organisation, by name.")
    async def workspaces(self, info: Info) -> list[Workspace]:
        """All of them: an organisation has few."""
        context = _open(info)
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            return [show_workspace(it) for it in await transaction.workspaces.all()]

    @strawberry.field(description="A workspace by its id.")
    async def workspace(self, info: Info, id: strawberry.ID) -> Workspace | None:
        """Null when there is none."""
        return await _workspace(_open(info), decode(id, NodeKind.WORKSPACE))

    @strawberry.field(description="A workspace by its name.")
    async def workspace_by_name(self, info: Info, name: str) -> Workspace | None:
        """Null when there is none."""
        context = _open(info)
        if "\0" in name:
            return None
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            found = await transaction.workspaces.by_name(name)
        return show_workspace(found) if found else None

    @strawberry.field(description="Documents of a workspace, by source path.")
    async def documents(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        first: int = 50,
        after: str | None = None,
        statuses: list[DocumentStatus] | None = None,  # type: ignore[valid-type]
    ) -> Connection[Document]:
        """One page."""
        context = _open(info)
        request = page_request(first, after)
        ref = await context.workspace(workspace_id)
        wanted: tuple[document_values.DocumentStatus, ...] = tuple(statuses or ())
        async with context.parts.database.transaction(ref.org_id) as transaction:
            sets = await visible_access_sets(transaction, context.principal, ref)
            return connection(await transaction.documents.page(ref, request, wanted, sets), show_document)

    @strawberry.field(description="A document by its id.")
    async def document(self, info: Info, id: strawberry.ID) -> Document | None:
        """Null when there is none."""
        return await _document(_open(info), decode(id, NodeKind.DOCUMENT))

    @strawberry.field(description="Look into every store for what an erasure may have left. Takes the role member.")
    async def prove_erased(self, info: Info, document_id: strawberry.ID) -> ErasureProof:
        """NOT_FOUND for a document that never was here."""
        context = _open(info)
        authorise(context.principal, Action.DELETE_DOCUMENT)
        node = decode(document_id, NodeKind.DOCUMENT, path=("documentId",))
        await context.parts.document_access.require(context.principal, context.ref(node), node.key)
        return show_proof(await context.parts.prove_erasure.run(context.ref(node), node.key))

    @strawberry.field(description="A run by its id.")
    async def run(self, info: Info, id: strawberry.ID) -> Run | None:
        """Null when there is none."""
        return await _run(_open(info), decode(id, NodeKind.RUN))

    @strawberry.field(
        description="Why a run used what it used; and, for up to 10 passages that are no candidates of it, why not."
    )
    async def explain_run(
        self, info: Info, run_id: strawberry.ID, why_not: list[strawberry.ID] | None = None
    ) -> RunExplanation:
        """NOT_FOUND for an unknown run; passages of other workspaces look like unknown ones."""
        context = _open(info)
        node = decode(run_id, NodeKind.RUN, path=("runId",))
        asked = [
            decode(one, NodeKind.CHUNK, path=("whyNot", str(place))).key for place, one in enumerate(why_not or ())
        ]
        return show_explanation(await context.parts.explain.run(context.principal, context.ref(node), node.key, asked))

    @strawberry.field(description="Runs of a workspace, newest first.")
    async def runs(
        self, info: Info, workspace_id: strawberry.ID, first: int = 50, after: str | None = None
    ) -> Connection[Run]:
        """One page."""
        context = _open(info)
        request = page_request(first, after)
        ref = await context.workspace(workspace_id)
        return connection(await context.parts.read_runs.page(context.principal, ref, request), show_run)

    @strawberry.field(description="Jobs of a workspace, newest first.")
    async def jobs(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        first: int = 50,
        after: str | None = None,
        states: list[JobState] | None = None,  # type: ignore[valid-type]
        kinds: list[JobKind] | None = None,  # type: ignore[valid-type]
    ) -> Connection[Job]:
        """One page."""
        context = _open(info)
        request = page_request(first, after)
        ref = await context.workspace(workspace_id)
        wanted: tuple[job_values.JobState, ...] = tuple(states or ())
        of: tuple[job_values.JobKind, ...] = tuple(kinds or ())
        async with context.parts.database.transaction(ref.org_id) as transaction:
            sets = await visible_access_sets(transaction, context.principal, ref)
            return connection(await transaction.jobs.page(ref, request, wanted, of, access_ids=sets), show_job)

    @strawberry.field(description="A job by its id.")
    async def job(self, info: Info, id: strawberry.ID) -> Job | None:
        """Null when there is none."""
        return await _job(_open(info), decode(id, NodeKind.JOB))

    @strawberry.field(description="Jobs of a workspace that gave up, newest first. Takes the role admin.")
    async def dead_letters(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        first: int = 50,
        after: str | None = None,
        kinds: list[JobKind] | None = None,  # type: ignore[valid-type]
        codes: list[str] | None = None,
    ) -> Connection[Job]:
        """One page."""
        context = _open(info)
        authorise(context.principal, Action.SEE_DEAD_LETTERS)
        request = page_request(first, after)
        ref = await context.workspace(workspace_id)
        of: tuple[job_values.JobKind, ...] = tuple(kinds or ())
        wanted = [code for code in codes or () if is_storable(code)]
        if codes and not wanted:
            return connection(Page((), (), has_next=False), show_job)
        async with context.parts.database.transaction(ref.org_id) as transaction:
            page = await transaction.jobs.page(ref, request, [job_values.JobState.DEAD], of, wanted)
            return connection(page, show_job)

    @strawberry.field(description="Snapshots of a workspace, newest first. Takes the role admin.")
    async def snapshots(self, info: Info, workspace_id: strawberry.ID) -> list[Snapshot]:
        """All of them: retention keeps them few."""
        context = _open(info)
        authorise(context.principal, Action.TAKE_SNAPSHOT)
        ref = await context.workspace(workspace_id)
        async with context.parts.database.transaction(ref.org_id) as transaction:
            return [show_snapshot(it) for it in await transaction.snapshots.all(ref)]

    @strawberry.field(description="The embedding spaces of a workspace, oldest first.")
    async def embedding_spaces(self, info: Info, workspace_id: strawberry.ID) -> list[EmbeddingSpace]:
        """The one that answers, one that is being filled, and those that are kept for a while."""
        context = _open(info)
        ref = await context.workspace(workspace_id)
        await context.require_all_readable(ref)
        return [show_space(one) for one in await context.parts.switch_spaces.spaces(ref)]

    @strawberry.field(description="Anything by the id the API gave it.")
    async def node(self, info: Info, id: strawberry.ID) -> Node | None:
        """Null when there is none."""
        context = _open(info)
        found = decode(id, NodeKind.WORKSPACE, NodeKind.DOCUMENT, NodeKind.RUN, NodeKind.JOB)
        return await _FINDERS[found.kind](context, found)


def _open(info: Info) -> RequestContext:
    info.context.require_product_on()
    authorise(info.context.principal, Action.READ)
    return info.context


async def _workspace(context: RequestContext, node: NodeId) -> Workspace | None:
    async with context.parts.database.transaction(context.principal.org_id) as transaction:
        found = await transaction.workspaces.get(node.workspace_id)
    return show_workspace(found) if found else None


async def _document(context: RequestContext, node: NodeId) -> Document | None:
    found = await context.documents.load((node.workspace_id, node.key))
    return show_document(found) if found else None


async def _run(context: RequestContext, node: NodeId) -> Run | None:
    found = await context.parts.read_runs.get(context.principal, context.ref(node), node.key)
    return show_run(found) if found else None


async def _job(context: RequestContext, node: NodeId) -> Job | None:
    ref = context.ref(node)
    async with context.parts.database.transaction(ref.org_id) as transaction:
        found = await transaction.jobs.get(ref, node.key)
        if found is not None and found.document_id is not None and not may_manage_access(context.principal):
            hidden = await transaction.access.unreadable(ref, [found.document_id], read_identity(context.principal))
            found = None if hidden else found
    return show_job(found) if found else None


_FINDERS = {
    NodeKind.WORKSPACE: _workspace,
    NodeKind.DOCUMENT: _document,
    NodeKind.RUN: _run,
    NodeKind.JOB: _job,
}
