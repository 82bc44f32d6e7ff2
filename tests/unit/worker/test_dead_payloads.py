"""What Redis held that is no message of ours is kept also where nothing can show it."""

from __future__ import annotations

import pytest
from tests.memory_store.jobs.queue import MemoryJobQueue
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.jobs.message import UndecodableMessage
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag_worker.arq_worker import DeadPayloadRecorder


class Store:
    """Remembers what it was given."""

    def __init__(self) -> None:
        self.kept: list[UndecodableMessage] = []

    async def keep(self, found: UndecodableMessage) -> bool:
        self.kept.append(found)
        return True


class DeafQueue(MemoryJobQueue):
    async def mirror_payload(self, found: UndecodableMessage) -> None:
        raise DependencyUnavailable("Redis is away.", dependency="redis")


@pytest.mark.tells("rag_job_message_dropped", "payload_id")
@pytest.mark.tells("rag_dead_letter_not_mirrored", "payload_id")
async def test_a_payload_is_kept_and_told_although_the_queue_cannot_show_it() -> None:
    store, telemetry = Store(), RecordingTelemetry()
    found = UndecodableMessage("bulk", b"entry", b"garbage", "JOB_UNREADABLE", "No envelope.")

    await DeadPayloadRecorder(store, DeafQueue(), telemetry).keep(found)  # type: ignore[arg-type]

    assert store.kept == [found]
    assert [one.fields["payload_id"] for one in telemetry.events] == [str(found.payload_id)] * 2
