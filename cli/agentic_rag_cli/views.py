"""JSON forms of what commands list; field names are stable and those of the GraphQL API."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agentic_rag.domain.answers import Run
from agentic_rag.domain.documents import Document
from agentic_rag.domain.jobs import Job
from agentic_rag.domain.spaces import SpaceRecord
from agentic_rag.domain.tenancy import Workspace
from agentic_rag_server.graphql.node_ids import NodeKind, encode, encode_workspace

if TYPE_CHECKING:
    from agentic_rag.app.delete import Deletion


def workspace_json(workspace: Workspace) -> dict[str, Any]:
    """A workspace."""
    return {
        "id": encode_workspace(workspace.ref.workspace_id),
        "name": workspace.name,
        "kind": workspace.kind.value,
        "externalRef": workspace.external_ref,
        "corpusVersion": workspace.corpus_version,
        "createdAt": workspace.created_at.isoformat(),
    }


def document_key_json(document: Document) -> dict[str, Any]:
    """What names a document."""
    return {
        "id": encode(NodeKind.DOCUMENT, document.workspace.workspace_id, document.document_id),
        "sourcePath": document.source_path,
    }


def document_json(document: Document) -> dict[str, Any]:
    """A document with what went wrong, if anything did."""
    fault = document.fault
    return {
        **document_key_json(document),
        "title": document.title,
        "url": document.url,
        "fileName": document.file_name,
        "mediaType": document.media_type,
        "size": document.size,
        "status": document.status.value,
        "error": None
        if fault is None
        else {
            "code": fault.code,
            "message": fault.message,
            "attempts": fault.attempts,
            "retryable": fault.retryable,
        },
        "chunkCount": document.chunk_count,
        "chunksDone": document.chunks_done,
        "uploadedBy": document.uploaded_by,
        "provenance": dict(document.provenance),
        "createdAt": document.created_at.isoformat(),
        "updatedAt": document.updated_at.isoformat(),
    }


def run_row_json(run: Run) -> dict[str, Any]:
    """A run as a line of a list."""
    return {
        "id": encode(NodeKind.RUN, run.workspace.workspace_id, run.run_id),
        "question": run.question,
        "outcome": run.answer.outcome.value,
        "cache": run.cache.name,
        "seconds": run.seconds,
        "corpusVersion": run.versions.corpus_version,
        "createdAt": run.created_at.isoformat(),
    }


def run_details_json(run: Run) -> dict[str, Any]:
    """What `run show` adds to the answer: versions, gate, plan, stages."""
    gate, debug = run.answer.gate, run.answer.debug
    return {
        "traceId": run.trace_id,
        "subject": run.subject,
        "createdAt": run.created_at.isoformat(),
        "versions": {
            "corpusVersion": run.versions.corpus_version,
            "graphVersion": run.versions.graph_version,
            "space": run.versions.space,
            "weightsVersion": run.versions.weights_version,
            "pipelineVersion": run.versions.pipeline_version,
            "models": list(run.versions.models),
        },
        "gate": {
            "planType": gate.plan_type,
            "score": gate.score,
            "mode": gate.mode,
            "contributions": [asdict(one) for one in gate.contributions],
            "downgrades": [asdict(one) for one in gate.downgrades],
        },
        "plan": None
        if debug.plan is None
        else {
            "subQuestions": [part.text for part in debug.plan.sub_questions],
            "answerType": debug.plan.answer_type.value,
            "tools": [asdict(tool) for tool in debug.plan.tools],
            "planner": debug.plan.planner,
        },
        "rewrittenQuery": debug.rewritten_query,
        "stages": [asdict(stage) for stage in run.stages],
    }


def job_json(job: Job) -> dict[str, Any]:
    """A job; its arguments hold no secrets."""
    return {
        "id": encode(NodeKind.JOB, job.workspace.workspace_id, job.job_id),
        "kind": job.kind.value,
        "state": job.state.value,
        "queue": job.queue.value,
        "key": job.key,
        "documentId": encode(NodeKind.DOCUMENT, job.workspace.workspace_id, job.document_id)
        if job.document_id
        else None,
        "arguments": dict(job.arguments),
        "attempts": job.attempts,
        "progress": job.progress,
        "error": None if job.error_code is None else {"code": job.error_code, "message": job.error_message},
        "runAfter": job.run_after.isoformat(),
        "createdAt": job.created_at.isoformat(),
        "updatedAt": job.updated_at.isoformat(),
    }


def space_json(record: SpaceRecord) -> dict[str, Any]:
    """An embedding space of a workspace."""
    space = record.registered.space
    return {
        "name": space.name,
        "provider": space.provider,
        "model": space.model,
        "dimensions": space.dimensions,
        "state": record.state.value,
        "done": record.done,
        "total": record.total,
        "since": record.since.isoformat(),
        "dropAfter": record.drop_after.isoformat() if record.drop_after else None,
        "verdict": asdict(record.verdict) if record.verdict else None,
    }


def deletion_json(deletion: Deletion) -> dict[str, Any]:
    """What a deletion removed, by store; `unfinished` names stores that a job empties as soon as they answer."""
    erasure = deletion.erasure
    rows = (
        {}
        if erasure is None
        else {
            name: count
            for name, count in asdict(erasure).items()
            if name not in ("document_id", "version", "cache_entries")
        }
    )
    return {
        "corpusVersion": erasure.version if erasure else None,
        "removed": {**rows, "cache_entries": deletion.cache_entries, "blobs": deletion.blobs},
        "unfinished": list(deletion.unfinished),
    }
