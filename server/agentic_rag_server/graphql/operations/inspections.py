"""What operators look at: the stores of a workspace against Postgres, its graph, its dense search, the schema."""

from collections.abc import Iterable

import strawberry

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.operations.graph.sync import GraphStatus as Status
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.erasure.erasures import Finding
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema
from agentic_rag_server.graphql.jobs.workers import is_worker_running


@strawberry.type(description="How many there are of a kind.")
class KindCount:
    kind: str
    count: int


@strawberry.type(description="What the stores of a workspace hold beside Postgres.")
class Verification:
    failed: bool = strawberry.field(description="Whether a finding is an error.")
    documents: int
    chunks: int
    derived_chunks: int = strawberry.field(description="Chunks whose terms and entities were computed anew.")
    originals: int
    settling: list[KindCount] = strawberry.field(description="Unfinished jobs; look again when they have ended.")
    counts: list[KindCount] = strawberry.field(description="All findings by kind.")
    findings: list[Finding] = strawberry.field(description="The first of each kind.")


@strawberry.type(description="Dense search against exact search, on questions made from the workspace's own passages.")
class DenseRecall:
    space: str
    passages: int
    questions: int
    recall: float = strawberry.field(description="The share found of what the arm hands on.")
    recall_at_10: float
    exact_ms: float
    searched_ms: float
    is_enough: bool = strawberry.field(description="Whether 95 % are found.")


@strawberry.type(description="The size of an entity graph.")
class GraphSize:
    sources: int
    chunks: int
    entities: int
    mentions: int
    related: int


@strawberry.type(description="Where the entity graph of a workspace stands beside Postgres.")
class GraphStatus:
    store: str = strawberry.field(description="`postgres`, or `neo4j`, which follows it.")
    corpus_version: int
    graph_version: int
    lag: int = strawberry.field(description="Corpus versions that the graph is behind.")
    equal: bool
    expected: GraphSize
    held: GraphSize | None = strawberry.field(description="Null where Neo4j does not answer, and for Postgres.")
    fault: str | None


@strawberry.type(description="Where the schema of the server's database stands.")
class SchemaStatus:
    current: str | None
    head: str
    pending: list[str]


@strawberry.type(description="The job that fills the graph; null where the graph is kept in Postgres.")
class RebuildGraphPayload(Payload):
    job_id: strawberry.ID | None = None
    worker_running: bool = False


@strawberry.type
class InspectionQuery:
    @field(
        Action.INSPECT_STORES,
        right=Sight.ORGANISATION,
        description="Compare all stores of a workspace with Postgres; `full` computes every chunk and hashes every "
        "original anew, which takes minutes on a large one. Takes the role operator.",
    )
    async def verification(self, info: Info, workspace_id: strawberry.ID, full: bool = False) -> Verification:
        context = info.context
        report = await context.parts.verify.run(await context.workspace(workspace_id), full=full)
        return to_schema(
            Verification,
            report,
            failed=report.has_errors,
            settling=_counts(report.settling),
            counts=_counts(report.counts),
            findings=list(report.findings),
        )

    @field(
        Action.INSPECT_STORES,
        right=Sight.ORGANISATION,
        description="Measure the dense search of a workspace against exact search. Takes the role operator.",
    )
    async def dense_recall(self, info: Info, workspace_id: strawberry.ID) -> DenseRecall:
        context = info.context
        return to_schema(DenseRecall, await context.parts.recall_check.run(await context.workspace(workspace_id)))

    @field(
        Action.INSPECT_STORES,
        right=Sight.ORGANISATION,
        description="Where the entity graph of a workspace stands. Takes the role operator.",
    )
    async def graph_status(self, info: Info, workspace_id: strawberry.ID) -> GraphStatus:
        context = info.context
        status = await context.parts.graph_sync.status(await context.workspace(workspace_id))
        return to_schema(GraphStatus, status, store=_store(status), equal=status.is_equal)

    @field(
        Action.SEE_FIGURES,
        right=Sight.ORGANISATION,
        description="The revision of the server's database and the migrations that wait. Takes the role operator.",
    )
    async def schema_status(self, info: Info) -> SchemaStatus:
        found = await info.context.parts.schema_status()
        return to_schema(SchemaStatus, found, pending=list(found.pending))


@strawberry.type
class InspectionMutation:
    @mutation(
        Action.INSPECT_STORES,
        RebuildGraphPayload,
        right=Sight.ORGANISATION,
        description="Empty the graph of a workspace in Neo4j and fill it again from Postgres, by a job; answers go on "
        "without it, flagged. Takes the role operator.",
    )
    async def rebuild_graph(self, info: Info, workspace_id: strawberry.ID) -> RebuildGraphPayload:
        """Without a graph outside Postgres there is nothing to do."""
        context = info.context
        workspace = await context.workspace(workspace_id)
        job = await context.parts.graph_sync.rebuild(workspace, context.principal.subject_id)
        job_id = None if job is None else strawberry.ID(encode(NodeKind.JOB, workspace.workspace_id, job.job_id))
        return RebuildGraphPayload(job_id=job_id, worker_running=await is_worker_running(context.parts))


def _counts(found: Iterable[tuple[str, int]]) -> list[KindCount]:
    return [KindCount(kind=kind, count=count) for kind, count in found]


def _store(status: Status) -> str:
    return "neo4j" if status.is_outside else "postgres"
