"""Original bytes of documents: stored before a row refers to them, deleted after none does."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from uuid import UUID

from agentic_rag.documents.blob_keys import FOLDERS, original_key, original_prefixes, snapshots_prefix
from agentic_rag.documents.document import Document, revision_id_for
from agentic_rag.documents.ports import BlobStore, Original
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound
from agentic_rag.kernel.ids import Ids
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.chunk_profiles import CHUNK_PROFILES
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind

SWEEP_STEP = 100
"""Blobs deleted between two transactions."""


class OriginalKeys:
    """Makes unique blob keys."""

    def __init__(self, clock: Clock, ids: Ids) -> None:
        self._clock = clock
        self._ids = ids

    def new(self, workspace: Workspace, file_name: str) -> str:
        """A new key for one upload of a file of that name."""
        return original_key(workspace, self._clock.now(), self._ids.new(), file_name)


def original_of(document: Document, originals: Sequence[Original]) -> Original:
    """The published original; before the first publish, the newest. Errors: `NotFound` code ORIGINAL_MISSING."""
    for held in originals:
        if document.content_hash in (None, held.content_hash):
            return held
    raise NotFound("The original of this document was not stored.", code="ORIGINAL_MISSING")


def original_behind(
    document_id: UUID, revision_id: UUID, parser_version: str, originals: Sequence[Original]
) -> Original | None:
    """The original that a revision was read from; None where it is not kept. The id of a revision follows from it."""
    for held in originals:
        for profile in CHUNK_PROFILES:
            if revision_id_for(document_id, held.content_hash, parser_version, profile) == revision_id:
                return held
    return None


def folder_missing(folder: str) -> DependencyUnavailable:
    """What is said where a directory lacks a folder that storing made."""
    return DependencyUnavailable(
        f"The blob directory lacks the folder {folder}: mount its volume. Where it is gone for good, make that folder.",
        code="BLOBS_NOT_THERE",
        dependency="blobs",
    )


def place_unmarked(place: str, marker: str) -> DependencyUnavailable:
    """What is said of a directory that is not the one that blobs were stored in."""
    return DependencyUnavailable(
        f"{place} is not the directory that originals were stored in: mount its volume. Where it is gone for good, or "
        f"was moved, make the file {marker} there.",
        code="BLOBS_NOT_THERE",
        dependency="blobs",
    )


async def require_folders(blobs: BlobStore, org_id: UUID) -> None:
    """For an organisation that stored blobs. Errors: `DependencyUnavailable` where the store has none of the folders
    that this made: that it lists nothing does not say that they are gone.
    """
    folders = [*original_prefixes(org_id), snapshots_prefix(org_id)]
    if not any([await blobs.has_folder(folder) for folder in folders]):
        raise folder_missing(f"{FOLDERS[WorkspaceKind.GENERAL]}/{org_id}")


async def delete_marked_blobs(
    database: Database, blobs: BlobStore, workspace: WorkspaceRef, document_id: UUID | None = None
) -> int:
    """Delete the blobs marked for deletion of a document (None: of the workspace); the number of blobs that existed. A
    mark is removed only after its blob, so a later call finishes the work after a crash, and concurrent calls do no
    harm.

    Errors: `DependencyUnavailable`.
    """
    removed = 0
    while True:
        async with database.transaction(workspace.org_id) as transaction:
            keys = await transaction.originals.keys_to_delete(workspace, document_id, SWEEP_STEP)
        if not keys:
            return removed
        removed += sum([await blobs.delete(key) for key in keys])
        async with database.transaction(workspace.org_id) as transaction:
            await transaction.originals.forget(workspace, keys)


async def delete_unless_in_use(database: Database, blobs: BlobStore, workspace: WorkspaceRef, key: str) -> None:
    """Delete the blob of a failed upload, unless its transaction was committed after all (a connection that breaks
    during the commit leaves this open). When a store does not answer, the blob stays without a row that refers to it.
    """
    with contextlib.suppress(DependencyUnavailable):
        async with database.transaction(workspace.org_id) as transaction:
            named = await transaction.originals.keys_in_use(workspace, [key])
        if not named:
            await blobs.delete(key)
