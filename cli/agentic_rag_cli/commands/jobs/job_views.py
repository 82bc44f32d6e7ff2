"""Formats jobs and their attempts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.documents.document import Document
from agentic_rag.jobs.job import LAPSED, Job, JobAttempt
from agentic_rag.kernel.error_redaction import redact_arguments
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.kernel.telemetry import parse_trace_id
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import System
from agentic_rag_cli.output.json_view import json_fields


async def jobs_json(system: System, workspace: WorkspaceRef, jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Jobs of a workspace, each with its document."""
    known = await system.documents_of(workspace, jobs)
    return [_job_json(one, known.get(one.document_id) if one.document_id else None) for one in jobs]


def _job_json(job: Job, document: Document | None) -> dict[str, Any]:
    """A job and its document, if that still exists; secrets in its arguments are masked."""
    workspace_id = job.workspace.workspace_id
    document_id = encode(NodeKind.DOCUMENT, workspace_id, job.document_id) if job.document_id else None
    return {
        "id": encode(NodeKind.JOB, workspace_id, job.job_id),
        "kind": job.kind_name,
        **json_fields(job, "state", "queue", "key"),
        "documentId": document_id,
        "document": None if document is None else {"id": document_id, "sourcePath": document.source_path},
        "arguments": redact_arguments(job.arguments),
        **json_fields(job, "attempts", "progress"),
        "traceId": parse_trace_id(job.trace_carrier),
        "error": None if job.error_code is None else {"code": job.error_code, "message": job.error_message},
        **json_fields(job, "run_after", "created_at", "updated_at"),
    }


def attempt_json(attempt: JobAttempt) -> dict[str, Any]:
    """One attempt at a job."""
    return json_fields(attempt, "attempt", "worker", "started_at", "ended_at", "outcome", "error_code", "error_chain")


def about(row: Mapping[str, Any]) -> str:
    """The subject of a job: the document's source path, or the key of workspace-wide work."""
    if row["document"] is not None:
        return str(row["document"]["sourcePath"])
    return "a document that is gone" if row["documentId"] else str(row["key"])


def attempt_line(attempt: Mapping[str, Any]) -> str:
    """One line for an attempt: worker, time, outcome and, where the outcome alone says little, the reason."""
    line = f"attempt {attempt['attempt']} by {attempt['worker']} at {attempt['startedAt']}: "
    if attempt["outcome"] == LAPSED:
        why = "its worker was killed, hung or cut off and its lease ran out; tried again by itself"
        return f"{line}{LAPSED} [{attempt['errorCode']}] {why}"
    return line + (attempt["outcome"] or "runs")


def error_text(error: Mapping[str, Any]) -> str:
    """A job's last error. Purged dead letters and erased documents keep the code only."""
    return f"[{error['code']}]: {error['message'] or 'its text was removed, by a purge or an erasure'}"
