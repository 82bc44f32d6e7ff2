"""Cached answers with the workspace that owns them."""

from __future__ import annotations

import struct
from uuid import UUID

from agentic_rag.answering.run import EncodedAnswer
from agentic_rag.answering.runs.answer_codec import decode
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.principals import WorkspaceRef

_HEAD = struct.Struct(">4s16s16sI")
"""Mark, organisation, workspace, and how long the packed answer is that follows; the encoded one is the rest."""
_MARK = b"rag3"
"""Names the layout; entries of another layout count as a miss."""


class TenantGuard:
    """Refuses values of another workspace. Each refusal is counted and logged as an incident."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    def check_owner(self, asking: WorkspaceRef, owner: WorkspaceRef, place: str) -> bool:
        """Whether the value found at `place` belongs to the asking workspace."""
        if owner == asking:
            return True
        self._telemetry.count("rag_tenant_leaks_total")
        self._telemetry.event(
            "rag_tenant_leak",
            level="error",
            place=place,
            asking_organisation=str(asking.org_id),
            owning_organisation=str(owner.org_id),
        )
        return False


def encode_entry(workspace: WorkspaceRef, answer: EncodedAnswer) -> bytes:
    """The answer as a cache keeps it, behind the ids of its workspace: packed for the runs that it answers, and encoded
    for them and for an erasure that looks for words which must be gone.
    """
    encoded, packed = answer.forms()
    return _HEAD.pack(_MARK, workspace.org_id.bytes, workspace.workspace_id.bytes, len(packed)) + packed + encoded


def decode_entry(entry: bytes) -> tuple[WorkspaceRef, EncodedAnswer]:
    """The owner of the entry, and its answer with its packed form. Errors: `ValueError` for what `encode_entry` did not
    write.
    """
    if not entry.startswith(_MARK) or len(entry) < _HEAD.size:
        raise ValueError("the entry names no workspace")
    _, organisation, workspace, size = _HEAD.unpack_from(entry)
    packed, encoded = entry[_HEAD.size : _HEAD.size + size], entry[_HEAD.size + size :]
    owner = WorkspaceRef(UUID(bytes=organisation), UUID(bytes=workspace))
    return owner, EncodedAnswer(decode(encoded), packed)
