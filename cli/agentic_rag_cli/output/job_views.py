"""How jobs and their attempts are told: by the document that they are about, and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentic_rag.jobs.job import LAPSED, Job
from agentic_rag_cli.views import job_json

if TYPE_CHECKING:
    from agentic_rag.tenancy.principals import WorkspaceRef
    from agentic_rag_cli.session import Session


async def jobs_json(session: Session, workspace: WorkspaceRef, jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Jobs of a workspace, each with its document."""
    known = await session.documents_of(workspace, jobs)
    return [job_json(one, known.get(one.document_id) if one.document_id else None) for one in jobs]


def about(row: Mapping[str, Any]) -> str:
    """What a job works on: the document's source path, or the key of work on the whole workspace."""
    if row["document"] is not None:
        return str(row["document"]["sourcePath"])
    return "a document that is gone" if row["documentId"] else str(row["key"])


def attempt_line(attempt: Mapping[str, Any]) -> str:
    """One line for a try: who, when, how it ended and, where the outcome alone says little, why."""
    line = f"attempt {attempt['attempt']} by {attempt['worker']} at {attempt['startedAt']}: "
    if attempt["outcome"] == LAPSED:
        why = "its worker was killed, hung or cut off and its lease ran out; tried again by itself"
        return f"{line}{LAPSED} [{attempt['errorCode']}] {why}"
    return line + (attempt["outcome"] or "runs")


def error_text(error: Mapping[str, Any]) -> str:
    """A job's last error; of a purged letter and of an erased document only the code is kept."""
    return f"[{error['code']}]: {error['message'] or 'its text was removed, by a purge or an erasure'}"
