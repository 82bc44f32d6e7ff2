"""What every `SpaceStore` promises."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import numpy as np
import pytest
from tests.builders import DIMENSIONS, EVERYBODY, SPACE, drafts_of, new_chunk, new_document, publication, revision_of
from tests.contract.backends import Backend

from agentic_rag.documents.document import document_id_for
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.errors import InvalidInput, NotFound, SpaceMismatch, SpaceSwitched
from agentic_rag.models.embedding.calibration import (
    CalibratedLine,
    CalibrationDraft,
    CalibrationRecord,
    CalibrationSource,
    SupportCalibration,
)
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate, RecallQuestion
from agentic_rag.models.embedding.similarity import MeasuredThreshold, SimilarityCalibration
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceRecord, SpaceState
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import RagConfig, WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

OTHER = EmbeddingSpace("test", "wide", 12)
DAY = timedelta(days=1)
AT_ONCE = timedelta(0)
WIDE = np.eye(OTHER.dimensions, dtype=np.float32)[3]


async def begin(
    adapter: Backend, workspace: WorkspaceRef, space: EmbeddingSpace = OTHER, gate: RecallGate | None = None
) -> SpaceRecord:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return await transaction.spaces.begin(workspace, space, gate)


async def fill(adapter: Backend, workspace: WorkspaceRef, space_id: int = 2, limit: int = 100) -> int:
    """Give every passage without one the vector `WIDE`; how many."""
    async with adapter.database.transaction(workspace.org_id) as transaction:
        missing = await transaction.spaces.missing(workspace, space_id, -1, limit)
        vector = WIDE.astype("<f2").tobytes()
        assert await transaction.spaces.fill(workspace, space_id, {one.ordinal: vector for one in missing})
    return len(missing)


async def activate(adapter: Backend, workspace: WorkspaceRef, space_id: int = 2, grace: timedelta = DAY) -> int | None:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return await transaction.spaces.activate(workspace, space_id, grace)


async def spaces(adapter: Backend, workspace: WorkspaceRef) -> dict[str, SpaceRecord]:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return {one.registered.space.model: one for one in await transaction.spaces.all(workspace)}


async def drop(adapter: Backend, workspace: WorkspaceRef) -> None:
    while True:
        async with adapter.database.transaction(workspace.org_id) as transaction:
            if not await transaction.spaces.drop_old_spaces(workspace, 2):
                return


async def found(adapter: Backend, workspace: WorkspaceRef, space_id: int, as_of: int | None = None) -> list[int]:
    query = WIDE if space_id != 1 else np.ones(DIMENSIONS, np.float32)
    async with adapter.database.snapshot(workspace, as_of) as snapshot:
        return sorted(
            hit.ordinal for hit in await snapshot.vectors.nearest(query, space_id, 50, SearchScope(EVERYBODY))
        )


@pytest.fixture
async def corpus(adapter: Backend) -> WorkspaceRef:
    """Four visible passages, and one that only the first version shows."""
    workspace = await adapter.workspace(settings=WorkspaceSettings(history_days=7))
    await adapter.publish(workspace, "a.md", ["one", "two", "old"])
    await adapter.publish(workspace, "a.md", ["one", "two", "new"])
    await adapter.publish(workspace, "b.md", ["three"])
    return workspace


async def test_the_first_space_answers_and_a_second_is_filled(adapter: Backend, corpus: WorkspaceRef) -> None:
    begun = await begin(adapter, corpus)

    assert (begun.registered.space_id, begun.state, begun.done, begun.total) == (2, SpaceState.FILLING, 0, 5)
    known = await spaces(adapter, corpus)
    assert {model: (one.state, one.done) for model, one in known.items()} == {
        "hashed": (SpaceState.ACTIVE, 5),
        "wide": (SpaceState.FILLING, 0),
    }


async def test_what_is_missing_comes_by_ordinal_with_older_versions(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    async with adapter.database.transaction(corpus.org_id) as transaction:
        first = await transaction.spaces.missing(corpus, 2, -1, 2)
        rest = await transaction.spaces.missing(corpus, 2, 1, 10)

    assert [(one.ordinal, one.text) for one in (*first, *rest)] == [
        (0, "one"), (1, "two"), (2, "old"), (3, "new"), (4, "three"),
    ]  # fmt: skip


async def test_nothing_is_switched_while_a_passage_has_no_vector(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus, limit=4)
    head = await adapter.database.head(corpus)

    assert await activate(adapter, corpus) is None
    assert await adapter.database.head(corpus) == head
    await fill(adapter, corpus)
    assert await activate(adapter, corpus) == 4


async def test_a_switch_is_a_new_version_that_answers_in_the_other_space(
    adapter: Backend, corpus: WorkspaceRef
) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    async with adapter.database.snapshot(corpus) as before:
        await activate(adapter, corpus)
        assert before.space is not None
        assert before.space.space == SPACE
        assert len(await before.vectors.nearest(np.ones(DIMENSIONS, np.float32), 1, 9, SearchScope(EVERYBODY))) == 4

    head = await adapter.database.head(corpus)
    assert head is not None
    assert (head.version, head.space) == (4, OTHER)
    assert await found(adapter, corpus, 2) == [0, 1, 3, 4]
    async with adapter.database.snapshot(corpus) as snapshot:
        assert snapshot.graph.version == 4
        with pytest.raises(SpaceMismatch):
            await snapshot.vectors.nearest(np.ones(DIMENSIONS, np.float32), 1, 9, SearchScope(EVERYBODY))


async def test_older_versions_are_read_in_the_space_that_answers(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus)

    assert await found(adapter, corpus, 2, as_of=1) == [0, 1, 2]


async def test_what_is_published_while_a_space_is_filled_must_be_caught_up(
    adapter: Backend, corpus: WorkspaceRef
) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await adapter.publish(corpus, "b.md", ["three", "four"])

    assert await activate(adapter, corpus) is None
    assert await fill(adapter, corpus) == 1
    assert await activate(adapter, corpus) == 5
    assert await found(adapter, corpus, 2) == [0, 1, 3, 4, 5]


async def test_what_is_removed_while_a_space_is_filled_is_not_visible_in_it(
    adapter: Backend, corpus: WorkspaceRef
) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus, limit=2)
    await adapter.publish(corpus, "a.md", ["two"])
    await fill(adapter, corpus)
    await activate(adapter, corpus)

    assert await found(adapter, corpus, 2) == [1, 4]
    assert await found(adapter, corpus, 2, as_of=3) == [0, 1, 3, 4]


async def test_vectors_of_the_space_that_answered_are_refused_after_a_switch(
    adapter: Backend, corpus: WorkspaceRef
) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus)
    new = new_document(corpus, "c.md")
    await adapter.register(corpus, new)
    revision = revision_of(new.document_id, ["text"])
    chunks = [new_chunk(draft) for draft in drafts_of(revision, ["text"])]

    with pytest.raises(SpaceSwitched):
        async with adapter.database.transaction(corpus.org_id) as transaction:
            await transaction.publisher.publish(corpus, 1, [publication(new.document_id, revision, chunks)])


async def test_vectors_that_are_there_or_whose_passage_is_gone_are_left_out(
    adapter: Backend, corpus: WorkspaceRef
) -> None:
    await begin(adapter, corpus)
    vector = WIDE.astype("<f2").tobytes()
    async with adapter.database.transaction(corpus.org_id) as transaction:
        await transaction.spaces.fill(corpus, 2, {0: vector})
        await transaction.spaces.fill(corpus, 2, {0: vector, 1: vector, 99: vector})

    assert (await spaces(adapter, corpus))["wide"].done == 2


async def test_vectors_of_another_length_are_refused(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)

    with pytest.raises(SpaceMismatch):
        async with adapter.database.transaction(corpus.org_id) as transaction:
            await transaction.spaces.fill(corpus, 2, {0: bytes(6)})


async def test_erasure_takes_the_vectors_of_every_space(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    async with adapter.database.transaction(corpus.org_id) as transaction:
        erased = await transaction.publisher.erase(corpus, document_id_for(corpus, "a.md"))

    assert erased is not None
    assert erased.vectors == 8
    assert {model: one.done for model, one in (await spaces(adapter, corpus)).items()} == {"hashed": 1, "wide": 1}


async def test_one_switch_at_a_time_and_none_to_where_it_is(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)

    with pytest.raises(InvalidInput, match="is running"):
        await begin(adapter, corpus, EmbeddingSpace("test", "third", 4))
    with pytest.raises(InvalidInput, match="already"):
        await begin(adapter, corpus, SPACE)
    assert (await begin(adapter, corpus)).registered.space_id == 2


async def test_a_retired_space_with_every_vector_answers_again_at_once(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus)
    retired = (await spaces(adapter, corpus))["hashed"]

    assert retired.state is SpaceState.RETIRED
    assert retired.drop_after is not None
    assert await activate(adapter, corpus, 1) == 5
    assert await found(adapter, corpus, 1) == [0, 1, 3, 4]
    assert (await spaces(adapter, corpus))["wide"].state is SpaceState.RETIRED


async def test_a_retired_space_that_fell_behind_is_filled_first(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus)
    new = new_document(corpus, "c.md")
    await adapter.register(corpus, new)
    revision = revision_of(new.document_id, ["late"])
    chunks = [new_chunk(draft, dimensions=OTHER.dimensions) for draft in drafts_of(revision, ["late"])]
    async with adapter.database.transaction(corpus.org_id) as transaction:
        await transaction.publisher.publish(corpus, 2, [publication(new.document_id, revision, chunks)])

    assert await activate(adapter, corpus, 1) is None
    again = await begin(adapter, corpus, SPACE)
    assert (again.state, again.done, again.total) == (SpaceState.FILLING, 5, 6)


async def test_an_abandoned_space_takes_no_vectors_and_cannot_answer(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    async with adapter.database.transaction(corpus.org_id) as transaction:
        assert await transaction.spaces.abandon(corpus, 2, DAY)
        assert not await transaction.spaces.abandon(corpus, 2, DAY)
        assert not await transaction.spaces.abandon(corpus, 1, DAY)
        assert not await transaction.spaces.fill(corpus, 2, {0: WIDE.astype("<f2").tobytes()})

    with pytest.raises(NotFound):
        await activate(adapter, corpus)


async def test_a_space_past_its_grace_is_due_and_is_dropped_with_its_vectors(
    adapter: Backend, corpus: WorkspaceRef
) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus, grace=AT_ONCE)
    board = adapter.job_board()
    try:
        due = [task.kind for task in await board.upkeep() if task.workspace == corpus]
    finally:
        await board.aclose()
    await drop(adapter, corpus)

    assert due == [JobKind.RETENTION]
    assert set(await spaces(adapter, corpus)) == {"wide"}
    assert await found(adapter, corpus, 2) == [0, 1, 3, 4]


async def test_a_space_inside_its_grace_is_kept(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus)
    await drop(adapter, corpus)

    assert (await spaces(adapter, corpus))["hashed"].done == 5


async def test_the_number_of_a_dropped_space_is_never_given_again(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    async with adapter.database.transaction(corpus.org_id) as transaction:
        await transaction.spaces.abandon(corpus, 2, AT_ONCE)
    await drop(adapter, corpus)

    assert (await begin(adapter, corpus)).registered.space_id == 3


async def test_staged_vectors_of_a_dropped_space_go_with_it(adapter: Backend, corpus: WorkspaceRef) -> None:
    new = new_document(corpus, "c.md")
    await adapter.register(corpus, new)
    revision = revision_of(new.document_id, ["staged"])
    async with adapter.database.transaction(corpus.org_id) as transaction:
        await transaction.documents.stage(corpus, new.document_id, revision, drafts_of(revision, ["staged"]))
        await transaction.documents.stage_vectors(corpus, revision.revision_id, 1, {0: bytes(16)})
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus, grace=AT_ONCE)
    await drop(adapter, corpus)

    async with adapter.database.transaction(corpus.org_id) as transaction:
        staged = await transaction.documents.load_staging(corpus, revision.revision_id)
    assert [(one.vector, one.space_id) for one in staged or []] == [(None, None)]


async def test_a_gate_is_kept_until_the_switch_and_its_verdict_after(adapter: Backend, corpus: WorkspaceRef) -> None:
    gate = RecallGate((RecallQuestion("who?", ("a.md", "b.md")),), 5, 0.1)
    verdict = RecallComparison(5, 1, 0.5, 1.0, passed=True)
    await begin(adapter, corpus, gate=gate)
    async with adapter.database.transaction(corpus.org_id) as transaction:
        assert await transaction.spaces.gate(corpus, 2) == gate
        assert await transaction.spaces.gate(corpus, 1) is None
        await transaction.spaces.record_verdict(corpus, 2, verdict)
    await fill(adapter, corpus)
    await activate(adapter, corpus)

    async with adapter.database.transaction(corpus.org_id) as transaction:
        assert await transaction.spaces.gate(corpus, 2) is None
    assert (await spaces(adapter, corpus))["wide"].verdict == verdict


async def test_another_space_can_be_searched_before_it_answers(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)

    async with adapter.database.snapshot(corpus, space_id=2) as snapshot:
        hits = await snapshot.vectors.nearest(WIDE, 2, 9, SearchScope(EVERYBODY))

    assert [hit.ordinal for hit in hits] == [0, 1, 3, 4]


async def test_the_head_of_an_unknown_workspace_is_none(adapter: Backend, corpus: WorkspaceRef) -> None:
    stranger = await adapter.organisation()

    assert await adapter.database.head(WorkspaceRef(stranger, corpus.workspace_id)) is None


async def test_only_a_space_that_is_being_filled_is_held_for_its_switch(adapter: Backend, corpus: WorkspaceRef) -> None:
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    async with adapter.database.transaction(corpus.org_id) as transaction:
        assert await transaction.spaces.hold(corpus, 2)
        assert not await transaction.spaces.hold(corpus, 1)
        assert not await transaction.spaces.hold(corpus, 3)


def line(threshold: float) -> CalibratedLine:
    return CalibratedLine(threshold, 40, 2 / 41, 1, 0.0006, 0.1316)


def calibrated(threshold: float, **kinds: float) -> SupportCalibration:
    return SupportCalibration(
        error=0.05,
        source=CalibrationSource.CORPUS,
        pooled=line(threshold),
        chunks=5,
        corpus_version=3,
        measured_at=datetime(2026, 11, 23, 6, tzinfo=UTC),
        kinds={kind: line(value) for kind, value in kinds.items()},
    )


async def test_a_calibration_is_stored_as_it_is_and_only_what_is_in_force_counts(
    adapter: Backend, corpus: WorkspaceRef
) -> None:
    async def put(record: CalibrationRecord, space_id: int = 1) -> bool:
        async with adapter.database.transaction(corpus.org_id) as transaction:
            return await transaction.spaces.set_calibration(corpus, space_id, record)

    async def stored(space_id: int = 1) -> CalibrationRecord:
        async with adapter.database.transaction(corpus.org_id) as transaction:
            return await transaction.spaces.calibration(corpus, space_id)

    assert await stored() == await stored(9) == CalibrationRecord()
    draft = CalibrationDraft(3, (("value", 0.5), ("fact", None)))
    tried = CalibrationRecord(trial=calibrated(0.6), again_at=10, draft=draft)
    assert await put(tried)
    assert await stored() == tried
    head = await adapter.database.head(corpus)
    assert head is not None
    assert (head.support_threshold, head.kind_thresholds, head.similarity_exponent) == (None, (), None)
    measured = (MeasuredThreshold(0.7, 0.287, 0.94, None),)
    scale = SimilarityCalibration(3.5, 40, measured, datetime(2026, 11, 23, 6, tzinfo=UTC))
    in_force = replace(tried, in_force=calibrated(0.4, value=0.5, list=0.45), draft=None, similarity=scale)
    assert await put(in_force)
    assert await stored() == in_force
    head = await adapter.database.head(corpus)
    assert head is not None
    assert (head.support_threshold, head.kind_thresholds) == (0.4, (("list", 0.45), ("value", 0.5)))
    assert head.similarity_exponent == 3.5
    assert not await put(tried, 9)


async def test_a_support_threshold_holds_for_the_space_it_was_set_in(adapter: Backend, corpus: WorkspaceRef) -> None:
    async def threshold() -> float | None:
        head = await adapter.database.head(corpus)
        assert head is not None
        return head.support_threshold

    async def keep(space_id: int, value: float | None) -> bool:
        async with adapter.database.transaction(corpus.org_id) as transaction:
            record = CalibrationRecord(None if value is None else calibrated(value))
            return await transaction.spaces.set_calibration(corpus, space_id, record)

    assert await threshold() is None
    assert await keep(1, 0.4)
    assert await threshold() == 0.4
    await begin(adapter, corpus)
    await fill(adapter, corpus)
    await activate(adapter, corpus)
    assert await threshold() is None
    await activate(adapter, corpus, 1)
    assert await threshold() == 0.4
    assert await keep(1, None)
    assert await threshold() is None
    assert not await keep(9, 0.4)


async def test_how_a_workspace_is_searched_comes_with_its_head(adapter: Backend) -> None:
    async def searched(workspace: WorkspaceRef) -> RagConfig | None:
        head = await adapter.database.head(workspace)
        assert head is not None
        return head.rag_config

    general = await adapter.workspace()
    agent = await made(adapter, general.org_id, WorkspaceKind.AGENT)
    project = await made(adapter, general.org_id, WorkspaceKind.PROJECT)
    before = [await searched(one) for one in (general, agent, project)]
    own = RagConfig(9, 0.25)
    for workspace in (general, agent):
        async with adapter.database.transaction(workspace.org_id) as transaction:
            await transaction.workspaces.change_settings(workspace.workspace_id, lambda it: replace(it, rag_config=own))

    assert before == [None, RagConfig(5, 0.7), RagConfig(5, 0.75)]
    assert [await searched(one) for one in (general, agent, project)] == [own, own, RagConfig(5, 0.75)]


async def made(adapter: Backend, org_id: UUID, kind: WorkspaceKind) -> WorkspaceRef:
    async with adapter.database.transaction(org_id) as transaction:
        workspace = await transaction.workspaces.create(uuid4(), kind.value, kind, kind.value, WorkspaceSettings())
    return workspace.ref
