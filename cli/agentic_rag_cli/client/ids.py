"""Parses ids that users type."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode


def require_id(text: str, kind: NodeKind) -> UUID:
    """The id in `text`. Errors: `InvalidInput` code INVALID_ID."""
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


def workspaces_in(things: Iterable[str]) -> set[UUID]:
    """The workspaces that the public ids name; other texts are ignored."""
    meant: set[UUID] = set()
    for thing in things:
        try:
            meant.add(decode(thing).workspace_id)
        except InvalidInput:
            continue
    return meant
