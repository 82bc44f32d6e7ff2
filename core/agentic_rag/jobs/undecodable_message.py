"""Queue entries that are not messages of the product."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agentic_rag.kernel.ids import derive_uuid


@dataclass(frozen=True, slots=True)
class UndecodableMessage:
    """A queue entry byte for byte. `entry` is its name in the queue. Its tenant is unknown."""

    queue: str
    entry: bytes
    payload: bytes
    code: str
    reason: str

    @property
    def payload_id(self) -> UUID:
        """Equal bytes at the same place have the same id, however often they are delivered."""
        return derive_uuid(b"dead payload", self.queue.encode(), self.entry, self.payload)


@dataclass(frozen=True, slots=True)
class StoredUndecodableMessage:
    """An undecodable message as stored."""

    message: UndecodableMessage
    deliveries: int
    first_seen: datetime
    last_seen: datetime
