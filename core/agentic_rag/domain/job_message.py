"""What a queue carries of a job: names and ids, as text. Never arguments, never pickle."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from agentic_rag.domain.errors import InvalidInput
from agentic_rag.domain.jobs import JobRef, QueueName
from agentic_rag.domain.tenancy import WorkspaceRef

FUNCTION = "run_job"
"""The one function a worker registers with the queue."""

MAX_MESSAGE_LENGTH = 500
"""Three UUIDs and a number take about 150 characters."""


def queue_key(prefix: str, queue: QueueName) -> str:
    """The name of a queue in Redis; `prefix` is AGENTIC_RAG_QUEUE_NAME."""
    return f"{prefix}:{queue.value}"


def delivery_id(ref: JobRef) -> str:
    """Names one hand-over of a job: handing over twice is one, coming back to the queue is another."""
    return f"{ref.job_id}:{ref.turn}"


def encode(ref: JobRef) -> str:
    """The message for a job."""
    return json.dumps(
        {
            "org": str(ref.workspace.org_id),
            "workspace": str(ref.workspace.workspace_id),
            "job": str(ref.job_id),
            "turn": ref.turn,
        },
        separators=(",", ":"),
    )


def decode(message: object) -> JobRef:
    """The job a message names. Errors: `InvalidInput` code JOB_MESSAGE_INVALID."""
    if not isinstance(message, str) or len(message) > MAX_MESSAGE_LENGTH:
        raise InvalidInput("The queue holds a message that is no job id.", code="JOB_MESSAGE_INVALID")
    try:
        fields: dict[str, Any] = json.loads(message)
        workspace = WorkspaceRef(UUID(fields["org"]), UUID(fields["workspace"]))
        return JobRef(workspace, UUID(fields["job"]), int(fields["turn"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput("The queue holds a message that is no job id.", code="JOB_MESSAGE_INVALID") from error
