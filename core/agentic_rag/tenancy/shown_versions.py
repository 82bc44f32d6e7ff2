"""Corpus versions as a caller is shown them.

Each counts the changes of a workspace that touch something the caller may read, so work on hidden documents moves
nothing that he sees. Where all is readable they are the stored versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentic_rag.tenancy.access import ReadIdentity
from agentic_rag.tenancy.principals import WorkspaceRef

if TYPE_CHECKING:
    from agentic_rag.kernel.database import Database


async def show_versions(
    database: Database, workspace: WorkspaceRef, readers: ReadIdentity, versions: Sequence[int]
) -> list[int]:
    """The numbers that the readers are shown for stored versions. Errors: `DependencyUnavailable`."""
    async with database.transaction(workspace.org_id) as transaction:
        scope = await transaction.access.readable(workspace, readers)
        return [await transaction.access.shown_version(workspace, scope, one) for one in versions]


async def find_version(
    database: Database, workspace: WorkspaceRef, readers: ReadIdentity, shown: int | None
) -> int | None:
    """The first stored version, of those still kept, that the readers are shown as `shown`; None for None. A number
    that was never shown gives a version that is not there. Errors: `DependencyUnavailable`.
    """
    if shown is None:
        return None
    async with database.transaction(workspace.org_id) as transaction:
        scope = await transaction.access.readable(workspace, readers)
        return await transaction.access.stored_version(workspace, scope, shown)
