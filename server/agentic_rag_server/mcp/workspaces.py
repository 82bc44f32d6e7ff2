"""Which workspaces a tool reads: that of the endpoint's address, else the one that it names, else those there are."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.text import is_storable
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_server.mcp.tool import ToolCaller
from agentic_rag_server.parts import ServerParts

MAX_SEARCHED = 8
"""Workspaces that one search goes through."""

_SHOWN = 20
"""Names that a refusal lists."""

WorkspaceName = Annotated[
    str, Meta(description="The name of a workspace; may be left out where the organisation has only one.")
]


async def all_workspaces(parts: ServerParts, caller: ToolCaller, named: str | None = None) -> list[Workspace]:
    """The workspace that is named, else all of the organisation, by name. Where the address names one, every other is
    not there. Errors: `NotFound` code WORKSPACE_NOT_FOUND.
    """
    name = named or caller.workspace
    if caller.workspace is not None and name != caller.workspace:
        raise _unknown()
    async with parts.database.transaction(caller.principal.org_id) as transaction:
        if name is None:
            return await transaction.workspaces.all()
        found = await transaction.workspaces.by_name(name) if is_storable(name) else None
    if found is None:
        raise _unknown()
    return [found]


async def one_workspace(parts: ServerParts, caller: ToolCaller, named: str | None) -> Workspace:
    """The workspace that is named, else the only one. Errors: also `InvalidInput` code WORKSPACE_UNNAMED."""
    found = await all_workspaces(parts, caller, named)
    if len(found) != 1:
        raise _unnamed(found)
    return found[0]


async def searched_workspaces(parts: ServerParts, caller: ToolCaller) -> list[Workspace]:
    """Those that a search without a name goes through, as `one_workspace` where they are too many."""
    found = await all_workspaces(parts, caller)
    if len(found) > MAX_SEARCHED:
        raise _unnamed(found)
    return found


def _unknown() -> NotFound:
    return NotFound("There is no workspace of this name.", code="WORKSPACE_NOT_FOUND")


def _unnamed(known: list[Workspace]) -> InvalidInput:
    names = ", ".join(one.name for one in known[:_SHOWN]) or "none"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return InvalidInput(
        f"Say which workspace: by the argument `workspace`, or in the address as /mcp?workspace=NAME. There are: "
        f"{names}{more}.",
        code="WORKSPACE_UNNAMED",
        path=("workspace",),
    )
