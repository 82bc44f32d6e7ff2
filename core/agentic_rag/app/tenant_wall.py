"""The last look at what came out of a cache or of memory: whether it is of the workspace that asked.

Rows have the policies of the database behind the predicates of the code. What is kept outside the database has this
behind its keys: each value says whose it is.
"""

from __future__ import annotations

from uuid import UUID

from agentic_rag.app.answer_codec import UnreadableAnswer, decode, encode
from agentic_rag.domain.answers import Answer
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.ports.telemetry import Telemetry

_MARK = b"rag1"
_UUID_BYTES = 16
_ANSWER_AT = len(_MARK) + 2 * _UUID_BYTES


class TenantWall:
    """Counts and logs what it stops. It must never have anything to stop: that is an incident."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    def holds(self, asking: WorkspaceRef, owner: WorkspaceRef, place: str) -> bool:
        """True when what was found at `place` belongs to the workspace that asked."""
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


def sealed(workspace: WorkspaceRef, answer: Answer) -> bytes:
    """The answer as a cache keeps it, with whose it is."""
    return _MARK + workspace.org_id.bytes + workspace.workspace_id.bytes + encode(answer)


def opened(entry: bytes) -> tuple[WorkspaceRef, Answer]:
    """Whose the entry is, and its answer. Errors: `UnreadableAnswer`."""
    if not entry.startswith(_MARK) or len(entry) < _ANSWER_AT:
        raise UnreadableAnswer("the entry does not say whose it is")
    middle = len(_MARK) + _UUID_BYTES
    owner = WorkspaceRef(UUID(bytes=entry[len(_MARK) : middle]), UUID(bytes=entry[middle:_ANSWER_AT]))
    return owner, decode(entry[_ANSWER_AT:])
