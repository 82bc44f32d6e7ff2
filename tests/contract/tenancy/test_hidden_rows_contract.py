"""What is hidden from a caller is not fetched when he names it to change it: its row would take time, which tells."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import UUID

import pytest
from tests.builders import new_document
from tests.contract.backends import Backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import DocumentAccess, DocumentRight
from agentic_rag.ingestion.live.cancel_job import CancelJob, CancelOutcome
from agentic_rag.ingestion.submit import ingest_job
from agentic_rag.jobs.job import Job, JobRef
from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.principals import Principal, Role


class Noting:
    """A store, or a transaction, whose calls note each document and job that they return."""

    def __init__(self, noted: object, fetched: list[object]) -> None:
        self._noted, self._fetched = noted, fetched

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._noted, name)
        if not callable(found):
            return Noting(found, self._fetched)

        async def call(*arguments: Any, **named: Any) -> Any:
            result = await found(*arguments, **named)
            if isinstance(result, Document | Job):
                self._fetched.append(result)
            return result

        return call


class NotingDatabase:
    """A database whose transactions are noted."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self.fetched: list[object] = []

    @asynccontextmanager
    async def transaction(self, org_id: UUID) -> AsyncIterator[Any]:
        async with self._database.transaction(org_id) as transaction:
            yield Noting(transaction, self.fetched)


async def hidden(adapter: Backend) -> tuple[Document, JobRef]:
    """A document of ada's that bob alone reads, and its job."""
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        access_id = await transaction.access.intern(workspace, ("user:bob",))
        document = await transaction.documents.register(
            workspace, new_document(workspace, "a.md", uploaded_by="user:ada", access_id=access_id)
        )
        ref, _ = await transaction.jobs.enqueue(ingest_job(workspace, document.document_id, bytes(32), {}))
    return document, ref


@pytest.mark.parametrize("right", list(DocumentRight))
async def test_nothing_of_a_hidden_document_is_fetched(adapter: Backend, right: DocumentRight) -> None:
    document, ref = await hidden(adapter)
    database = NotingDatabase(adapter.database)
    access = DocumentAccess(cast("Any", database), RecordingTelemetry())
    olga, ada = (Principal(ref.workspace.org_id, name, Role.MEMBER) for name in ("olga", "ada"))

    with pytest.raises(NotFound):
        await access.require(olga, ref.workspace, document.document_id, right)

    assert database.fetched == []
    if right in (DocumentRight.WRITE, DocumentRight.OWN):
        # The owner, who reads it no more, keeps the rights of an owner.
        await access.require(ada, ref.workspace, document.document_id, right)
        assert database.fetched


async def test_nothing_of_a_hidden_job_is_fetched(adapter: Backend) -> None:
    _, ref = await hidden(adapter)
    database = NotingDatabase(adapter.database)
    cancel = CancelJob(cast("Any", database), RecordingTelemetry())
    olga, ada = (Principal(ref.workspace.org_id, name, Role.MEMBER) for name in ("olga", "ada"))

    with pytest.raises(NotFound):
        await cancel.run(olga, ref.workspace, ref.job_id)

    assert database.fetched == []
    assert (await cancel.run(ada, ref.workspace, ref.job_id)).outcome is CancelOutcome.CANCELLED
