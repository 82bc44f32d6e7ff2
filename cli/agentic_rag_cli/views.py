"""JSON forms of what commands list; field names are stable and those of the GraphQL API."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from uuid import UUID

from agentic_rag.answering.run import Run
from agentic_rag.documents.document import Chunk, Document
from agentic_rag.erasure.certificate import certificate_json
from agentic_rag.jobs.job import Job, JobAttempt
from agentic_rag.jobs.undecodable_message import StoredUndecodableMessage
from agentic_rag.kernel.error_redaction import redact_arguments
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.kernel.telemetry import parse_trace_id
from agentic_rag.models.billing.embedding_cost import PROVENANCE_KEYS, read_cost
from agentic_rag.models.embedding.space import SpaceRecord
from agentic_rag.operations.findings import Finding
from agentic_rag.operations.snapshots.snapshot import Manifest, SnapshotRecord
from agentic_rag.tenancy.audit import AuditRecord
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace

if TYPE_CHECKING:
    from agentic_rag.erasure.delete import Deletion
    from agentic_rag.ingestion.reingest import Reingestion
    from agentic_rag.operations.graph.sync import GraphStatus
    from agentic_rag.operations.prove_erased import ErasureProof
    from agentic_rag.operations.snapshots.restore import RestoreReport
    from agentic_rag.operations.verify import VerificationReport


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


def chunk_json(chunk: Chunk, workspace_id: UUID) -> dict[str, Any]:
    """A passage as readers see it."""
    return {
        "id": encode(NodeKind.CHUNK, workspace_id, chunk.chunk_id),
        "sourceId": encode(NodeKind.DOCUMENT, workspace_id, chunk.document_id),
        "page": chunk.page,
        "lineStart": chunk.line_start,
        "lineEnd": chunk.line_end,
        "headingPath": list(chunk.heading_path),
        "text": chunk.text,
    }


def document_json(document: Document) -> dict[str, Any]:
    """A document with what went wrong, if anything did."""
    fault = document.fault
    cost = read_cost(document.provenance)
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
        "embedding": None
        if cost is None
        else {
            "space": cost.space,
            "chunks": cost.chunks,
            "tokens": cost.tokens,
            "reusedChunks": cost.reused_chunks,
            "costUsd": cost.cost_usd,
            "estimatedCostUsd": cost.estimated_cost_usd,
        },
        "provenance": {name: value for name, value in document.provenance.items() if name not in PROVENANCE_KEYS},
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


def attempt_json(attempt: JobAttempt) -> dict[str, Any]:
    """One try at a job."""
    return {
        "attempt": attempt.attempt,
        "worker": attempt.worker,
        "startedAt": attempt.started_at.isoformat(),
        "endedAt": attempt.ended_at.isoformat() if attempt.ended_at else None,
        "outcome": attempt.outcome,
        "errorCode": attempt.error_code,
        "errorChain": list(attempt.error_chain),
    }


def payload_json(stored: StoredUndecodableMessage) -> dict[str, Any]:
    """What was no message of ours; the bytes as base64."""
    return {
        "id": str(stored.message.payload_id),
        "queue": stored.message.queue,
        "entry": stored.message.entry.decode("utf-8", "backslashreplace"),
        "code": stored.message.code,
        "reason": stored.message.reason,
        "bytes": len(stored.message.payload),
        "base64": b64encode(stored.message.payload).decode(),
        "deliveries": stored.deliveries,
        "firstSeen": stored.first_seen.isoformat(),
        "lastSeen": stored.last_seen.isoformat(),
    }


def audit_json(record: AuditRecord) -> dict[str, Any]:
    """One entry of the audit log."""
    return {
        "createdAt": record.created_at.isoformat(),
        "actor": record.actor,
        "action": record.action,
        "subject": _subject(record),
        "detail": dict(record.detail),
        "traceId": record.trace_id,
    }


_AUDITED = {"document": NodeKind.DOCUMENT, "dead_letter": NodeKind.JOB, "snapshot": NodeKind.SNAPSHOT}
"""What an act was about, by the first part of its name."""


def _subject(record: AuditRecord) -> str:
    """The public id that lists of such things show; the name of what has none (an embedding space, a workspace)."""
    kind = _AUDITED.get(record.action.partition(".")[0])
    if kind is None or record.workspace_id is None:
        return record.subject
    # A snapshot belongs to the workspace it was taken of, not to the one made from it.
    source = record.detail.get("source")
    workspace_id = record.workspace_id if source is None else UUID(str(source))
    try:
        return encode(kind, workspace_id, UUID(record.subject))
    except ValueError:
        return record.subject


def job_json(job: Job, document: Document | None) -> dict[str, Any]:
    """A job and the document that it is about, if that is still there; secrets in its arguments are blotted out."""
    return {
        "id": encode(NodeKind.JOB, job.workspace.workspace_id, job.job_id),
        "kind": job.kind_name,
        "state": job.state.value,
        "queue": job.queue.value,
        "key": job.key,
        "documentId": encode(NodeKind.DOCUMENT, job.workspace.workspace_id, job.document_id)
        if job.document_id
        else None,
        "document": None if document is None else document_key_json(document),
        "arguments": redact_arguments(job.arguments),
        "attempts": job.attempts,
        "progress": job.progress,
        "traceId": parse_trace_id(job.trace_carrier),
        "error": None if job.error_code is None else {"code": job.error_code, "message": job.error_message},
        "runAfter": job.run_after.isoformat(),
        "createdAt": job.created_at.isoformat(),
        "updatedAt": job.updated_at.isoformat(),
    }


def snapshot_json(record: SnapshotRecord) -> dict[str, Any]:
    """A snapshot as the database knows it."""
    return {
        "id": encode(NodeKind.SNAPSHOT, record.workspace.workspace_id, record.snapshot_id),
        "jobId": encode(NodeKind.JOB, record.workspace.workspace_id, record.snapshot_id),
        "workspaceId": encode_workspace(record.workspace.workspace_id),
        "state": record.state.value,
        "reason": record.reason.value,
        "corpusVersion": record.corpus_version,
        "withOriginals": record.with_originals,
        "size": record.size,
        "counts": dict(record.counts),
        "manifest": record.manifest_key,
        "stored": record.is_stored,
        "errorCode": record.error_code,
        "createdAt": record.created_at.isoformat(),
        "finishedAt": record.finished_at.isoformat() if record.finished_at else None,
    }


def stored_snapshot_json(manifest: Manifest, folder: str) -> dict[str, Any]:
    """A snapshot as its own manifest tells."""
    return {
        "id": encode(NodeKind.SNAPSHOT, manifest.workspace_id, manifest.snapshot_id),
        "workspaceId": encode_workspace(manifest.workspace_id),
        "workspace": manifest.workspace_name,
        "corpusVersion": manifest.corpus_version,
        "withOriginals": manifest.with_originals,
        "missingOriginals": manifest.missing_originals,
        "spaces": list(manifest.spaces),
        "counts": manifest.counts,
        "schema": manifest.schema,
        "product": manifest.product,
        "createdAt": manifest.created_at,
        "folder": folder,
    }


def restore_json(report: RestoreReport) -> dict[str, Any]:
    """What a restore did."""
    return {
        "snapshotId": encode(NodeKind.SNAPSHOT, report.source_workspace_id, report.snapshot_id),
        "workspaceId": encode_workspace(report.workspace.workspace_id),
        "workspace": report.name,
        "corpusVersion": report.corpus_version,
        "alreadyRestored": report.was_done,
        "rows": report.rows,
        "originals": report.originals,
        "leftOutAsErased": report.erased,
        "ingestedAgain": report.requeued,
    }


def graph_status_json(workspace: Workspace, status: GraphStatus) -> dict[str, Any]:
    """Where a workspace's graph stands; `held` is null when it does not answer or is kept in Postgres."""
    return {
        "workspaceId": encode_workspace(workspace.ref.workspace_id),
        "workspace": workspace.name,
        "store": "neo4j" if status.is_outside else "postgres",
        "corpusVersion": status.corpus_version,
        "graphVersion": status.graph_version,
        "lag": status.lag,
        "equal": status.is_equal,
        "expected": asdict(status.expected),
        "held": None if status.held is None else asdict(status.held),
        "fault": status.fault,
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
            if name not in ("document_id", "version", "cache_entries", "ordinals", "is_followed")
        }
    )
    return {
        "corpusVersion": erasure.version if erasure else None,
        "removed": {**rows, "cache_entries": deletion.cache_entries, "blobs": deletion.blobs},
        "unfinished": list(deletion.unfinished),
        "certificate": None if deletion.certificate is None else certificate_json(deletion.certificate),
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding."""
    return {**asdict(finding), "severity": finding.severity.value}


def proof_json(workspace: WorkspaceRef, proof: ErasureProof) -> dict[str, Any]:
    """What every store says of an erased document."""
    return {
        "id": encode(NodeKind.DOCUMENT, workspace.workspace_id, proof.document_id),
        "erased": proof.is_complete,
        "certificate": None if proof.certificate is None else certificate_json(proof.certificate),
        "findings": [finding_json(one) for one in proof.findings],
    }


def verification_json(workspace: Workspace, report: VerificationReport) -> dict[str, Any]:
    """What a comparison of a workspace's stores found."""
    return {
        "workspaceId": encode_workspace(workspace.ref.workspace_id),
        "workspace": workspace.name,
        "failed": report.has_errors,
        "documents": report.documents,
        "chunks": report.chunks,
        "derivedChunks": report.derived_chunks,
        "originals": report.originals,
        "counts": dict(report.counts),
        "findings": [finding_json(one) for one in report.findings],
    }


def reingestion_json(queued: Reingestion) -> dict[str, Any]:
    """A queued ingestion."""
    return {
        **document_key_json(queued.document),
        "jobId": encode(NodeKind.JOB, queued.job.workspace.workspace_id, queued.job.job_id),
        "new": queued.is_new,
    }
