"""What an answer costs in round trips to Postgres, counted over the use case as it is wired."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
from tests.integration.postgres.statements import WatchedContainer
from tests.waiting import eventually

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.context.prepare_context import ContextPart, ContextRequest
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role
from agentic_rag.workspaces.administer import NewWorkspace

pytestmark = pytest.mark.integration

STATEMENTS = {
    "version": "rag_corpus_head",
    "begin": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "texts": "c.chunk_id, c.document_id, c.revision_id",
    "quotes": "page_place",
    "audit": "INSERT INTO rag_audit",
}
"""Words by which each statement of an answer is known."""
ASKER = Principal(DEFAULT_ORG_ID, "ada", Role.MEMBER)


async def test_an_uncached_answer_and_a_context_wait_for_four_statements(
    migrated_database: str, redis_url: str, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "DATABASE_URL": migrated_database,
        "REDIS_URL": redis_url,
        "AGENTIC_RAG_HOME": str(tmp_path),
        "AGENTIC_RAG_QUEUE_NAME": f"statements-{uuid4().hex}",
    }
    container = WatchedContainer(load_settings(settings, dotenv=tmp_path / "none"))
    await container.first_access.ensure_organisation()
    workspace = (await container.administer.create_workspace(DEFAULT_ORG_ID, NewWorkspace("w"), "test")).ref
    log = tuple(f"The rotor of unit {n} was replaced in March because its hub had a crack." for n in range(20))
    await container.ingest_chunks.run(workspace, [ChunkedDocument("log.md", "Maintenance log", log)], "test")

    async def ask(text: str) -> list[str]:
        question = Question(workspace, text, options=AnswerOptions(cache=CacheMode.BYPASS))
        container.statements.clear()
        run = await container.answer.ask(ASKER, question)
        waited = list(container.statements)
        assert run.answer.outcome is not Outcome.ABSTAINED
        return waited

    async def prepare_context(text: str) -> list[str]:
        request = ContextRequest(text, (ContextPart(workspace),), "team_guidelines", AnswerOptions(timeout_ms=60_000))
        container.statements.clear()
        prepared = await container.context.run(ASKER, request)
        assert prepared.text
        return list(container.statements)

    async def is_recorded() -> bool:
        return await watch.fetchval("SELECT EXISTS (SELECT FROM rag_runs)")

    watch = await asyncpg.connect(migrated_database)
    try:
        await ask("Why was the rotor of unit 7 replaced?")
        await eventually(is_recorded, "the record of the first answer is behind us too")
        # A server that has been asked before holds vectors, mentions and titles; the first question reads the tables.
        await container._residents.settled()
        waited = await ask("Why was the rotor of unit 9 replaced?")
        of_a_context = await prepare_context("the rotor of unit 9")
    finally:
        await container.aclose()
        await watch.close()

    def names_of(statements: list[str]) -> list[str]:
        return [next(name for name, words in STATEMENTS.items() if words in one) for one in statements]

    assert names_of(waited) == ["version", "begin", "texts", "quotes"]
    assert names_of(of_a_context) == ["version", "begin", "texts", "audit"]
    # Only an answer reads on beside what it found.
    assert ["first.index - 1" in one for one in waited if STATEMENTS["texts"] in one] == [True]
    assert ["first.index - 1" in one for one in of_a_context if STATEMENTS["texts"] in one] == [False]
