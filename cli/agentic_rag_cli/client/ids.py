"""Reads the ids and names that users type."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeKind, decode, encode

T = TypeVar("T")


LISTS: Mapping[NodeKind, str] = {
    NodeKind.API_KEY: "rag key list",
    NodeKind.DOCUMENT: "rag doc list",
    NodeKind.CHUNK: "rag doc chunks DOCUMENT",
    NodeKind.RUN: "rag run list",
    NodeKind.THREAD: "rag thread list",
    NodeKind.JOB: "rag job list",
    NodeKind.SAVED: "rag saved list",
    NodeKind.SNAPSHOT: "rag snapshot list",
    NodeKind.SOURCE: "rag source list",
}
"""The command that lists the ids of a kind."""

_NAMES = {NodeKind.API_KEY: "key", NodeKind.SAVED: "saved question"}


def require_id(text: str, kind: NodeKind) -> UUID:
    """The id in `text`. Errors: `InvalidInput` code INVALID_ID."""
    found = id_in(text, kind)
    if found is None:
        shown = f"`{LISTS[kind]}`" if kind in LISTS else "the list"
        name = _NAMES.get(kind, kind.name.lower())
        raise InvalidInput(f"{text!r} is not the id of a {name}: copy one from {shown}.", code="INVALID_ID")
    return found


def require_address(text: str) -> str:
    """The address of a server. Errors: `InvalidInput` code URL_INVALID."""
    try:
        parts = urlsplit(text)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and text.isprintable()
        parts.port  # noqa: B018 - raises for one that is none
    except ValueError:
        is_one = False
    if not is_one:
        raise InvalidInput(
            f"{text!r} is no address of a server: --url and AGENTIC_RAG_URL take one such as http://127.0.0.1:8080.",
            path=("url",),
            code="URL_INVALID",
        )
    return text


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


def node_id(workspace_id: str, text: str, kind: NodeKind) -> str | None:
    """The public id in `text`: a public id or the bare UUID of an object of the workspace; None for anything else."""
    key = id_in(text, kind)
    return None if key is None else encode(kind, decode(workspace_id).workspace_id, key)


def choose_workspace(names: Mapping[T, str], name: str | None, meant: Collection[T] = ()) -> T:
    """The id of the workspace of that name, else the only id that is `meant`, else the only workspace; `names` has the
    name of each.

    Errors: `NotFound` code WORKSPACE_NOT_FOUND, `InvalidInput` code WORKSPACE_AMBIGUOUS.
    """
    found = set(meant) if name is None else {one for one, known in names.items() if known == name}
    if len(found) == 1 and found <= names.keys():
        return found.pop()
    if not names:
        raise NotFound(
            "There is no workspace yet: `rag workspace create NAME` makes one, and `rag ingest DIR --workspace NAME`.",
            code="WORKSPACE_NOT_FOUND",
        )
    shown = _first(names.values())
    if name is not None:
        raise NotFound(
            f"There is no workspace {name!r}: `rag workspace create NAME` makes one. There are: {shown}.",
            code="WORKSPACE_NOT_FOUND",
        )
    if len(names) > 1:
        raise InvalidInput(f"Say which workspace with --workspace; there are: {shown}.", code="WORKSPACE_AMBIGUOUS")
    return next(iter(names))


_MOST_SHOWN = 12


def _first(names: Collection[str]) -> str:
    """Names in a sentence, not all of them where there are many."""
    more = f" and {len(names) - _MOST_SHOWN} more (`rag workspace list`)" if len(names) > _MOST_SHOWN else ""
    return ", ".join(sorted(names)[:_MOST_SHOWN]) + more


def choose_organisation(names: Mapping[str, tuple[str | None, str]], text: str) -> str:
    """The id of the organisation that has `text` as its id, else as its external id, else as its name; `names` has the
    latter two of each. An organisation chooses its name, which may be the id of another.

    Errors: `NotFound`.
    """
    if text in names:
        return text
    for nth in (0, 1):
        for org_id, called in names.items():
            if called[nth] == text:
                return org_id
    raise NotFound(f"There is no organisation {text!r}; `rag tenant list` shows them.")


def workspaces_in(things: Iterable[str]) -> set[UUID]:
    """The workspaces that the public ids name; other texts are ignored."""
    meant: set[UUID] = set()
    for thing in things:
        try:
            meant.add(decode(thing).workspace_id)
        except InvalidInput:
            continue
    return meant
