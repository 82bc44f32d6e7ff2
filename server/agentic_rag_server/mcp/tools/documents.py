"""Tools that read documents: `fetch`, `list_documents`, `document_outline`, `document_section`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from agentic_rag.documents.document import Document, DocumentFilter, DocumentStatus, TextLayout
from agentic_rag.documents.document_access import DocumentRight, list_scope
from agentic_rag.documents.read_text import MAX_CHARACTERS, TextPart
from agentic_rag.documents.unread_pages import RECOGNISED_PROVENANCE, read_recognised_pages
from agentic_rag.kernel.errors import InvalidInput, no_such_document
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode
from agentic_rag_server.document_filters import narrow
from agentic_rag_server.mcp.tool import Arguments, ToolCaller
from agentic_rag_server.mcp.workspaces import WorkspaceName, one_workspace
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.documents.text import Page, text_address
from agentic_rag_server.rest.http.filters import Where
from agentic_rag_server.rest.http.models import Instant, Model, instant

DocumentId = Annotated[str, Meta(description="The id of a document, as `search` and `list_documents` give it.")]
Place = Annotated[int, Meta(ge=0, description="Code points of the document's text.")]


class FetchArguments(Arguments, frozen=True):
    """The one argument that chat connectors send."""

    id: DocumentId


class FetchedDocument(Model, frozen=True):
    """A document with its text."""

    id: str
    title: str
    text: str
    url: Annotated[str, Meta(description="Opens the text.")]
    metadata: Annotated[
        dict[str, str],
        Meta(
            description="Path, media type and length. `truncated` is `true` where `document_section` has the rest, "
            "`recognised` where words of the text were recognised in pictures (OCR), maybe wrongly."
        ),
    ]


class ListArguments(Arguments, frozen=True):
    """A page of a workspace's documents."""

    workspace: WorkspaceName | None = None
    where: Where | None = None
    first: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 50
    after: Annotated[str, Meta(description="`nextCursor` of the page before.")] | None = None


class ListedDocument(Model, frozen=True):
    """A document; one that is not READY has no text yet, or that of an earlier version."""

    id: str
    title: str
    file_path: str
    media_type: str
    status: DocumentStatus
    url: str
    updated_at: Instant


class DocumentList(Model, frozen=True):
    """Documents by path."""

    documents: list[ListedDocument]
    next_cursor: str | None


class OutlineArguments(Arguments, frozen=True):
    """A document."""

    id: DocumentId


class OutlineSection(Model, frozen=True):
    """A section: its headings, from the outermost on, and its place."""

    section: Annotated[int, Meta(description="For `document_section`.")]
    heading_path: list[str]
    start: Place
    end: Place


class DocumentOutline(Model, frozen=True):
    """How a document is divided."""

    id: str
    title: str
    characters: int
    corpus_version: int
    sections: list[OutlineSection]
    pages: list[Page]


class SectionArguments(Arguments, frozen=True):
    """A part of a document: a section by its number, or a span."""

    id: DocumentId
    section: Annotated[int, Meta(ge=1, description="As `document_outline` numbers them.")] | None = None
    start: Place | None = None
    end: Place | None = None


class DocumentSection(Model, frozen=True):
    """A part of a document's text."""

    id: str
    title: str
    heading_path: list[str]
    text: str
    start: Place
    end: Place
    characters: Annotated[int, Meta(description="Of the whole document.")]
    truncated: Annotated[bool, Meta(description="Whether what was asked for goes on behind `end`.")]
    recognised: Annotated[bool, Meta(description="Words of it were recognised in a picture (OCR), maybe wrongly.")]
    url: str


async def fetch(parts: ServerParts, caller: ToolCaller, given: FetchArguments) -> FetchedDocument:
    """The text of a document, at most `MAX_CHARACTERS` of it. Errors: those of `read_document`."""
    node, document = await read_document(parts, caller, given.id)
    part = await parts.read_text.run(caller.principal, document.workspace, node.key)
    characters = part.layout.characters
    return FetchedDocument(
        id=given.id,
        title=document.title,
        text=part.text,
        url=document_address(caller, document, part),
        metadata={
            "source_path": document.source_path,
            "media_type": document.media_type,
            "characters": str(characters),
            "truncated": str(part.end < characters).lower(),
            "recognised": str(_is_recognised(document, part)).lower(),
            "corpus_version": str(part.corpus_version),
        },
    )


async def list_documents(parts: ServerParts, caller: ToolCaller, given: ListArguments) -> DocumentList:
    """A page of the documents that the caller may know of. Errors: those of `one_workspace`, `InvalidInput`."""
    workspace = (await one_workspace(parts, caller, given.workspace)).ref
    wanted = narrow(DocumentFilter(), given.where, workspace)
    async with parts.database.transaction(workspace.org_id) as transaction:
        scope = await list_scope(transaction, caller.principal, workspace)
        request = PageRequest(given.first, given.after)
        page = await transaction.documents.page(workspace, request, scope=scope, wanted=wanted)
    return DocumentList([_show_listed(caller, one) for one in page.items], page.cursors[-1] if page.has_next else None)


async def document_outline(parts: ServerParts, caller: ToolCaller, given: OutlineArguments) -> DocumentOutline:
    """The sections and pages of a document. Errors: those of `read_document`."""
    node, document = await read_document(parts, caller, given.id)
    part = await parts.read_text.run(caller.principal, document.workspace, node.key, 0, 0)
    return DocumentOutline(
        id=given.id,
        title=document.title,
        characters=part.layout.characters,
        corpus_version=part.corpus_version,
        sections=_sections(part.layout),
        pages=[Page(number=one.number, start=one.start, end=one.end) for one in part.layout.pages],
    )


async def document_section(parts: ServerParts, caller: ToolCaller, given: SectionArguments) -> DocumentSection:
    """A section or span of a document. Errors: those of `read_document`, `InvalidInput` code OPTION_OUT_OF_RANGE."""
    node, document = await read_document(parts, caller, given.id)
    headings: list[str] = []
    start, end = given.start or 0, given.end
    if given.section is not None:
        layout = (await parts.read_text.run(caller.principal, document.workspace, node.key, 0, 0)).layout
        sections = _sections(layout)
        if given.section > len(sections):
            raise InvalidInput(
                f"The document has {len(sections)} sections; `document_outline` lists them.",
                code="OPTION_OUT_OF_RANGE",
                path=("section",),
            )
        chosen = sections[given.section - 1]
        headings, start, end = chosen.heading_path, chosen.start, chosen.end
    part = await parts.read_text.run(caller.principal, document.workspace, node.key, start, end)
    characters = part.layout.characters
    return DocumentSection(
        id=given.id,
        title=document.title,
        heading_path=headings,
        text=part.text,
        start=part.start,
        end=part.end,
        characters=characters,
        truncated=part.end < min(characters, characters if end is None else end),
        recognised=_is_recognised(document, part),
        url=document_address(caller, document, part),
    )


def _is_recognised(document: Document, part: TextPart) -> bool:
    """Whether the part lies on a page whose words were recognised in a picture of it."""
    kept = read_recognised_pages(document.provenance.get(RECOGNISED_PROVENANCE))
    touched = (page.number for page in part.layout.pages if page.start < part.end and part.start < page.end)
    return kept is not None and any(kept.holds_any(number, number) for number in touched)


async def read_document(parts: ServerParts, caller: ToolCaller, public_id: str) -> tuple[NodeId, Document]:
    """A document that the caller may read. Errors: `InvalidInput` code INVALID_ID, those of `DocumentAccess` and, where
    the address names a workspace, of `one_workspace`.
    """
    node = decode(public_id, NodeKind.DOCUMENT)
    ref = caller.ref(node)
    if caller.workspace is not None and (await one_workspace(parts, caller, None)).ref != ref:
        raise no_such_document()
    await parts.document_access.require(caller.principal, ref, node.key, DocumentRight.READ)
    async with parts.database.transaction(ref.org_id) as transaction:
        document = await transaction.documents.get(ref, node.key)
    if document is None:
        raise no_such_document()
    return node, document


def document_address(caller: ToolCaller, document: Document, part: TextPart | None = None) -> str:
    """Where a document opens, at a part of it."""
    key = document.workspace.workspace_id, document.document_id
    start, end = (0, MAX_CHARACTERS) if part is None else (part.start, part.end)
    return document.url or text_address(caller.base_url, *key, start, end)


def _sections(layout: TextLayout) -> list[OutlineSection]:
    ends = [one.start for one in layout.outline[1:]] + [layout.characters]
    return [
        OutlineSection(section=number, heading_path=list(one.heading_path), start=one.start, end=end)
        for number, (one, end) in enumerate(zip(layout.outline, ends, strict=False), start=1)
    ]


def _show_listed(caller: ToolCaller, document: Document) -> ListedDocument:
    return ListedDocument(
        id=encode(NodeKind.DOCUMENT, document.workspace.workspace_id, document.document_id),
        title=document.title,
        file_path=document.source_path,
        media_type=document.media_type,
        status=document.status,
        url=document_address(caller, document),
        updated_at=instant(document.updated_at),
    )
