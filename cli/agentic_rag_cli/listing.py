"""Reading lists to their end or a limit, and finding one thing by what a person typed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.pagination import MAX_PAGE, Page, PageRequest
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_cli.choice import choose_workspace
from agentic_rag_cli.session import Session

T = TypeVar("T")


async def collect(fetch: Callable[[PageRequest], Awaitable[Page[T]]], limit: int | None = None) -> list[T]:
    """Pages one after the other, at most `limit` items."""
    items: list[T] = []
    after: str | None = None
    while limit is None or len(items) < limit:
        wanted = MAX_PAGE if limit is None else min(MAX_PAGE, limit - len(items))
        page = await fetch(PageRequest(wanted, after))
        items.extend(page.items)
        if not page.has_next:
            break
        after = page.cursors[-1]
    return items


async def the_workspace(session: Session, name: str | None, *things: str) -> Workspace:
    """The workspace of that name, else the one that the public ids among `things` belong to, else the only one.

    Errors: see `choose_workspace`.
    """
    every = await session.workspaces()
    if name is None:
        meant = _workspaces_in(things)
        named = [one for one in every if one.ref.workspace_id in meant]
        if len(meant) == len(named) == 1:
            return named[0]
    return choose_workspace({one.name: one for one in every}, name)


def _workspaces_in(things: Iterable[str]) -> set[UUID]:
    """The workspaces that public ids name; other spellings name none."""
    meant: set[UUID] = set()
    for thing in things:
        try:
            meant.add(decode(thing).workspace_id)
        except InvalidInput:
            continue
    return meant


async def the_document(session: Session, workspace: WorkspaceRef, wanted: str) -> Document:
    """A document by id or source path. Errors: `NotFound` code DOCUMENT_NOT_FOUND."""
    document_id = id_in(wanted, NodeKind.DOCUMENT)
    if document_id is not None:
        found = await session.document(workspace, document_id)
    else:
        every = await collect(lambda request: session.documents(workspace, request))
        found = next((one for one in every if one.source_path == wanted), None)
    if found is None:
        raise NotFound(f"There is no document {wanted!r}; `rag doc list` shows them.", code="DOCUMENT_NOT_FOUND")
    return found


def require_id(text: str, kind: NodeKind) -> UUID:
    """The id in what was typed. Errors: `InvalidInput` code INVALID_ID."""
    found = id_in(text, kind)
    if found is None:
        raise InvalidInput(f"{text!r} is no id of a {kind.name.lower()}: copy one from the list.", code="INVALID_ID")
    return found


def id_in(text: str, kind: NodeKind) -> UUID | None:
    """The key in a public id or a bare UUID; None for anything else."""
    try:
        return UUID(text)
    except ValueError:
        pass
    try:
        return decode(text, kind).key
    except InvalidInput:
        return None
