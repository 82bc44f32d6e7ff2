"""Corpus versions as a caller is shown them.

Each counts the changes of a workspace that touch something the caller may read, so work on hidden documents moves
nothing that he sees. Where all is readable they are the stored versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from agentic_rag.kernel.clock import with_zone
from agentic_rag.kernel.errors import InvalidInput
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
    database: Database,
    workspace: WorkspaceRef,
    readers: ReadIdentity,
    shown: int | None,
    instant: datetime | None = None,
) -> int | None:
    """The first stored version, of those still kept, that the readers are shown as `shown`, or the one that was the
    newest at `instant`; None for neither. A number that was never shown gives a version that is not there. Errors:
    `InvalidInput` code AS_OF_UNAVAILABLE for an instant of which no version is known, `DependencyUnavailable`.
    """
    if instant is not None:
        at = _in_utc(instant)
        async with database.transaction(workspace.org_id) as transaction:
            found = None if at is None else await transaction.access.version_at(workspace, at)
        if found is None:
            raise InvalidInput(
                f"What the workspace held at {instant.isoformat()} is not known: it was made later, it keeps no "
                "history that far back (`historyDays`), or the time was not written down yet. Name a later instant.",
                code="AS_OF_UNAVAILABLE",
                path=("asOfTime",),
            )
        return found
    if shown is None:
        return None
    async with database.transaction(workspace.org_id) as transaction:
        scope = await transaction.access.readable(workspace, readers)
        return await transaction.access.stored_version(workspace, scope, shown)


def _in_utc(instant: datetime) -> datetime | None:
    """None for one that UTC has no year for."""
    try:
        return with_zone(instant).astimezone(UTC)
    except OverflowError:
        return None
