"""Cached answers with the workspace that owns them."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.run import EncodedAnswer
from agentic_rag.answering.runs.answer_codec import decode, encode
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.principals import WorkspaceRef

_MARK = b"rag2"
"""Names the layout; entries of another layout count as a miss."""
_UUID_BYTES = 16
_ANSWER_AT = len(_MARK) + 2 * _UUID_BYTES


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


def encode_entry(workspace: WorkspaceRef, answer: Answer) -> bytes:
    """The answer as a cache keeps it, behind the ids of its workspace."""
    return _MARK + workspace.org_id.bytes + workspace.workspace_id.bytes + encode(answer)


def decode_entry(entry: bytes) -> tuple[WorkspaceRef, EncodedAnswer]:
    """The owner of the entry, and its answer with its stored form. Errors: `ValueError` for what `encode_entry` did not
    write.
    """
    if not entry.startswith(_MARK) or len(entry) < _ANSWER_AT:
        raise ValueError("the entry names no workspace")
    middle = len(_MARK) + _UUID_BYTES
    owner = WorkspaceRef(UUID(bytes=entry[len(_MARK) : middle]), UUID(bytes=entry[middle:_ANSWER_AT]))
    stored = entry[_ANSWER_AT:]
    return owner, EncodedAnswer(decode(stored), stored)
