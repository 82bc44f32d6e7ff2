"""The root type `Query`: the reads of every room, and `node`, which finds any object by its id."""

import strawberry

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.answering.answers import AnswerQuery
from agentic_rag_server.graphql.answering.estimates import EstimateQuery
from agentic_rag_server.graphql.answering.explanations import ExplanationQuery
from agentic_rag_server.graphql.answering.gate_evaluation import GateEvaluationQuery
from agentic_rag_server.graphql.answering.gate_reports import GateQuery
from agentic_rag_server.graphql.answering.kept.saved import SavedQuery
from agentic_rag_server.graphql.answering.kept.threads import ThreadQuery
from agentic_rag_server.graphql.answering.passages import PassageQuery
from agentic_rag_server.graphql.answering.prompt_context import ContextQuery
from agentic_rag_server.graphql.answering.replays import ReplayQuery
from agentic_rag_server.graphql.answering.runs import RunQuery, find_run
from agentic_rag_server.graphql.documents.chunks import ChunkQuery
from agentic_rag_server.graphql.documents.documents import find_document
from agentic_rag_server.graphql.documents.entities import EntityQuery
from agentic_rag_server.graphql.documents.listing import DocumentQuery
from agentic_rag_server.graphql.erasure.erasures import ErasureQuery
from agentic_rag_server.graphql.erasure.workspace_erasures import WorkspaceErasureQuery
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Node, field
from agentic_rag_server.graphql.ingestion.pushes import PushQuery
from agentic_rag_server.graphql.ingestion.sources import SourceQuery
from agentic_rag_server.graphql.ingestion.web import WebQuery
from agentic_rag_server.graphql.jobs.jobs import JobQuery, find_job
from agentic_rag_server.graphql.jobs.undecodable import UndecodableQuery
from agentic_rag_server.graphql.jobs.workers import WorkerQuery
from agentic_rag_server.graphql.models.models import ModelQuery
from agentic_rag_server.graphql.models.provider_keys import ProviderKeyQuery
from agentic_rag_server.graphql.models.spaces import SpaceQuery
from agentic_rag_server.graphql.models.spending import SpendingQuery
from agentic_rag_server.graphql.operations.evaluations import EvaluationQuery
from agentic_rag_server.graphql.operations.inspections import InspectionQuery
from agentic_rag_server.graphql.operations.profiles import ProfileQuery
from agentic_rag_server.graphql.operations.proofs import ProofQuery
from agentic_rag_server.graphql.operations.snapshots import SnapshotQuery
from agentic_rag_server.graphql.tenancy.audit import AuditQuery
from agentic_rag_server.graphql.tenancy.callers import CallerQuery
from agentic_rag_server.graphql.tenancy.tenants import TenantQuery
from agentic_rag_server.graphql.workspaces.context_templates import ContextTemplateQuery
from agentic_rag_server.graphql.workspaces.organisations import OrganisationQuery
from agentic_rag_server.graphql.workspaces.rate_limits import RateLimitQuery
from agentic_rag_server.graphql.workspaces.workspaces import WorkspaceQuery, find_workspace

_FINDERS = {
    NodeKind.WORKSPACE: find_workspace,
    NodeKind.DOCUMENT: find_document,
    NodeKind.RUN: find_run,
    NodeKind.JOB: find_job,
}


@strawberry.type
class Query(
    AnswerQuery,
    EstimateQuery,
    RunQuery,
    ThreadQuery,
    SavedQuery,
    ExplanationQuery,
    ReplayQuery,
    ProofQuery,
    GateQuery,
    GateEvaluationQuery,
    PassageQuery,
    EntityQuery,
    ContextQuery,
    ContextTemplateQuery,
    DocumentQuery,
    ErasureQuery,
    SourceQuery,
    WebQuery,
    PushQuery,
    ChunkQuery,
    JobQuery,
    WorkerQuery,
    WorkspaceQuery,
    WorkspaceErasureQuery,
    OrganisationQuery,
    RateLimitQuery,
    ModelQuery,
    ProviderKeyQuery,
    SpaceQuery,
    SpendingQuery,
    EvaluationQuery,
    SnapshotQuery,
    AuditQuery,
    CallerQuery,
    InspectionQuery,
    ProfileQuery,
    TenantQuery,
    UndecodableQuery,
):
    """A single object that does not exist, or that the caller may not see, is null."""

    @field(Action.READ, right=DocumentRight.KNOW, description="Anything by the id the API gave it.")
    async def node(self, info: Info, id: strawberry.ID) -> Node | None:
        node = decode(id, *_FINDERS)
        return await _FINDERS[node.kind](info.context, node)
