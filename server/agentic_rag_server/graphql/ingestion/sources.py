"""Sources that workspaces follow."""

from collections.abc import Mapping
from datetime import datetime

import strawberry

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.sources import source as sources
from agentic_rag.ingestion.sources.breaker import is_open
from agentic_rag.ingestion.sources.manage import SourceStatus
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag.kernel.secret import Secret
from agentic_rag.tenancy.access import parse_principals
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema

SourceKind = strawberry.enum(sources.SourceKind, description="What a source is.")


@strawberry.type(description="A file of a source that could not be read.")
class UnreadableFile:
    path: str
    code: str
    message: str


@strawberry.type(description="The files of a source by what the last synchronisation did with them.")
class SourceCounts:
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    in_progress: int = 0
    moved: int = 0
    hidden: int = 0
    returned: int = 0
    unreadable: int = 0
    done: int = strawberry.field(default=0, description="While one runs: files done, of `total`.")
    total: int = 0


@strawberry.type(description="The documents of a source by status.")
class SourceDocuments:
    ready: int
    pending: int
    failed: int


@strawberry.type(description="Something outside that a workspace follows: a folder, a repository, a bucket, a site.")
class Source:
    id: strawberry.ID
    workspace_id: strawberry.ID
    name: str
    kind: SourceKind  # type: ignore[valid-type]
    location: str
    prefix: str = strawberry.field(description="Begins the paths of its documents.")
    include: list[str]
    readable_by: list[str] = strawberry.field(
        description="Who reads its documents where the source names nobody; none: the whole workspace."
    )
    every_seconds: int = strawberry.field(description="How often it is looked at; 0: when asked.")
    internal: bool = strawberry.field(description="Whether it may reach files and addresses inside.")
    has_credential: bool = strawberry.field(description="The credential itself is never shown.")
    added_by: str
    leaving: bool = strawberry.field(description="Whether it is being removed.")
    failures: int = strawberry.field(description="Synchronisations that failed one after the other.")
    resting: bool = strawberry.field(description="Whether it failed so often that it is asked ever more rarely.")
    error_code: str | None
    error_message: str | None
    counts: SourceCounts
    unreadable: list[UnreadableFile] = strawberry.field(description="The first files that it could not read.")
    document_counts: SourceDocuments
    created_at: datetime
    started_at: datetime | None
    synced_at: datetime | None = strawberry.field(description="When it was last brought up to date.")
    next_at: datetime | None


@strawberry.input(description="A source to be followed.")
class AddSourceInput:
    workspace_id: strawberry.ID
    name: str
    kind: SourceKind  # type: ignore[valid-type]
    location: str = strawberry.field(
        description="DIRECTORY: a folder of the workers. GIT: an https address, or a repository of the workers. S3: a "
        "bucket, or BUCKET/PREFIX. SITEMAP: its address."
    )
    prefix: str | None = None
    include: list[str] = strawberry.field(default_factory=list[str], description="Patterns such as `*.md`; none: all.")
    readable_by: list[str] | None = strawberry.field(
        default=None, description="Principals such as `group:NAME`; none: the whole workspace."
    )
    every_seconds: int = sources.DEFAULT_EVERY_SECONDS
    branch: str | None = strawberry.field(default=None, description="GIT: a branch or tag; its default branch.")
    endpoint: str | None = strawberry.field(
        default=None, description="S3: a compatible store. Takes the role operator."
    )
    region: str | None = strawberry.field(default=None, description="S3: the region of the bucket.")
    credential: str | None = strawberry.field(
        default=None,
        description="GIT: a token or USER:TOKEN. S3: ACCESS_KEY:SECRET_KEY. Stored encrypted; send it as a variable.",
    )
    internal: bool = strawberry.field(
        default=False, description="It may reach files and addresses inside. Takes the role operator."
    )


@strawberry.type(description="The source, or why there is none.")
class SourcePayload(Payload):
    source: Source | None = None
    job_id: strawberry.ID | None = None


@strawberry.type(description="Whether the source goes; its documents follow.")
class RemoveSourcePayload(Payload):
    removed: bool = False


@strawberry.type
class SourceQuery:
    @field(
        Action.READ,
        Action.MANAGE_SOURCES,
        right=Sight.ORGANISATION,
        description="The sources that a workspace follows, by name. Takes the role admin.",
    )
    async def sources(self, info: Info, workspace_id: strawberry.ID) -> list[Source]:
        context = info.context
        workspace = await context.workspace(workspace_id)
        return [_show(one) for one in await context.parts.sources.all(workspace)]

    @field(
        Action.READ,
        Action.MANAGE_SOURCES,
        right=Sight.ORGANISATION,
        description="A source by its id. Takes the role admin.",
    )
    async def source(self, info: Info, id: strawberry.ID) -> Source | None:
        context, node = info.context, decode(id, NodeKind.SOURCE)
        found = await context.parts.sources.get(context.ref(node), node.key)
        return None if found is None else _show(found)


@strawberry.type
class SourceMutation:
    @mutation(
        Action.MANAGE_SOURCES,
        SourcePayload,
        right=Sight.ORGANISATION,
        description="Follow a source; its first synchronisation is queued. Takes the role admin, and operator for what "
        "reaches inside.",
    )
    async def add_source(self, info: Info, input: AddSourceInput) -> SourcePayload:
        context = info.context
        options = {"branch": input.branch, "endpoint": input.endpoint, "region": input.region}
        new = sources.NewSource(
            name=input.name,
            kind=input.kind,
            location=input.location,
            prefix=input.prefix,
            include=tuple(input.include),
            readable_by=parse_principals(input.readable_by or ()),
            every_seconds=input.every_seconds,
            options={name: value for name, value in options.items() if value is not None},
            is_internal=input.internal,
        )
        if new.is_internal:
            authorise(context.principal, Action.ADD_INTERNAL_SOURCE)
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        secret = None if input.credential is None else Secret(input.credential)
        added = await context.parts.sources.add(workspace, new, secret, context.principal.subject_id)
        found = await context.parts.sources.get(workspace, added.source_id)
        return SourcePayload(source=None if found is None else _show(found))

    @mutation(
        Action.MANAGE_SOURCES,
        SourcePayload,
        right=Sight.ORGANISATION,
        description="Look at a source now; failed documents are tried again. Takes the role admin.",
    )
    async def sync_source(self, info: Info, id: strawberry.ID, delete_missing: bool = False) -> SourcePayload:
        """`deleteMissing` goes on although most of its files are gone."""
        context, node = info.context, decode(id, NodeKind.SOURCE)
        workspace = context.ref(node)
        job = await context.parts.sources.sync(
            workspace, node.key, context.principal.subject_id, delete_missing=delete_missing
        )
        found = await context.parts.sources.get(workspace, node.key)
        return SourcePayload(
            source=None if found is None else _show(found),
            job_id=strawberry.ID(encode(NodeKind.JOB, workspace.workspace_id, job.job_id)),
        )

    @mutation(
        Action.MANAGE_SOURCES,
        RemoveSourcePayload,
        right=Sight.ORGANISATION,
        description="Stop following a source; its documents are hidden, and erased after the grace, or stay with "
        "`keepDocuments`. Takes the role admin.",
    )
    async def remove_source(self, info: Info, id: strawberry.ID, keep_documents: bool = False) -> RemoveSourcePayload:
        context, node = info.context, decode(id, NodeKind.SOURCE)
        await context.parts.sources.remove(
            context.ref(node), node.key, context.principal.subject_id, keep_documents=keep_documents
        )
        return RemoveSourcePayload(removed=True)


def show_counts(documents: Mapping[DocumentStatus, int]) -> SourceDocuments:
    """The documents of a source in the schema."""
    return SourceDocuments(
        ready=documents[DocumentStatus.READY],
        pending=documents[DocumentStatus.PENDING] + documents[DocumentStatus.PROCESSING],
        failed=documents[DocumentStatus.FAILED],
    )


def _show(status: SourceStatus) -> Source:
    source = status.source
    workspace_id, health = source.workspace.workspace_id, source.health
    return to_schema(
        Source,
        source,
        source.stated,
        health,
        id=encode(NodeKind.SOURCE, workspace_id, source.source_id),
        workspace_id=encode_workspace(workspace_id),
        prefix=source.prefix,
        include=list(source.stated.include),
        readable_by=list(source.stated.readable_by),
        internal=source.stated.is_internal,
        has_credential=source.sealed is not None,
        leaving=source.is_leaving,
        resting=is_open(health.failures),
        counts=SourceCounts(**health.counts),
        unreadable=[to_schema(UnreadableFile, one) for one in health.unreadable],
        document_counts=show_counts(status.documents),
    )
