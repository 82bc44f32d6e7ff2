"""What every `AccessStore` promises: rights are told apart by set, and every reader sees a change of them at once."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import numpy as np
import pytest
from tests.builders import DIMENSIONS, entities_of, entity_id, new_document, run_of
from tests.contract.backends import Backend, FollowedBackend
from tests.subgraphs import mentions_of, passages_of

from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.documents.document import DocumentFilter, document_id_for
from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.errors import InvalidInput, Retryable
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import Neighbour, SearchScope
from agentic_rag.tenancy.access import (
    ANONYMOUS_READER,
    UNRESTRICTED_READER,
    Hiding,
    ListScope,
    ReadIdentity,
    hide_principals,
)
from agentic_rag.tenancy.ports import AccessChange
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.shown_versions import find_version, show_versions
from agentic_rag.workspaces.settings import WorkspaceSettings

ADA, BOB = ReadIdentity(("user:ada",)), ReadIdentity(("group:night", "user:bob"))
NIGHT = ("group:night",)
A, B, C = (entity_id(name) for name in ("A", "B", "C"))


async def restrict(
    adapter: Backend, workspace: WorkspaceRef, path: str, principals: tuple[str, ...]
) -> AccessChange | None:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        access_id = await transaction.access.intern(workspace, principals)
        change = await transaction.access.change(workspace, document_id_for(workspace, path), access_id)
    if isinstance(adapter, FollowedBackend):
        await adapter.follow(workspace)
    return change


async def found(
    adapter: Backend, workspace: WorkspaceRef, readers: ReadIdentity, as_of: int | None = None
) -> list[str]:
    """The texts that both text arms find for somebody, each the same."""
    async with adapter.database.snapshot(workspace, as_of, readers=readers) as snapshot:
        scope = SearchScope(snapshot.access.access_ids)
        lexical = await snapshot.lexical.search(query_terms("quorum"), 10, scope)
        assert snapshot.space is not None
        vector = np.ones(DIMENSIONS, np.float32)
        vectors = await snapshot.vectors.nearest(vector, snapshot.space.space_id, 10, scope)
        assert {hit.ordinal for hit in lexical} == {hit.ordinal for hit in vectors}
        assert await snapshot.lexical.passages(scope) == len(lexical)
        assert len(await snapshot.documents.ordinals_matching(DocumentFilter(), scope.access_ids)) == len(lexical)
        chunks = await snapshot.documents.chunks([hit.ordinal for hit in lexical], scope.access_ids)
        return sorted(chunk.text for chunk in chunks)


async def test_equal_sets_have_one_number_and_everybody_has_number_0(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    async with adapter.database.transaction(workspace.org_id) as transaction:
        night = await transaction.access.intern(workspace, NIGHT)
        assert await transaction.access.intern(workspace, ("group:night", "user:ada")) not in (0, night)
        assert await transaction.access.intern(workspace, NIGHT) == night
        assert await transaction.access.intern(workspace, ()) == 0
        assert await transaction.access.principals(workspace, [night, 0, 99]) == {night: NIGHT, 0: ()}


async def test_the_readable_sets_are_those_of_a_caller_s_principals(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        night = await transaction.access.intern(workspace, NIGHT)
        ada = await transaction.access.intern(workspace, ("user:ada",))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        readable = [
            await transaction.access.readable(workspace, one)
            for one in (ADA, BOB, ANONYMOUS_READER, UNRESTRICTED_READER)
        ]

    assert [one.access_ids for one in readable] == [(0, ada), (0, night), (0,), (0, night, ada)]
    assert [one.is_unrestricted for one in readable] == [False, False, False, True]
    head = await adapter.database.head(workspace, BOB)
    assert head is not None
    assert head.access == readable[1]


async def test_a_workspace_without_rights_hides_nothing_from_anybody(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    async with adapter.database.snapshot(workspace) as snapshot:
        assert (snapshot.access.access_ids, snapshot.access.is_unrestricted) == ((0,), True)


async def test_a_document_is_published_for_the_readers_it_was_registered_with(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        night = await transaction.access.intern(workspace, NIGHT)
    await adapter.publish(workspace, "a.md", ["quorum by day"])
    await adapter.publish(workspace, "b.md", ["quorum by night"], access_id=night)

    assert await found(adapter, workspace, ADA) == ["quorum by day"]
    assert await found(adapter, workspace, BOB) == ["quorum by day", "quorum by night"]
    assert await found(adapter, workspace, ANONYMOUS_READER) == ["quorum by day"]


async def test_a_new_revision_keeps_the_readers(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one", "quorum two"])
    await restrict(adapter, workspace, "a.md", NIGHT)

    await adapter.publish(workspace, "a.md", ["quorum zero", "quorum one"])

    assert await found(adapter, workspace, ADA) == []
    assert await found(adapter, workspace, BOB) == ["quorum one", "quorum zero"]


async def test_rights_that_change_while_a_revision_is_made_are_those_it_is_published_with(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.register(workspace, new_document(workspace, "a.md"))
    change = await restrict(adapter, workspace, "a.md", NIGHT)

    await adapter.publish(workspace, "a.md", ["quorum"])

    assert change == AccessChange(None, 0)
    assert await found(adapter, workspace, ADA) == []
    assert await found(adapter, workspace, BOB) == ["quorum"]


async def test_a_change_shows_everywhere_at_the_next_version(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one", "quorum two"])
    await adapter.publish(workspace, "b.md", ["quorum three"])
    everyone = await found(adapter, workspace, ADA)

    change = await restrict(adapter, workspace, "a.md", NIGHT)

    assert len(everyone) == 3
    assert change == AccessChange(3, 2)
    assert await found(adapter, workspace, ADA) == ["quorum three"]
    assert await found(adapter, workspace, BOB) == everyone
    head = await adapter.database.head(workspace, ADA)
    assert head is not None
    assert (head.version, head.access.version, head.access.is_unrestricted) == (3, 3, False)


async def _shown(
    adapter: Backend, workspace: WorkspaceRef, readers: ReadIdentity, versions: Sequence[int]
) -> list[int]:
    """What the readers are shown for stored versions."""
    shown = await show_versions(adapter.database, workspace, readers, versions)
    async with adapter.database.snapshot(workspace, readers=readers) as snapshot:
        assert [await snapshot.shown(one) for one in versions] == shown
    return shown


async def test_versions_that_changed_only_hidden_documents_are_not_shown(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one"])  # 1: everybody's
    await restrict(adapter, workspace, "a.md", NIGHT)  # 2: taken from everybody
    await adapter.publish(workspace, "a.md", ["quorum two"])  # 3: hidden
    await restrict(adapter, workspace, "a.md", ("user:ada",))  # 4: from one set to another
    await adapter.publish(workspace, "b.md", ["quorum three"])  # 5: everybody's
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, document_id_for(workspace, "a.md"))  # 6: hidden but from Ada

    versions = range(7)
    assert await _shown(adapter, workspace, ANONYMOUS_READER, versions) == [0, 1, 2, 2, 2, 3, 3]
    assert await _shown(adapter, workspace, BOB, versions) == [0, 1, 2, 3, 4, 5, 5]
    assert await _shown(adapter, workspace, ADA, versions) == [0, 1, 2, 2, 3, 4, 5]
    assert await _shown(adapter, workspace, UNRESTRICTED_READER, versions) == list(versions)


async def test_a_shown_version_reads_the_first_that_is_shown_so(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    await adapter.publish(workspace, "a.md", ["quorum two"])
    await adapter.publish(workspace, "b.md", ["quorum three"])

    stored = [await find_version(adapter.database, workspace, ADA, one) for one in (0, 1, 2, 3, 4)]

    assert stored == [0, 1, 2, 4, 5]
    assert await find_version(adapter.database, workspace, ADA, None) is None
    assert [await find_version(adapter.database, workspace, BOB, one) for one in (2, 3, 4)] == [2, 3, 4]


async def test_an_instant_reads_the_version_that_was_the_newest_then(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    before = datetime.now(UTC)
    await adapter.publish(workspace, "a.md", ["quorum one"])
    between = datetime.now(UTC)
    await adapter.publish(workspace, "a.md", ["quorum two"])
    await restrict(adapter, workspace, "a.md", NIGHT)

    async def at(instant: datetime) -> int | None:
        return await find_version(adapter.database, workspace, UNRESTRICTED_READER, None, instant)

    assert [await at(one) for one in (before, between, datetime.now(UTC))] == [0, 1, 3]
    assert await at(between.replace(tzinfo=None)) == 1, "an instant without a zone is of UTC"
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    for early in (before - timedelta(days=1), first):
        with pytest.raises(InvalidInput) as refused:
            await at(early)
        assert refused.value.code == "AS_OF_UNAVAILABLE"
    with pytest.raises(InvalidInput):
        await at(datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-14))))


async def test_rights_hold_for_older_versions_too(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one", "quorum two"])
    await adapter.publish(workspace, "a.md", ["quorum two"])
    assert await found(adapter, workspace, ADA, 1) == ["quorum one", "quorum two"]

    await restrict(adapter, workspace, "a.md", NIGHT)

    assert await found(adapter, workspace, ADA, 1) == []
    assert await found(adapter, workspace, BOB, 1) == ["quorum one", "quorum two"]


async def test_wider_rights_leave_older_text_in_the_sets_that_are_given(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one", "quorum two"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    await adapter.publish(workspace, "a.md", ["quorum two", "quorum three"])
    document = document_id_for(workspace, "a.md")

    async with adapter.database.transaction(workspace.org_id) as transaction:
        held = await transaction.access.held_sets(workspace, document)
        [(night, principals)] = held.items()
        change = await transaction.access.change(workspace, document, 0, {night: night})
        again = await transaction.access.change(workspace, document, 0, {night: night, 0: 0})
    newest, older = await found(adapter, workspace, ADA), await found(adapter, workspace, ADA, 2)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        opened = await transaction.access.change(workspace, document, 0)

    assert principals == NIGHT
    assert (change, again, opened) == (AccessChange(4, 2), AccessChange(None, 0), AccessChange(5, 1))
    assert newest == ["quorum three", "quorum two"]
    assert older == ["quorum two"]
    assert await found(adapter, workspace, ADA, 2) == ["quorum one", "quorum two"]


async def test_older_text_moves_where_the_newest_keeps_its_readers(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one", "quorum two"])
    await adapter.publish(workspace, "a.md", ["quorum two"])
    async with adapter.database.transaction(workspace.org_id) as transaction:
        night = await transaction.access.intern(workspace, NIGHT)
        change = await transaction.access.change(workspace, document_id_for(workspace, "a.md"), 0, {0: night})

    assert change == AccessChange(3, 1)
    assert await found(adapter, workspace, ADA) == ["quorum two"]
    assert await found(adapter, workspace, ADA, 1) == ["quorum two"]
    assert await found(adapter, workspace, BOB, 1) == ["quorum one", "quorum two"]


async def test_the_readers_that_older_text_was_left_to_are_told_once_it_is_gone(adapter: Backend) -> None:
    workspace = await adapter.workspace(settings=WorkspaceSettings(history_days=0))
    await adapter.publish(workspace, "a.md", ["quorum one"])
    document = document_id_for(workspace, "a.md")
    await restrict(adapter, workspace, "a.md", NIGHT)
    await adapter.publish(workspace, "a.md", ["quorum two"])
    async with adapter.database.transaction(workspace.org_id) as transaction:
        [night] = await transaction.access.held_sets(workspace, document)
        await transaction.access.change(workspace, document, 0, {night: night})
        while await transaction.publisher.compact(workspace) is None:
            pass
        left = await transaction.access.held_sets(workspace, document)
        with pytest.raises(Retryable, match="meanwhile"):
            await transaction.access.change(workspace, document, 0, {0: 0})
        opened = await transaction.access.change(workspace, document, 0)
        open_to_all = await transaction.access.held_sets(workspace, document)

    assert left == {0: (), night: NIGHT}
    assert opened == AccessChange(None, 0)
    assert open_to_all == {0: ()}


async def test_a_set_of_older_text_that_is_not_given_is_a_conflict(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum one"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    await adapter.publish(workspace, "a.md", ["quorum two"])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        with pytest.raises(Retryable, match="meanwhile"):
            await transaction.access.change(workspace, document_id_for(workspace, "a.md"), 0, {99: 0})


async def test_owner_and_writers_stay_when_a_document_is_registered_again(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    new = new_document(workspace, "a.md", uploaded_by="user:ada")
    await adapter.register(workspace, new)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.access.set_writers(workspace, new.document_id, ("group:night",))

    again = await adapter.register(workspace, replace(new, uploaded_by="user:bob"))
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.access.set_owner(workspace, new.document_id, "user:bob")
        given = await transaction.documents.get(workspace, new.document_id)

    assert (again.uploaded_by, again.writers) == ("user:ada", ("group:night",))
    assert given is not None
    assert given.uploaded_by == "user:bob"


async def test_the_way_back_is_as_short(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    await restrict(adapter, workspace, "a.md", ("user:ada",))
    assert await found(adapter, workspace, BOB) == []

    change = await restrict(adapter, workspace, "a.md", ())

    assert change is not None
    assert await found(adapter, workspace, BOB) == ["quorum"] == await found(adapter, workspace, ANONYMOUS_READER)
    assert await restrict(adapter, workspace, "a.md", ()) == AccessChange(None, 0)


async def test_merged_postings_keep_the_rights(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for path in ("a.md", "b.md"):
        await adapter.publish(workspace, path, [f"quorum of {path}"])
    await restrict(adapter, workspace, "a.md", NIGHT)

    for _ in range(2):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.compact(workspace)
        assert await found(adapter, workspace, ADA) == ["quorum of b.md"]
        assert await found(adapter, workspace, BOB) == ["quorum of a.md", "quorum of b.md"]
    await restrict(adapter, workspace, "a.md", ())
    assert await found(adapter, workspace, ADA) == ["quorum of a.md", "quorum of b.md"]


async def test_statistics_are_those_of_a_corpus_without_the_hidden(adapter: Backend) -> None:
    mixed, alone = await adapter.workspace(), await adapter.workspace()
    await adapter.publish(mixed, "hidden.md", ["quorum lease", "quorum quorum", "lease of a quorum"])
    for workspace in (mixed, alone):
        await adapter.publish(workspace, "a.md", ["quorum here", "another text"])
    await restrict(adapter, mixed, "hidden.md", NIGHT)
    scores: list[list[float]] = []
    for workspace in (mixed, alone):
        async with adapter.database.snapshot(workspace, readers=ADA) as snapshot:
            scope = SearchScope(snapshot.access.access_ids)
            hits = await snapshot.lexical.search(query_terms("quorum lease"), 10, scope)
            rarity = await snapshot.lexical.rarity(list(query_terms("quorum lease")), scope)
            scores.append([*(one for hit in hits for one in (hit.raw, hit.score)), *rarity.values()])

    assert scores[0] == scores[1]


async def test_documents_are_listed_counted_and_found_by_name_for_their_readers(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for path in ("a.md", "b.md"):
        await adapter.publish(workspace, path, [f"quorum of {path}"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    a, b, gone = (document_id_for(workspace, path) for path in ("a.md", "b.md", "c.md"))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        readable = await transaction.access.readable(workspace, ADA)
        scope = ListScope(readable.access_ids, ADA.principals)
        page = await transaction.documents.page(workspace, PageRequest(), (), scope)
        counted = await transaction.documents.count(workspace, scope)
        listed = await transaction.documents.count_listed(workspace, (), scope)
        hidden = [
            await transaction.access.unreadable(workspace, [a, b, gone], one) for one in (ADA, BOB, UNRESTRICTED_READER)
        ]
    async with adapter.database.snapshot(workspace, readers=ADA) as snapshot:
        named = await snapshot.documents.find_documents("a.md", snapshot.access.access_ids, 5)

    assert [document.document_id for document in page.items] == [b]
    assert sum(counted.values()) == listed == 1
    assert hidden == [{a}, set(), set()]
    assert named == []


@pytest.mark.parametrize("readers", [(), NIGHT])
async def test_a_withdrawn_document_is_found_by_nobody_and_listed_for_writers_who_could_read_it(
    adapter: Backend, readers: tuple[str, ...]
) -> None:
    workspace = await adapter.workspace()
    for path in ("a.md", "b.md"):
        await adapter.publish(workspace, path, [f"quorum of {path}"])
        await restrict(adapter, workspace, path, readers)
    a = document_id_for(workspace, "a.md")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.access.set_writers(workspace, a, ("group:night", "user:ada"))
        await transaction.access.set_owner(workspace, a, "user:cyd")
        await transaction.jobs.enqueue(NewJob(workspace, JobKind.DELETE, "a", {}, document_id=a))
    await restrict(adapter, workspace, "a.md", hide_principals(readers, Hiding.WITHDRAWN))

    texts = [await found(adapter, workspace, one) for one in (ADA, BOB)]
    listed: dict[str, tuple[list[str], int, int]] = {}
    async with adapter.database.transaction(workspace.org_id) as transaction:
        for one in (ADA, BOB, ReadIdentity(("user:cyd",)), ReadIdentity(("user:dan",))):
            scope = ListScope((await transaction.access.readable(workspace, one)).access_ids, one.principals)
            page = await transaction.documents.page(workspace, PageRequest(), (), scope)
            jobs = await transaction.jobs.page(workspace, PageRequest(), kinds=[JobKind.DELETE], scope=scope)
            counted = sum((await transaction.documents.count(workspace, scope)).values())
            listed[one.principals[-1]] = [item.source_path for item in page.items], counted, len(jobs.items)
        every = await transaction.documents.page(workspace, PageRequest())

    everybody, seen, other = not readers, (["a.md", "b.md"], 2, 1), (["b.md"], 1, 0)
    assert texts == [["quorum of b.md"] if everybody else [], ["quorum of b.md"]]
    assert listed == {
        "user:ada": seen if everybody else ([], 0, 0),
        "user:bob": seen,
        "user:cyd": seen if everybody else ([], 0, 0),
        "user:dan": other if everybody else ([], 0, 0),
    }
    assert [item.is_withdrawn for item in every.items] == [True, False]


@pytest.mark.parametrize("readers", [(), NIGHT])
async def test_a_document_tells_why_it_is_hidden(adapter: Backend, readers: tuple[str, ...]) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum"])
    told: list[tuple[bool, bool]] = []
    lost = hide_principals(readers, Hiding.MISSING)
    for principals in (readers, lost, hide_principals(lost, Hiding.WITHDRAWN)):
        await restrict(adapter, workspace, "a.md", principals)
        async with adapter.database.transaction(workspace.org_id) as transaction:
            document = await transaction.documents.get(workspace, document_id_for(workspace, "a.md"))
        assert document is not None
        told.append((document.is_missing, document.is_withdrawn))

    assert told == [(False, False), (True, False), (True, True)]


async def test_an_unknown_document_cannot_be_given_away(adapter: Backend) -> None:
    workspace = await adapter.workspace()

    assert await restrict(adapter, workspace, "nowhere.md", NIGHT) is None


async def test_a_document_that_is_gone_keeps_its_readers(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    for path in ("a.md", "b.md"):
        await adapter.publish(workspace, path, [f"quorum of {path}"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    a, b, never = (document_id_for(workspace, path) for path in ("a.md", "b.md", "c.md"))
    async with adapter.database.transaction(workspace.org_id) as transaction:
        for document in (a, b):
            await transaction.publisher.erase(workspace, document)
            await transaction.jobs.enqueue(NewJob(workspace, JobKind.DELETE, str(document), {}, document_id=document))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        hidden = [
            await transaction.access.unreadable(workspace, [a, b, never], one)
            for one in (ADA, BOB, UNRESTRICTED_READER)
        ]
        listed: list[set[UUID | None]] = []
        for one in (ADA, BOB):
            scope = ListScope((await transaction.access.readable(workspace, one)).access_ids, one.principals)
            page = await transaction.jobs.page(workspace, PageRequest(), kinds=[JobKind.DELETE], scope=scope)
            listed.append({job.document_id for job in page.items})

    assert hidden == [{a}, set(), set()]
    assert listed == [{b}, {a, b}]


async def test_another_organisation_s_sets_are_no_sets(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    stranger = await adapter.organisation()
    foreign = WorkspaceRef(stranger, workspace.workspace_id)

    async with adapter.database.transaction(stranger) as transaction:
        assert (await transaction.access.readable(foreign, UNRESTRICTED_READER)).access_ids == ()
        assert await transaction.access.principals(foreign, [0, 1]) == {}
        assert await transaction.access.unreadable(foreign, [document_id_for(workspace, "a.md")], ADA) == set()
    assert await adapter.database.head(foreign, BOB) is None


async def test_the_graph_counts_and_reaches_only_what_is_readable(graph_adapter: Backend) -> None:
    workspace = await graph_adapter.workspace()
    hidden = {"hidden": entities_of("A", "B", "C", pairs=[("A", "B"), ("A", "C")])}
    shown = {"shown": entities_of("A", "B", pairs=[("A", "B")])}
    await graph_adapter.publish(workspace, "hidden.md", list(hidden), entities=hidden)
    await graph_adapter.publish(workspace, "shown.md", list(shown), entities=shown)
    await restrict(graph_adapter, workspace, "hidden.md", NIGHT)

    async def seen(readers: ReadIdentity) -> tuple[Sequence[tuple[UUID, int]], Sequence[UUID], list[Neighbour]]:
        async with graph_adapter.database.snapshot(workspace, readers=readers) as snapshot:
            vicinity = await snapshot.graph.vicinity([A, C], [0, 1], 10)
            mentions = await snapshot.graph.mentions_of([A, C], 1)
            assert {one.entity_id for one in mentions} <= {one.entity_id for one in passages_of(vicinity)}
            return (
                [(one.entity_id, one.passages) for one in passages_of(vicinity)],
                sorted({one.entity_id for one in mentions_of(vicinity)}),
                await snapshot.graph.neighbours([A, C], 5),
            )

    assert await seen(ADA) == (sorted([(A, 1), (B, 1)]), sorted([A, B]), [Neighbour(A, B, 1)])
    reached, held, neighbours = await seen(BOB)
    assert (sorted(reached), held) == (sorted([(A, 2), (B, 2), (C, 1)]), sorted([A, B, C]))
    assert Neighbour(A, B, 2) in neighbours


async def test_an_entity_of_many_hidden_passages_is_one_of_few_to_who_may_not_read_them(
    graph_adapter: Backend,
) -> None:
    workspace = await graph_adapter.workspace()
    many = {f"hidden {place}": entities_of("A") for place in range(5)}
    await graph_adapter.publish(workspace, "hidden.md", list(many), entities=many)
    await graph_adapter.publish(workspace, "shown.md", ["shown"], entities={"shown": entities_of("A")})
    await restrict(graph_adapter, workspace, "hidden.md", NIGHT)

    async with graph_adapter.database.snapshot(workspace, readers=ADA) as snapshot:
        [few] = await snapshot.graph.mentions_of([A], 2)
    async with graph_adapter.database.snapshot(workspace, readers=BOB) as snapshot:
        [too_many] = await snapshot.graph.mentions_of([A], 2)

    assert (few.passages, few.ordinals) == (1, (5,))
    assert (too_many.passages, too_many.ordinals) == (3, ())


async def test_runs_of_one_subject_can_be_listed(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    mine, other = replace(run_of(workspace), subject="ada"), run_of(workspace)
    await adapter.runs.record([mine, other])

    page = await adapter.runs.page(workspace, PageRequest(), RunFilter(subject="ada"))

    assert [run.run_id for run in page.items] == [mine.run_id]
    assert len((await adapter.runs.page(workspace, PageRequest())).items) == 2


async def test_jobs_of_a_document_that_is_gone_stay_hidden_from_those_who_could_not_read_it(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["quorum"])
    await restrict(adapter, workspace, "a.md", NIGHT)
    document = document_id_for(workspace, "a.md")
    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, document)
        await transaction.jobs.enqueue(NewJob(workspace, JobKind.DELETE, "a", {}, document_id=document))

    async with adapter.database.transaction(workspace.org_id) as transaction:
        listed = [
            len((await transaction.jobs.page(workspace, PageRequest(), scope=scope)).items)
            for scope in (None, ListScope((0,), ()))
        ]

    assert listed == [1, 0]


async def test_jobs_of_a_hidden_document_are_not_listed(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    hidden, shown = (new_document(workspace, path) for path in ("a.md", "b.md"))
    for one in (hidden, shown):
        await adapter.register(workspace, one)
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.jobs.enqueue(
                NewJob(workspace, JobKind.INGEST, one.source_path, {}, document_id=one.document_id)
            )
    await restrict(adapter, workspace, "a.md", NIGHT)

    async with adapter.database.transaction(workspace.org_id) as transaction:
        listed = [
            (await transaction.jobs.page(workspace, PageRequest(), scope=ListScope(one.access_ids, ()))).items
            for one in [await transaction.access.readable(workspace, reading) for reading in (ADA, BOB)]
        ]

    assert [[job.document_id for job in page] for page in listed] == [
        [shown.document_id],
        [shown.document_id, hidden.document_id],
    ]
