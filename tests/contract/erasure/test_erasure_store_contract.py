"""What every `ErasureStore` promises."""

from uuid import uuid4

import pytest
from tests.builders import citation, entities_of, new_document, run_of
from tests.contract.backends import Backend

from agentic_rag.documents.document import document_id_for
from agentic_rag.erasure.certificate import Certificate, ErasedStore, StoreErasure
from agentic_rag.erasure.ports import DropProgress, ErasureTrace
from agentic_rag.retrieval.candidates import ChunkEntities
from agentic_rag.retrieval.graph.entities import extract_entities
from agentic_rag.tenancy.principals import WorkspaceRef

LATE = tuple(
    StoreErasure(store, count)
    for store, count in ((ErasedStore.CACHE, 4), (ErasedStore.ORIGINALS, 1), (ErasedStore.PROCESSES, 2))
)


async def erase(adapter: Backend, workspace: WorkspaceRef, path: str) -> None:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, document_id_for(workspace, path))


async def test_a_document_that_never_was_has_neither_certificate_nor_traces(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.erasures.certificate(workspace, uuid4()) is None
        assert await transaction.erasures.follow(workspace, uuid4(), LATE) is None
        assert await transaction.erasures.traces(workspace, uuid4()) == []


async def test_a_live_document_leaves_traces_in_every_store(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one", "two"], entities={"one": entities_of("Mill")})
    document_id = document_id_for(workspace, "a.md")
    await adapter.runs.record([run_of(workspace, citations=[citation(document_id, "one")])])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        traces = await transaction.erasures.traces(workspace, document_id)

    assert {trace.store for trace in traces} >= {
        "rag_documents", "rag_revisions", "rag_chunks", "rag_mentions", "rag_entities", "rag_runs",
    }  # fmt: skip


async def test_an_erasure_leaves_a_certificate_and_no_trace(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "b.md", ["other"])
    await adapter.publish(workspace, "a.md", ["one", "two"], entities={"one": entities_of("Mill")})
    document_id = document_id_for(workspace, "a.md")
    await adapter.runs.record([run_of(workspace, citations=[citation(document_id, "one")])])

    await erase(adapter, workspace, "a.md")

    async with adapter.database.transaction(workspace.org_id) as transaction:
        certificate = await transaction.erasures.certificate(workspace, document_id)
        traces = await transaction.erasures.traces(workspace, document_id)
    assert certificate is not None
    assert traces == []
    assert certificate.version == await adapter.database.corpus_version(workspace)
    counted = {one.store: one.count for one in certificate.stores}
    assert counted[ErasedStore.CHUNKS] == counted[ErasedStore.VECTORS] == 2
    assert counted[ErasedStore.ENTITIES] == counted[ErasedStore.RUNS] == 1
    assert certificate.ordinals == ((1, 2),)
    assert not certificate.is_complete


async def test_stores_that_follow_later_complete_the_certificate(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one"])
    await erase(adapter, workspace, "a.md")
    document_id = document_id_for(workspace, "a.md")

    async with adapter.database.transaction(workspace.org_id) as transaction:
        told = await transaction.erasures.follow(workspace, document_id, LATE)
        kept = await transaction.erasures.certificate(workspace, document_id)

    assert told == kept
    assert kept is not None
    assert kept.is_complete
    assert kept.count(ErasedStore.CACHE) == 4


async def test_a_document_that_came_back_has_no_certificate_any_more(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one"])
    await erase(adapter, workspace, "a.md")
    await adapter.register(workspace, new_document(workspace, "a.md"))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        document_id = document_id_for(workspace, "a.md")
        assert await transaction.erasures.certificate(workspace, document_id) is None
        assert await transaction.erasures.traces(workspace, document_id) == [ErasureTrace("rag_documents", 1)]


async def test_certificates_are_kept_by_erasure_whatever_becomes_of_the_document(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    document_id = document_id_for(workspace, "a.md")
    erased: list[Certificate | None] = []
    for text in ("one", "two"):
        await adapter.publish(workspace, "a.md", [text])
        await erase(adapter, workspace, "a.md")
        async with adapter.database.transaction(workspace.org_id) as transaction:
            erased.append(await transaction.erasures.follow(workspace, document_id, LATE))
    await adapter.register(workspace, new_document(workspace, "a.md"))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.erasures.past(workspace, document_id) == erased[::-1]
        assert await transaction.erasures.traces(workspace, document_id) == [ErasureTrace("rag_documents", 1)]


async def test_another_organisation_sees_no_certificate(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one"])
    await erase(adapter, workspace, "a.md")
    foreign = await adapter.workspace()

    async with adapter.database.transaction(foreign.org_id) as transaction:
        assert await transaction.erasures.certificate(workspace, document_id_for(workspace, "a.md")) is None


@pytest.mark.parametrize("spelling", ["Old Mill", "OLD MILL"])
async def test_an_entity_that_stays_is_spelled_as_those_who_stay_spell_it(adapter: Backend, spelling: str) -> None:
    workspace = await adapter.workspace()
    gone, stays = "The old MILL burned.", f"Visit the {spelling} today."
    for path, text in (("gone.md", gone), ("stays.md", stays)):
        await adapter.publish(workspace, path, [text], entities={text: entities_in(workspace, text)})

    await erase(adapter, workspace, "gone.md")

    wanted = {one.entity_id: one.name for one in entities_in(workspace, stays).entities}
    async with adapter.database.snapshot(workspace) as snapshot:
        assert await snapshot.graph.names(list(wanted)) == wanted


def entities_in(workspace: WorkspaceRef, text: str) -> ChunkEntities:

    return extract_entities(workspace.workspace_id, text, ("Chapter", "Section 0"), "t")


async def test_processes_complete_exactly_the_erasures_that_they_were_asked_about(adapter: Backend) -> None:
    workspace, paths = await adapter.workspace(), ("again.md", "asked.md", "later.md")
    for path in paths:
        await adapter.publish(workspace, path, ["one"])
    again, asked, later = (document_id_for(workspace, path) for path in paths)
    for path in paths[:2]:
        await erase(adapter, workspace, path)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        held = await transaction.erasures.held(workspace, 10)
        first = await transaction.erasures.held(workspace, 1)
        await transaction.erasures.order_drop(workspace, [one.document_id for one in held])
    # Meanwhile one document comes back and is erased anew, and another one is erased.
    await adapter.publish(workspace, "again.md", ["two"])
    await erase(adapter, workspace, "again.md")
    await erase(adapter, workspace, "later.md")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.erasures.confirm(workspace, held, DropProgress(followed=3, lapsed=1))
        certificates = [await transaction.erasures.certificate(workspace, one) for one in (again, asked, later)]
        past = await transaction.erasures.past(workspace, again)
        left = await transaction.erasures.held(workspace, 10)

    assert {one.document_id for one in held} == {again, asked}
    assert len(first) == 1
    assert [_said_of_processes(one) for one in (*certificates, *past)] == [
        (0, False, 0), (3, True, 1), (0, False, 0), (3, True, 1),
    ]  # fmt: skip
    assert {one.document_id for one in left} == {again, later}


def _said_of_processes(certificate: Certificate | None) -> tuple[int, bool, int]:
    assert certificate is not None
    [line] = [one for one in certificate.stores if one.store is ErasedStore.PROCESSES]
    return line.count or 0, line.done, certificate.count(ErasedStore.LAPSED_PROCESSES)
