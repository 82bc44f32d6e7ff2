"""Sources whose files a client sends: what it has, and then each file that is awaited."""

from collections.abc import Mapping
from typing import Any, cast

import orjson
import strawberry

from agentic_rag.ingestion.ports import SourceItem
from agentic_rag.ingestion.sources import source as sources
from agentic_rag.ingestion.sources.pushed import ListedSource, list_file, validate_pushed_name
from agentic_rag.ingestion.sync import SyncOptions, SyncResult
from agentic_rag.ingestion.upload import limit_size
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.access import parse_principals
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.documents.metadata import DocumentMetadataInput, read_change
from agentic_rag_server.graphql.documents.uploads import UploadedFile
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema
from agentic_rag_server.graphql.ingestion.sources import SourceDocuments, UnreadableFile, show_counts


@strawberry.input(description="A source whose files a client sends.")
class PushedSourceInput:
    workspace_id: strawberry.ID
    source: str = strawberry.field(
        description="`directory:PATH` or `project:NAME/PATH`. The same name is the same source: what it no longer "
        "lists is gone."
    )
    readable_by: list[str] | None = strawberry.field(
        default=None, description="Principals such as `group:NAME`, who read what is new; none: the whole workspace."
    )
    leave_others: bool = strawberry.field(
        default=False,
        description="Leave documents alone that another source, or an upload, brought to the same path, and report "
        "them.",
    )
    formerly: list[str] = strawberry.field(
        default_factory=list,
        description="Names that the source had before: documents of files that are listed become this source's.",
    )


@strawberry.type(description="What became of the files of a source, by their paths.")
class PushPayload(Payload):
    awaited: list[str] = strawberry.field(
        default_factory=list[str],
        description="Files to be sent with `pushFile`, and the listing once more after them: until then nothing is "
        "hidden.",
    )
    new: list[str] = strawberry.field(default_factory=list[str])
    changed: list[str] = strawberry.field(default_factory=list[str])
    unchanged: int = 0
    in_progress: int = 0
    moved: list[str] = strawberry.field(default_factory=list[str], description="They keep their documents.")
    hidden: list[str] = strawberry.field(default_factory=list[str], description="Erased after the grace.")
    returned: list[str] = strawberry.field(default_factory=list[str])
    deleted: list[str] = strawberry.field(default_factory=list[str])
    unreadable: list[UnreadableFile] = strawberry.field(default_factory=list[UnreadableFile])
    waiting_for: list[strawberry.ID] = strawberry.field(
        default_factory=list[strawberry.ID], description="The documents that are being ingested."
    )


@strawberry.type
class PushQuery:
    @field(
        Action.READ,
        Action.MANAGE_SOURCES,
        right=Sight.ORGANISATION,
        description="The names of the sources whose files clients sent, and which brought documents that are there. "
        "Takes the role admin.",
    )
    async def pushed_sources(self, info: Info, workspace_id: strawberry.ID) -> list[str]:
        context = info.context
        return await context.parts.push_source.names(await context.workspace(workspace_id))

    @field(
        Action.READ,
        Action.MANAGE_SOURCES,
        right=Sight.ORGANISATION,
        description="The documents of a source whose files a client sends, by status. Takes the role admin.",
    )
    async def pushed_documents(self, info: Info, workspace_id: strawberry.ID, source: str) -> SourceDocuments:
        context = info.context
        workspace = await context.workspace(workspace_id)
        return show_counts(await context.parts.push_source.documents(workspace, validate_pushed_name(source)))


@strawberry.type
class PushMutation:
    @mutation(
        Action.MANAGE_SOURCES,
        PushPayload,
        right=Sight.ORGANISATION,
        description="Say all that a source has, as a file with a JSON object in each line: `path`, `sha256`, `size`, "
        "and `readableBy` where the source names readers; or `path`, `code` and `message` of what cannot be "
        "read. What moved is renamed, what is not stored is awaited. Takes the role admin.",
    )
    async def push_listing(
        self,
        info: Info,
        input: PushedSourceInput,
        file: UploadedFile,
        metadata: DocumentMetadataInput | None = None,
        delete_missing: bool = False,
        dry_run: bool = False,
    ) -> PushPayload:
        """`metadata` is said of every file. `deleteMissing` goes on although most files are gone; `dryRun` changes
        nothing.
        """
        context, push = info.context, info.context.parts.push_source
        options = SyncOptions(
            dry_run=dry_run,
            delete_missing=delete_missing,
            readable_by=parse_principals(input.readable_by or ()),
            keeps_off=input.leave_others,
            metadata=read_change(metadata, ("metadata",)),
            formerly=tuple(validate_pushed_name(one) for one in input.formerly),
        )
        name = validate_pushed_name(input.source)
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        text = b"".join([piece async for piece in limit_size(file.content, push.max_bytes)])
        result = await push.compare(workspace, _read_listing(name, text), options, context.principal.subject_id)
        return _show(workspace, result)

    @mutation(
        Action.MANAGE_SOURCES,
        PushPayload,
        right=Sight.ORGANISATION,
        description="Send one file of a source. The same bytes again change nothing. Takes the role admin.",
    )
    async def push_file(
        self,
        info: Info,
        input: PushedSourceInput,
        path: str,
        file: UploadedFile,
        named_readers: list[str] | None = None,
    ) -> PushPayload:
        """`namedReaders` are the principals that the source itself names for the file."""
        context = info.context
        options = SyncOptions(readable_by=parse_principals(input.readable_by or ()), keeps_off=input.leave_others)
        named = None if named_readers is None else parse_principals(named_readers)
        name = validate_pushed_name(input.source)
        workspace = await context.workspace(input.workspace_id, ("input", "workspaceId"))
        result = await context.parts.push_source.take(
            workspace, name, path, file.content, options, context.principal.subject_id, named
        )
        return _show(workspace, result)


def _read_listing(source: str, text: bytes) -> ListedSource:
    """Errors: `InvalidInput` codes SOURCE_INVALID and SOURCE_TOO_MANY_ITEMS."""
    items: list[SourceItem] = []
    unreadable: list[sources.UnreadableItem] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            entry = _read_line(orjson.loads(line))
        except (ValueError, TypeError, KeyError) as wrong:
            raise InvalidInput(
                f"Line {number} of the listing is no JSON object with `path`, `sha256` and `size`, nor one with "
                "`path`, `code` and `message`.",
                code="SOURCE_INVALID",
                path=("file",),
            ) from wrong
        if isinstance(entry, SourceItem):
            items.append(entry)
        else:
            unreadable.append(entry)
    return ListedSource(source, items, unreadable)


def _read_line(given: Any) -> SourceItem | sources.UnreadableItem:
    """Errors: `InvalidInput`; `ValueError`, `TypeError` and `KeyError` for anything else than a line."""
    told = cast("Mapping[str, Any]", given)
    if "code" in told:
        return sources.UnreadableItem(*(_text(told[name]) for name in ("path", "code", "message")))
    readers = told.get("readableBy")
    named = None if readers is None else parse_principals([_text(one) for one in readers])
    return list_file(_text(told["path"]), bytes.fromhex(told["sha256"]), int(told["size"]), named)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


def _show(workspace: WorkspaceRef, result: SyncResult) -> PushPayload:
    waiting = [strawberry.ID(encode(NodeKind.DOCUMENT, workspace.workspace_id, one)) for one in result.waiting_for]
    return to_schema(
        PushPayload,
        result,
        user_errors=[],
        unreadable=[to_schema(UnreadableFile, one) for one in result.unreadable],
        waiting_for=waiting,
    )
