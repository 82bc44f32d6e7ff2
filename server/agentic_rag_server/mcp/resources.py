"""Documents as resources: `rag://documents/ID`, listed page by page over every workspace that the address allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import DocumentRight, list_scope
from agentic_rag.documents.read_text import TextPart
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.mcp.tool import ToolCaller
from agentic_rag_server.mcp.tools.documents import read_document
from agentic_rag_server.mcp.workspaces import all_workspaces
from agentic_rag_server.parts import ServerParts

PREFIX = "rag://documents/"
TEMPLATE = f"{PREFIX}{{id}}"
SPAN_TEMPLATE = f"{PREFIX}{{id}}{{?start,end}}"
PAGE = 50

LIST_RULE = Rule((Action.READ,), DocumentRight.KNOW)
READ_RULE = Rule((Action.READ,), DocumentRight.READ)

_ADDRESS = re.compile(
    re.escape(PREFIX) + r"(?P<id>[A-Za-z0-9_=-]{1,64})(?:\?(?:start=(?P<start>\d{1,9}))?&?(?:end=(?P<end>\d{1,9}))?)?"
)


@dataclass(frozen=True, slots=True)
class ResourcePage:
    """A page of documents; `cursor` is None on the last one."""

    documents: tuple[Document, ...]
    cursor: str | None


def resource_uri(document: Document) -> str:
    """The address of a document as a resource."""
    return PREFIX + encode(NodeKind.DOCUMENT, document.workspace.workspace_id, document.document_id)


async def list_resources(parts: ServerParts, caller: ToolCaller, cursor: str | None) -> ResourcePage:
    """The documents that the caller may know of, workspace by workspace. Errors: `InvalidInput` code CURSOR_INVALID,
    `NotFound` code WORKSPACE_NOT_FOUND.
    """
    workspaces = sorted((one.ref for one in await all_workspaces(parts, caller)), key=lambda ref: ref.workspace_id.hex)
    first, after = _read_cursor(cursor)
    left = [ref for ref in workspaces if ref.workspace_id.hex >= first]
    found: list[Document] = []
    async with parts.database.transaction(caller.principal.org_id) as transaction:
        for place, ref in enumerate(left):
            start = after if ref.workspace_id.hex == first else None
            scope = await list_scope(transaction, caller.principal, ref)
            asked = PageRequest(PAGE - len(found), start)
            page = await transaction.documents.page(ref, asked, scope=scope)
            found += page.items
            if page.has_next:
                return ResourcePage(tuple(found), f"{ref.workspace_id.hex}.{page.cursors[-1]}")
            if len(found) == PAGE:
                return ResourcePage(tuple(found), _next_workspace([one.workspace_id for one in left[place + 1 :]]))
    return ResourcePage(tuple(found), None)


async def read_resource(parts: ServerParts, caller: ToolCaller, uri: str) -> tuple[Document, TextPart]:
    """A document and the part of its text that the address names. Errors: `NotFound` for what is no such address, those
    of `read_document` and of `ReadText`.
    """
    named = _ADDRESS.fullmatch(uri)
    if named is None:
        raise NotFound(f"There is no such resource; those of documents begin with {PREFIX}.", code="RESOURCE_NOT_FOUND")
    node, document = await read_document(parts, caller, named["id"])
    start, end = int(named["start"] or 0), named["end"]
    part = await parts.read_text.run(
        caller.principal, document.workspace, node.key, start, None if end is None else int(end)
    )
    return document, part


def _next_workspace(left: Sequence[UUID]) -> str | None:
    return f"{left[0].hex}." if left else None


def _read_cursor(cursor: str | None) -> tuple[str, str | None]:
    """The workspace to begin with, and the cursor in it. Errors: `InvalidInput`."""
    if cursor is None:
        return "", None
    workspace, _, after = cursor.partition(".")
    if re.fullmatch(r"[0-9a-f]{32}", workspace) is None:
        raise InvalidInput("Use a cursor that the page before gave.", code="CURSOR_INVALID", path=("cursor",))
    return workspace, after or None
