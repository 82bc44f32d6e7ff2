"""What a process holds of a corpus answers as the tables do, and never with what is stale, erased or foreign."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from tests.builders import DIMENSIONS, EVERYBODY, entities_of, entity_id, half, new_document
from tests.contract.backends import Backend
from tests.contract.tenancy.test_access_store_contract import NIGHT, restrict
from tests.integration.postgres.statements import WatchedPool
from tests.memory_store.telemetry import RecordingTelemetry
from tests.subgraphs import told
from tests.waiting import eventually

from agentic_rag.adapters.postgres.documents.document_reader import PostgresDocumentReader
from agentic_rag.adapters.postgres.retrieval import resident
from agentic_rag.adapters.postgres.retrieval.resident import WHOLE, CorpusState, ResidentCorpusStore
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.documents.document import document_id_for
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.query import RetrievalQuery
from agentic_rag.retrieval.retrieve import RetrievalResult, Retrieve
from agentic_rag.tenancy.access import ANONYMOUS_READER, UNRESTRICTED_READER, ReadIdentity
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_migrations import HEAD

pytestmark = pytest.mark.integration

READERS = (ANONYMOUS_READER, UNRESTRICTED_READER, ReadIdentity(NIGHT))
DRAW = np.random.default_rng(3)
QUERIES = [*np.eye(DIMENSIONS, dtype=np.float32)[:2], *DRAW.standard_normal((2, DIMENSIONS)).astype(np.float32)]
LOOKS = ("WITH candidates AS MATERIALIZED", "AS v\nFROM unnest", "held_ordinals", "c.ordinal, d.title")
"""Words of the statements that a resident corpus saves."""
NAMES = ("Ada", "Berg", "Cork", "Delft", "Essen")


@dataclass
class Process:
    """A serving process that holds corpora."""

    pool: WatchedPool
    residents: ResidentCorpusStore
    database: PostgresDatabase

    def looks(self) -> int:
        """How often the tables were looked into."""
        return sum(any(words in one for words in LOOKS) for one in self.pool.statements)


@pytest.fixture
async def process(migrated_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Process]:
    monkeypatch.setattr(resident, "REST_AFTER_A_READ", 0)
    pool = WatchedPool(migrated_url)
    residents = ResidentCorpusStore(pool, 1 << 20)
    yield Process(pool, residents, PostgresDatabase(pool, HEAD, residents=residents))
    await residents.aclose()
    await pool.aclose()


async def nearest(database: PostgresDatabase, workspace: WorkspaceRef, as_of: int | None = None) -> list[object]:
    """For every reader the hits and cosines of every query, whole and among few, of few and of many; and what lies
    around some chunks and entities, and titles.
    """
    found: list[object] = []
    for readers in READERS:
        async with database.snapshot(workspace, as_of, readers=readers) as snapshot:
            access = snapshot.access.access_ids
            entities = [entity_id(name) for name in (*NAMES[:2], "nobody")]
            for ordinals in (range(0, 90, 7), range(90), ()):
                found += [told(await snapshot.graph.vicinity(entities, ordinals, cap)) for cap in (2, 40)]
                found.append(await snapshot.documents.titles(ordinals, access))
            for query in QUERIES:
                for scope in (SearchScope(access), SearchScope(access, frozenset(range(0, 40, 3)))):
                    for limit in (2, 30):
                        hits = await snapshot.vectors.nearest(query, 1, limit, scope)
                        cosines = await snapshot.vectors.cosines(query, 1, [hit.ordinal for hit in hits])
                        found.append((hits, cosines))
    return found


async def erase(stores: Backend, workspace: WorkspaceRef, path: str) -> None:
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, document_id_for(workspace, path))


async def compact(stores: Backend, workspace: WorkspaceRef) -> None:
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.compact(workspace)


def texts(name: str, count: int) -> dict[str, Any]:
    """Arguments of `publish`: passages, every third of them with one and the same vector, and what they mention."""
    passages = [f"{name} {number}" for number in range(count)]
    vectors = {text: half(DRAW.standard_normal(DIMENSIONS)) for text in passages}
    named = {text: entities_of(*DRAW.choice(NAMES, 3).tolist()) for text in passages[1:]}
    vectors |= dict.fromkeys(passages[::3], half([1, 2, 0, 0, 0, 0, 0, 0]))
    return {"passages": passages, "vectors": vectors, "entities": named}


async def test_what_is_held_answers_as_the_table_through_all_that_changes_it(stores: Backend, process: Process) -> None:
    workspace = await stores.workspace()

    async def publish(path: str, count: int) -> None:
        await stores.publish(workspace, path, **texts(f"{path} {uuid4()}", count))

    kept = texts("kept", 31)

    async def grow(count: int) -> None:
        await stores.publish(workspace, "kept.md", **{**kept, "passages": kept["passages"][:count]})

    for change in (
        lambda: publish("a.md", 12),
        lambda: publish("b.md", 40),
        lambda: grow(30),
        lambda: grow(31),
        lambda: publish("c.md", 1),
        lambda: publish("a.md", 9),
        lambda: restrict(stores, workspace, "b.md", NIGHT),
        lambda: publish("c.md", 2),
        lambda: erase(stores, workspace, "a.md"),
        lambda: compact(stores, workspace),
        lambda: restrict(stores, workspace, "b.md", ("user:ada",)),
        lambda: publish("a.md", 3),
    ):
        await change()
        version = await stores.database.corpus_version(workspace)
        for as_of in (None, version and version - 1):
            expected = await nearest(stores.database, workspace, as_of)  # type: ignore[arg-type]
            assert await nearest(process.database, workspace, as_of) == expected, "while it is read"
            await process.residents.settled()
            before = process.looks()
            assert await nearest(process.database, workspace, as_of) == expected, "once it is held"
            assert process.looks() == before


async def test_what_was_erased_answers_no_question_even_while_it_is_held(stores: Backend, process: Process) -> None:
    workspace = await stores.workspace()
    for path in ("kept.md", "secret.md"):
        await stores.publish(workspace, path, [path], vectors={path: half(QUERIES[0])})
    await nearest(process.database, workspace)
    await process.residents.settled()
    async with process.database.snapshot(workspace) as snapshot:
        assert len(await snapshot.vectors.nearest(QUERIES[0], 1, 5, SearchScope((0,)))) == 2

    await erase(stores, workspace, "secret.md")

    async with process.database.snapshot(workspace) as snapshot:
        hits = await snapshot.vectors.nearest(QUERIES[0], 1, 5, SearchScope((0,)))
    assert [hit.ordinal for hit in hits] == [0]
    await process.residents.settled()
    [entry] = process.residents._held.values()
    assert entry.corpus.vectors.ordinals.tolist() == [0], "and the first question after it lets go of the vector"
    assert entry.corpus.documents.titles == b"kept.md", "and of the title"


async def test_what_was_erased_is_let_go_of_before_the_rest_is_read_again(
    stores: Backend, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "secret.md", ["secret"])
    await nearest(process.database, workspace)
    await process.residents.settled()
    monkeypatch.setattr(process.residents, "_rests_until", {key: float("inf") for key in process.residents._held})

    await erase(stores, workspace, "secret.md")
    async with process.database.snapshot(workspace):
        assert (process.residents.nbytes, process.residents._loading) == (0, {})


async def ranked(database: PostgresDatabase, workspace: WorkspaceRef) -> RetrievalResult:
    """The passages about Ada's rota, whose titles decide."""
    async with database.snapshot(workspace) as snapshot:
        scope = SearchScope(snapshot.access.access_ids)
        query = RetrievalQuery(workspace.workspace_id, "Ada rota of the night", None, scope, top_k=5)
        return await Retrieve(RecordingTelemetry()).run(snapshot, query)


async def test_a_title_that_changed_without_a_version_answers_no_question_as_it_was(
    stores: Backend, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = await stores.workspace()
    named = {text: entities_of(*NAMES[:2]) for text in ("Ada has the rota", "Berg has it")}
    for path, text in zip(("day.md", "night.md"), named, strict=True):
        await stores.publish(workspace, path, [text], entities=named)
    await ranked(process.database, workspace)
    await process.residents.settled()
    process.pool.statements.clear()
    before = await ranked(process.database, workspace)
    assert len(process.pool.statements) == 3, "begin, header, and texts with names and titles"

    monkeypatch.setattr(process.residents, "_rests_until", {key: float("inf") for key in process.residents._held})
    await stores.register(workspace, new_document(workspace, "night.md", title="Ada's rota of the night"))
    process.pool.statements.clear()
    after = await ranked(process.database, workspace)
    again = len(process.pool.statements)

    assert after == await ranked(stores.database, workspace) != before  # type: ignore[arg-type]
    assert again == 4, "it ranks again with the title that the look at the texts found"
    process.pool.statements.clear()
    assert await ranked(process.database, workspace) == after
    assert len(process.pool.statements) == 3, "and the process knows the title"


async def test_titles_go_to_be_compared_only_where_one_changed_since_they_were_read(
    stores: Backend, process: Process
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["one"])
    await stores.register(workspace, new_document(workspace, "a.md", title="First"))

    async def titles(snapshot: CorpusSnapshot) -> tuple[dict[int, str], bool]:
        """The title of the one passage, and whether it waits to be compared by the statement that reads texts."""
        reader = snapshot.documents
        assert isinstance(reader, PostgresDocumentReader)
        return await reader.titles([0], EVERYBODY, are_checked=True), bool(reader._told)

    async with process.database.snapshot(workspace):
        await process.residents.settled()
    async with process.database.snapshot(workspace) as before:
        await stores.register(workspace, new_document(workspace, "a.md", title="Second"))
        async with process.database.snapshot(workspace) as changed:
            assert await titles(changed) == ({0: "First"}, True)
            await changed.documents.chunks([0], EVERYBODY)
            assert changed.documents.has_stale_titles
        assert await titles(before) == ({0: "First"}, False), "the title of its instant, whatever is known since"
        await process.residents.settled()
    async with process.database.snapshot(workspace) as after:
        assert await titles(after) == ({0: "Second"}, False), "read again meanwhile"


async def test_the_same_state_of_another_workspace_or_organisation_finds_nothing(
    stores: Backend, process: Process
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["one"])
    await nearest(process.database, workspace)
    await process.residents.settled()
    [entry] = process.residents._held.values()
    state: CorpusState = entry.state

    assert process.residents.find(workspace, state) is not None
    assert process.residents.find(WorkspaceRef(uuid4(), workspace.workspace_id), state) is None
    assert process.residents.find(WorkspaceRef(workspace.org_id, uuid4()), state) is None
    await process.residents.settled()
    assert len(process.residents._held) == 1, "row level security shows a stranger's read nothing"


async def test_memory_is_bounded_and_the_vectors_asked_for_last_stay(
    stores: Backend, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "BYTES_A_CHUNK", 0)
    workspaces = [await stores.workspace() for _ in range(3)]
    for workspace in workspaces:
        await stores.publish(workspace, "a.md", [f"passage {one}" for one in range(10)])
    await nearest(process.database, workspaces[0])
    await process.residents.settled()
    one = process.residents.nbytes
    residents = ResidentCorpusStore(process.pool, 2 * one)
    database = PostgresDatabase(process.pool, HEAD, residents=residents)

    for workspace in workspaces:
        await nearest(database, workspace)
        await residents.settled()

    assert residents.nbytes == 2 * one
    assert [key[0] for key in residents._held] == workspaces[1:]
    tiny = ResidentCorpusStore(process.pool, one - 1)
    await nearest(PostgresDatabase(process.pool, HEAD, residents=tiny), workspaces[0])
    await tiny.settled()
    assert (tiny.nbytes, tiny._loading) == (0, {}), "what does not fit is not held"
    await residents.aclose()


async def test_what_nobody_asks_for_is_dropped_in_time(
    stores: Backend, process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "IDLE_SECONDS", 0.05)
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["one"])
    await nearest(process.database, workspace)
    await process.residents.settled()

    async def is_empty() -> bool:
        return not process.residents.nbytes

    assert WHOLE in process.pool.statements, "they were read"
    await eventually(is_empty, "the vectors are dropped")
