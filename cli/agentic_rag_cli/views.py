"""JSON forms of what commands list; field names are stable and those of the GraphQL API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agentic_rag.domain.answers import Run
from agentic_rag.domain.documents import Document
from agentic_rag.domain.jobs import Job
from agentic_rag.domain.tenancy import Workspace
from agentic_rag.ports.publication import Erasure


def workspace_json(workspace: Workspace) -> dict[str, Any]:
    """A workspace."""
    return {
        "id": str(workspace.ref.workspace_id),
        "name": workspace.name,
        "kind": workspace.kind.value,
        "externalRef": workspace.external_ref,
        "corpusVersion": workspace.corpus_version,
        "createdAt": workspace.created_at.isoformat(),
    }


def document_json(document: Document) -> dict[str, Any]:
    """A document with what went wrong, if anything did."""
    fault = document.fault
    return {
        "id": str(document.document_id),
        "sourcePath": document.source_path,
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
        "id": str(run.run_id),
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
        "id": str(job.job_id),
        "kind": job.kind.value,
        "state": job.state.value,
        "queue": job.queue.value,
        "key": job.key,
        "documentId": str(job.document_id) if job.document_id else None,
        "arguments": dict(job.arguments),
        "attempts": job.attempts,
        "progress": job.progress,
        "error": None if job.error_code is None else {"code": job.error_code, "message": job.error_message},
        "runAfter": job.run_after.isoformat(),
        "createdAt": job.created_at.isoformat(),
        "updatedAt": job.updated_at.isoformat(),
    }


def erasure_json(erasure: Erasure) -> dict[str, Any]:
    """What a deletion removed, by store."""
    counts = {
        name: value for name, value in asdict(erasure).items() if isinstance(value, int) and name != "version"
    }
    return {"documentId": str(erasure.document_id), "corpusVersion": erasure.version, "removed": counts}
