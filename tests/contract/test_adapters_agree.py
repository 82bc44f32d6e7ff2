"""The same work done on the memory adapters and on Postgres leaves the same corpus at every version."""

from __future__ import annotations

import random
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest
from tests.builders import EVERYBODY, SPACE, entities_of, entity_id, vector_of
from tests.contract.backends import BACKENDS, Backend
from tests.subgraphs import told

from agentic_rag.documents.document import Document, DocumentFilter, SpanRequest, document_id_for
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

pytestmark = pytest.mark.integration

STEPS = 30
PATHS = ("a.md", "b/c.md", "b/d.md")
NAMES = ("Pump", "Valve", "Tank", "Pipe")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SENTENCES = {
    f"the {one} feeds the {other} {verb}": entities_of(one, other, pairs=[(one, other)])
    for one in NAMES
    for other in NAMES
    for verb in ("slowly", "twice a day")
    if one < other
}
SCOPES = (SearchScope(EVERYBODY), SearchScope(EVERYBODY, frozenset({0, 2, 3, 5, 8, 13, 21})), SearchScope((7,)))
QUESTIONS = ("which pump feeds the tank", "slowly", "unknown words only")


async def documents_of(backend: Backend, workspace: WorkspaceRef) -> list[Document]:
    """Every document, without its times."""
    async with backend.database.transaction(workspace.org_id) as transaction:
        page = await transaction.documents.page(workspace, PageRequest(100))
    return [replace(document, created_at=EPOCH, updated_at=EPOCH) for document in page.items]


async def answers_of(snapshot: CorpusSnapshot, workspace: WorkspaceRef) -> list[object]:
    """Every read of a snapshot."""
    documents, lexical, vectors, graph = snapshot.documents, snapshot.lexical, snapshot.vectors, snapshot.graph
    entity_ids: list[UUID] = [entity_id(name) for name in (*NAMES, "Unknown")]
    wanted = DocumentFilter(source_path_prefix="b/", document_ids=(document_id_for(workspace, "b/c.md"),))
    ordinals = sorted(await documents.ordinals_matching(DocumentFilter(), EVERYBODY))
    chunks = await documents.chunks(ordinals[::-1], EVERYBODY)
    answers: list[object] = [snapshot.version, snapshot.space, ordinals, chunks]
    answers.append(await documents.ordinals_matching(wanted, EVERYBODY))
    answers.append(await documents.placements([chunk.chunk_id for chunk in chunks], EVERYBODY))
    spans = [SpanRequest(chunk.revision_id, chunk.start, chunk.end) for chunk in chunks]
    stored = await documents.revision_spans(spans)
    assert all(one is not None and one.read_at is not None for one in stored)
    # Each backend has a clock of its own.
    answers.append([None if one is None else replace(one, read_at=None) for one in stored])
    answers.append(await graph.mentions_of(entity_ids, 2))
    answers.append(told(await graph.vicinity(entity_ids[::2], ordinals[::2], 2)))
    answers.append(await graph.neighbours(entity_ids, 2))
    answers.append(await graph.names(entity_ids))
    for scope in SCOPES:
        answers.append(await lexical.passages(scope))
        query = np.frombuffer(vector_of("a question"), "<f2").astype(np.float32)
        answers.append(await vectors.nearest(query, 1, 5, scope))
        for question in QUESTIONS:
            terms = query_terms(question)
            answers.append(await lexical.search(terms, 5, scope))
            answers.append(sorted((await lexical.rarity(list(terms), scope)).items()))
    return answers


async def everything(backend: Backend, workspace: WorkspaceRef) -> list[object]:
    """All that readers of any version can learn."""
    newest = await backend.database.corpus_version(workspace)
    assert newest is not None
    seen: list[object] = [newest, await documents_of(backend, workspace)]
    for version in range(newest + 1):
        try:
            async with backend.database.snapshot(workspace, version) as snapshot:
                seen.append(await answers_of(snapshot, workspace))
        except InvalidInput as refused:
            seen.append(refused.code)
    return seen


async def do_one_thing(backend: Backend, workspace: WorkspaceRef, chance: random.Random) -> object:
    """A publish mostly, sometimes an erasure or a compaction; what it reported."""
    kind = chance.choices(("publish", "erase", "compact"), (8, 1, 2))[0]
    path = chance.choice(PATHS)
    passages = chance.sample(sorted(SENTENCES), chance.randint(1, 5))
    if kind == "publish":
        return await backend.publish(workspace, path, passages, entities=SENTENCES)
    async with backend.database.transaction(workspace.org_id) as transaction:
        if kind == "erase":
            return await transaction.publisher.erase(workspace, document_id_for(workspace, path))
        return await transaction.publisher.compact(workspace)


@pytest.mark.parametrize("history_days", [7, 0])
@pytest.mark.parametrize("seed", range(3))
async def test_memory_and_postgres_agree(request: pytest.FixtureRequest, seed: int, history_days: int) -> None:
    async with AsyncExitStack() as stack:
        backends = [await stack.enter_async_context(BACKENDS[name](request)) for name in ("memory", "postgres")]
        workspace = WorkspaceRef(await backends[1].organisation(), UUID(int=seed + 1))
        for backend in backends:
            async with backend.database.transaction(workspace.org_id) as transaction:
                await transaction.workspaces.create(
                    workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings(None, history_days)
                )
                await transaction.workspaces.register_space(workspace, SPACE)
        chances = [random.Random(seed) for _ in backends]

        for step in range(STEPS):
            done = [
                await do_one_thing(backend, workspace, chance)
                for backend, chance in zip(backends, chances, strict=True)
            ]
            assert done[0] == done[1], f"step {step}"

        in_memory, in_postgres = [await everything(backend, workspace) for backend in backends]
        assert in_memory == in_postgres
