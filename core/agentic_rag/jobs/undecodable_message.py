"""Things that came out of a queue and are no message of ours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.kernel.ids import derive_uuid


@dataclass(frozen=True, slots=True)
class UndecodableMessage:
    """What was found, byte for byte. `entry` is the name it had in the queue; whose it is cannot be told."""

    queue: str
    entry: bytes
    payload: bytes
    code: str
    reason: str

    @property
    def payload_id(self) -> UUID:
        """The same bytes at the same place are the same finding, however often they are delivered."""
        return derive_uuid(b"dead payload", self.queue.encode(), self.entry, self.payload)


@dataclass(frozen=True, slots=True)
class StoredUndecodableMessage:
    """A finding as stored."""

    message: UndecodableMessage
    deliveries: int
    first_seen: datetime
    last_seen: datetime
