"""Selects the workspace of a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from agentic_rag.kernel.errors import InvalidInput, NotFound

T = TypeVar("T")


def choose_workspace(known: Mapping[str, T], name: str | None) -> T:
    """The workspace of that name; without a name the only workspace.

    Errors: `NotFound` code WORKSPACE_NOT_FOUND, `InvalidInput` code WORKSPACE_AMBIGUOUS.
    """
    if name is not None and name in known:
        return known[name]
    if not known:
        raise NotFound(
            "There is no workspace yet: `rag ingest --source DIR --workspace NAME` makes one.",
            code="WORKSPACE_NOT_FOUND",
        )
    names = ", ".join(sorted(known))
    if name is not None:
        raise NotFound(f"There is no workspace {name!r}. There are: {names}.", code="WORKSPACE_NOT_FOUND")
    if len(known) > 1:
        raise InvalidInput(f"Say which workspace with --workspace; there are: {names}.", code="WORKSPACE_AMBIGUOUS")
    return next(iter(known.values()))
