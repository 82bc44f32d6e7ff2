"""`documents.ports.OriginalStore` and `documents.ports.UploadStore` in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from tests.memory_store.session.state import WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.documents.ports import Original, UploadRecord
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryOriginalStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def keep(self, workspace: WorkspaceRef, document_id: UUID, content_hash: bytes, key: str, size: int) -> str:
        """Write down that `key` holds this content of a document; the key that held it already, if one did."""
        originals = self._working.write(workspace).originals
        known = originals.get((document_id, content_hash))
        if known is not None:
            return known.key
        originals[document_id, content_hash] = Original(content_hash, key, size, self._working.now())
        return key

    async def of(self, workspace: WorkspaceRef, document_id: UUID) -> list[Original]:
        """The contents of a document, newest first."""
        state = self._working.read(workspace)
        if state is None:
            return []
        found = [original for (owner, _), original in state.originals.items() if owner == document_id]
        return sorted(found, key=lambda original: (original.created_at, original.key), reverse=True)

    async def stored_bytes(self, org_id: UUID) -> int:
        """The size of all originals of the organisation."""
        states = [self._working.read(one) for one in self._working.states if one.org_id == org_id]
        return sum(one.size for state in states if state is not None for one in state.originals.values())

    async def supersede(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> int:
        """Doom what is neither published nor registered last, but for pages of the web; how many blobs."""
        state = self._working.write(workspace)
        doomed = 0
        for document_id in document_ids:
            document = state.documents.get(document_id)
            if document is not None and "web_origin" not in document.provenance:
                wanted = {document.content_hash, _registered(document.provenance.get("content_sha256"))}
                doomed += _doom(state, document_id, frozenset(wanted - {None}))
        return doomed

    async def mark_for_deletion(self, workspace: WorkspaceRef, document_id: UUID) -> int:
        """Doom every content of a document; how many blobs."""
        return 0 if self._working.read(workspace) is None else _doom(self._working.write(workspace), document_id)

    async def keys_to_delete(self, workspace: WorkspaceRef, document_id: UUID | None, limit: int) -> list[str]:
        """Keys of doomed blobs, sorted."""
        state = self._working.read(workspace)
        if state is None:
            return []
        return sorted(key for key, owner in state.doomed_blobs.items() if document_id in (None, owner))[:limit]

    async def forget(self, workspace: WorkspaceRef, keys: Sequence[str]) -> int:
        """Strike out doomed keys whose blob is gone; how many."""
        if not keys:
            return 0
        doomed = self._working.write(workspace).doomed_blobs
        return sum(doomed.pop(key, None) is not None for key in keys)

    async def keys_in_use(self, workspace: WorkspaceRef, keys: Sequence[str]) -> frozenset[str]:
        """Those of the keys that hold an original or are doomed."""
        state = self._working.read(workspace)
        if state is None:
            return frozenset()
        held = {original.key for original in state.originals.values()} | state.doomed_blobs.keys()
        return frozenset(held.intersection(keys))


class MemoryUploadStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def claim(
        self, workspace: WorkspaceRef, idempotency_key: str, input_hash: bytes, document_id: UUID
    ) -> UploadRecord | None:
        """Take a key: None when it is the caller's now, else what it was taken for."""
        uploads = self._working.write(workspace).uploads
        taken = uploads.get(idempotency_key)
        if taken is None:
            uploads[idempotency_key] = UploadRecord(input_hash, document_id, None)
        return taken

    async def settle(self, workspace: WorkspaceRef, idempotency_key: str, job_id: UUID | None) -> None:
        """Add the job to a key that this transaction claimed."""
        uploads = self._working.write(workspace).uploads
        uploads[idempotency_key] = replace(uploads[idempotency_key], job_id=job_id)


def _registered(digest: str | None) -> bytes | None:
    return None if digest is None else bytes.fromhex(digest)


def _doom(state: WorkspaceState, document_id: UUID, wanted: frozenset[bytes | None] = frozenset()) -> int:
    gone = [place for place in state.originals if place[0] == document_id and place[1] not in wanted]
    for place in gone:
        state.doomed_blobs[state.originals.pop(place).key] = document_id
    return len(gone)
