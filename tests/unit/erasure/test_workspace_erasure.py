"""What a deletion demands, and the form of its certificate."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import pytest

from agentic_rag.documents.blob_keys import is_older, snapshots_of
from agentic_rag.erasure.workspace_erasure import (
    KEPT,
    WorkspaceErasure,
    erase_job,
    require_idle,
    require_name,
)
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import WorkspaceRef

ORG, KEY = UUID(int=1), UUID(int=2)
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize("given", ["", "handbok", "Handbook", "hand book"])
def test_a_name_that_is_not_repeated_letter_by_letter_confirms_nothing(given: str) -> None:
    with pytest.raises(InvalidInput, match="'handbook'") as refused:
        require_name(given, "handbook")

    assert (refused.value.code, refused.value.path) == ("CONFIRMATION_WRONG", ("confirmName",))


def test_a_name_is_repeated_with_space_around_it() -> None:
    require_name(" handbook ", "handbook")


def test_work_that_goes_on_is_counted_by_kind() -> None:
    require_idle({})
    with pytest.raises(InvalidInput, match=r"\(ingest 2, snapshot 1\)") as refused:
        require_idle({"snapshot": 1, "ingest": 2})

    assert refused.value.code == "WORKSPACE_BUSY"


def test_a_certificate_tells_what_went_what_is_kept_and_what_it_does_not_cover() -> None:
    erasure = WorkspaceErasure(ORG, KEY, "user:ada", NOW, NOW, {"rag_runs": 2, "blobs": 1})

    assert (erasure.is_organisation, erasure.is_complete) == (False, True)
    assert set(KEPT) == {"rag_audit", "rag_erasures"}
    assert {one.place for one in erasure.not_covered} == {"database_log", "backups", "logs", "process_memory"}


def test_an_erasure_under_way_is_not_complete() -> None:
    erasure = WorkspaceErasure(ORG, ORG, "user:ada", NOW)

    assert (erasure.is_organisation, erasure.is_complete) == (True, False)


@pytest.mark.parametrize("subject", [KEY, ORG])
def test_a_certificate_says_what_becomes_of_memory(subject: UUID) -> None:
    """As decision 56 has it: a certificate is complete when those that held texts have dropped them."""
    begun = WorkspaceErasure(ORG, subject, "user:ada", NOW)
    ended = WorkspaceErasure(ORG, ORG, "user:ada", NOW, NOW)

    under_way, after = (
        next(gap.reason for gap in one.not_covered if gap.place == "process_memory") for one in (begun, ended)
    )

    assert under_way.startswith("Not every running server and worker has said yet that it dropped")
    assert after.startswith("Servers and workers of before revision 0051 are not asked")


def test_a_workspace_has_one_erasing_job() -> None:
    job = erase_job(WorkspaceRef(ORG, KEY), {})

    assert (job.kind, job.key, job.arguments) == (JobKind.ERASE, "workspace", {})


def test_a_key_tells_when_its_upload_began() -> None:
    key = "agent-documents/org/crawler/20261123T115959000000Z-0-a.md"

    assert is_older(key, NOW)
    assert not is_older(key, datetime(2026, 11, 23, 11, tzinfo=UTC))
    assert snapshots_of(WorkspaceRef(ORG, KEY)) == f"snapshots/{ORG}/{KEY}"
