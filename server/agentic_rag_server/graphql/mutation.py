"""The root type `Mutation`: the mutations of every room."""

import strawberry

from agentic_rag_server.graphql.answering.answers import AnswerMutation
from agentic_rag_server.graphql.answering.feedback import FeedbackMutation
from agentic_rag_server.graphql.answering.kept.saved import SavedMutation
from agentic_rag_server.graphql.answering.kept.threads import ThreadMutation
from agentic_rag_server.graphql.answering.replays import ReplayMutation
from agentic_rag_server.graphql.answering.stream import CancelRunMutation
from agentic_rag_server.graphql.documents.documents import DocumentMutation
from agentic_rag_server.graphql.documents.updates import UpdateMutation
from agentic_rag_server.graphql.documents.uploads import UploadMutation
from agentic_rag_server.graphql.erasure.workspace_erasures import WorkspaceErasureMutation
from agentic_rag_server.graphql.ingestion.pushes import PushMutation
from agentic_rag_server.graphql.ingestion.sources import SourceMutation
from agentic_rag_server.graphql.ingestion.web import WebMutation
from agentic_rag_server.graphql.jobs.jobs import JobMutation
from agentic_rag_server.graphql.jobs.live import CancelJobMutation
from agentic_rag_server.graphql.jobs.undecodable import UndecodableMutation
from agentic_rag_server.graphql.models.models import ModelMutation
from agentic_rag_server.graphql.models.provider_keys import ProviderKeyMutation
from agentic_rag_server.graphql.models.similarity import SimilarityMutation
from agentic_rag_server.graphql.models.spaces import SpaceMutation
from agentic_rag_server.graphql.models.spending import SpendingMutation
from agentic_rag_server.graphql.operations.evaluations import EvaluationMutation
from agentic_rag_server.graphql.operations.inspections import InspectionMutation
from agentic_rag_server.graphql.operations.snapshots import SnapshotMutation
from agentic_rag_server.graphql.tenancy.tenants import TenantMutation
from agentic_rag_server.graphql.workspaces.calibrations import CalibrationMutation
from agentic_rag_server.graphql.workspaces.context_templates import ContextTemplateMutation
from agentic_rag_server.graphql.workspaces.organisations import OrganisationMutation
from agentic_rag_server.graphql.workspaces.rate_limits import RateLimitMutation
from agentic_rag_server.graphql.workspaces.workspaces import WorkspaceMutation


@strawberry.type
class Mutation(
    AnswerMutation,
    CancelRunMutation,
    FeedbackMutation,
    ReplayMutation,
    ThreadMutation,
    SavedMutation,
    UploadMutation,
    DocumentMutation,
    UpdateMutation,
    SourceMutation,
    WebMutation,
    PushMutation,
    JobMutation,
    CancelJobMutation,
    WorkspaceMutation,
    WorkspaceErasureMutation,
    ContextTemplateMutation,
    OrganisationMutation,
    RateLimitMutation,
    ModelMutation,
    ProviderKeyMutation,
    SpaceMutation,
    SimilarityMutation,
    SpendingMutation,
    EvaluationMutation,
    CalibrationMutation,
    SnapshotMutation,
    InspectionMutation,
    TenantMutation,
    UndecodableMutation,
):
    """Each mutation returns what changed, or `userErrors`."""
