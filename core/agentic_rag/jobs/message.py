"""The queue's message for a job: names and ids, as text. Never arguments, never pickle."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from agentic_rag.jobs.job import JobRef, QueueName, partition_of
from agentic_rag.jobs.redis_address import tag_of
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.ids import derive_uuid
from agentic_rag.tenancy.principals import WorkspaceRef

FUNCTION = "run_job"
"""The only function that workers register with the queue."""

MAX_MESSAGE_LENGTH = 500
"""In characters; three UUIDs and a number take about 150."""


MAX_TIMESTAMP_MS = 253_402_300_800_000
"""The year 10000 in milliseconds: the exclusive upper bound of a timestamp that can be shown."""


@dataclass(frozen=True, slots=True)
class QueueLayout:
    """Names of queues in Redis. `prefix` is that of AGENTIC_RAG_QUEUE_NAME (`redis_address.key_prefix`); the bulk queue
    is split into `partitions` by workspace.
    """

    prefix: str
    partitions: int = 1

    def key(self, queue: QueueName, partition: int = 0) -> str:
        """The name of a queue."""
        return queue_key(self.prefix, queue) + self._suffix(queue, partition)

    def partition(self, queue: QueueName, ref: JobRef) -> int:
        """The partition that holds a job."""
        return partition_of(ref.workspace, self.count(queue))

    def count(self, queue: QueueName) -> int:
        """The number of partitions of a queue. The interactive queue has too few jobs to split."""
        return self.partitions if queue is QueueName.BULK else 1

    def delivery_id(self, queue: QueueName, ref: JobRef) -> str:
        """The id of one delivery of a job. Offering a waiting job again gives the same id; queueing it anew, or
        changing the number of partitions, gives another. Its keys have the hash tag of the queue's.
        """
        tag = tag_of(self.prefix)
        return f"{tag}:" * bool(tag) + delivery_id(ref) + self._suffix(queue, self.partition(queue, ref))

    def _suffix(self, queue: QueueName, partition: int) -> str:
        return "" if self.count(queue) == 1 else f":{partition}of{self.partitions}"


def queue_key(prefix: str, queue: QueueName) -> str:
    """The name of an undivided queue."""
    return f"{prefix}:{queue.value}"


def dead_letter_key(prefix: str) -> str:
    """The Redis list and channel that mirror dead letters."""
    return f"{prefix}:dlq"


def delivery_id(ref: JobRef) -> str:
    """The id of one delivery of a job in an undivided queue."""
    return f"{ref.job_id}:{ref.fence}"


def encode(ref: JobRef) -> str:
    """The message for a job."""
    return json.dumps(
        {
            "org": str(ref.workspace.org_id),
            "workspace": str(ref.workspace.workspace_id),
            "job": str(ref.job_id),
            "turn": ref.fence,
        },
        separators=(",", ":"),
    )


def decode(message: object) -> JobRef:
    """The job of a message. Errors: `InvalidInput` code JOB_MESSAGE_INVALID."""
    if not isinstance(message, str) or len(message) > MAX_MESSAGE_LENGTH:
        raise InvalidInput("The queue holds a message that is not a job id.", code="JOB_MESSAGE_INVALID")
    try:
        fields: dict[str, Any] = json.loads(message)
        workspace = WorkspaceRef(UUID(fields["org"]), UUID(fields["workspace"]))
        return JobRef(workspace, UUID(fields["job"]), int(fields["turn"]))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InvalidInput("The queue holds a message that is not a job id.", code="JOB_MESSAGE_INVALID") from error


def decode_envelope(envelope: object) -> JobRef:
    """The job in an envelope of the queue (arq's: function `f`, arguments `a` and `k`, try `t`, time `et` in ms).

    An envelope that passes cannot break the queue's own code. Errors: `InvalidInput` code JOB_MESSAGE_INVALID, whose
    message gives the reason.
    """
    fields = cast(dict[object, object], envelope) if isinstance(envelope, dict) else None
    if fields is None or set(fields) != {"t", "f", "a", "k", "et"}:
        raise _invalid("It is no envelope of this queue.")
    if fields["f"] != FUNCTION:
        raise _invalid("It calls a function that no worker has.")
    if fields["k"] != {} or (fields["t"] is not None and fields["t"] != 1):
        raise _invalid("It has arguments that no job has.")
    time = fields["et"]
    if not isinstance(time, int) or not 0 <= time < MAX_TIMESTAMP_MS:
        raise _invalid("Its time is not one.")
    arguments = cast(list[object], fields["a"]) if isinstance(fields["a"], list) else []
    if len(arguments) != 1:
        raise _invalid("It does not name one job.")
    return decode(arguments[0])


def _invalid(message: str) -> InvalidInput:
    return InvalidInput(message, code="JOB_MESSAGE_INVALID")


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
