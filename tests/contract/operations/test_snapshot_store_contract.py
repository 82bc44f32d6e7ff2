"""What is known of snapshots: states move as the table says, newest first, in no other workspace."""

from uuid import uuid4

from tests.contract.backends import Backend

from agentic_rag.operations.snapshots.snapshot import SNAPSHOT_TRANSITIONS, RestoreRecord, SnapshotReason, SnapshotState


async def test_a_snapshot_is_built_then_ready_then_expired(adapter: Backend) -> None:
    workspace, snapshot_id = await adapter.workspace(), uuid4()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        begun = await transaction.snapshots.begin(workspace, snapshot_id, SnapshotReason.MANUAL, with_originals=True)
        early = await transaction.snapshots.move(workspace, snapshot_id, SnapshotState.EXPIRED)
        finished = await transaction.snapshots.finish(workspace, snapshot_id, 7, "a/manifest.json", 99, {"rows": 3})
        ready = await transaction.snapshots.get(workspace, snapshot_id)
        expired = await transaction.snapshots.move(workspace, snapshot_id, SnapshotState.EXPIRED)
        again = await transaction.snapshots.finish(workspace, snapshot_id, 8, "b/manifest.json", 1, {})
        await transaction.snapshots.mark_empty(workspace, snapshot_id)
        [last] = await transaction.snapshots.all(workspace)

    assert (begun.state, begun.corpus_version, begun.is_stored) == (SnapshotState.BUILDING, None, True)
    assert (early, finished, expired, again) == (False, True, True, False)
    assert ready is not None
    assert (ready.state, ready.corpus_version, ready.size, ready.counts) == (SnapshotState.READY, 7, 99, {"rows": 3})
    assert (last.state, last.is_stored) == (SnapshotState.EXPIRED, False)


async def test_one_that_failed_is_built_again_and_one_that_is_ready_is_not(adapter: Backend) -> None:
    workspace, failed, ready = await adapter.workspace(), uuid4(), uuid4()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        store = transaction.snapshots
        for one in (failed, ready):
            await store.begin(workspace, one, SnapshotReason.SCHEDULED, with_originals=False)
        await store.move(workspace, failed, SnapshotState.FAILED, "DEPENDENCY_UNAVAILABLE")
        await store.mark_empty(workspace, failed)
        await store.finish(workspace, ready, 1, "m", 1, {})
        rebuilt = await store.begin(workspace, failed, SnapshotReason.SCHEDULED, with_originals=False)
        kept = await store.begin(workspace, ready, SnapshotReason.SCHEDULED, with_originals=False)

    assert (rebuilt.state, rebuilt.error_code, rebuilt.is_stored) == (SnapshotState.BUILDING, None, True)
    assert kept.state is SnapshotState.READY


async def test_what_is_built_or_ready_stays_stored_whoever_says_it_is_emptied(adapter: Backend) -> None:
    workspace, snapshot_id = await adapter.workspace(), uuid4()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        store = transaction.snapshots
        await store.begin(workspace, snapshot_id, SnapshotReason.MANUAL, with_originals=True)
        await store.mark_empty(workspace, snapshot_id)
        building = await store.get(workspace, snapshot_id)
        await store.finish(workspace, snapshot_id, 1, "m", 1, {})
        await store.mark_empty(workspace, snapshot_id)
        ready = await store.get(workspace, snapshot_id)

    assert building is not None
    assert building.is_stored
    assert ready is not None
    assert ready.is_stored


async def test_snapshots_and_restores_belong_to_one_workspace(adapter: Backend) -> None:
    org = await adapter.organisation()
    one, other, snapshot_id = await adapter.workspace(org), await adapter.workspace(org), uuid4()
    async with adapter.database.transaction(org) as transaction:
        await transaction.snapshots.begin(one, snapshot_id, SnapshotReason.MANUAL, with_originals=True)
        await transaction.snapshots.record_restore(RestoreRecord(one, snapshot_id, uuid4(), 3))

        assert await transaction.snapshots.get(other, snapshot_id) is None
        assert await transaction.snapshots.all(other) == []
        assert await transaction.snapshots.restore_record(other, snapshot_id) is None
        assert await transaction.snapshots.restore_record(one, snapshot_id) is not None


def test_every_state_has_its_moves_and_none_leaves_expired() -> None:
    assert set(SNAPSHOT_TRANSITIONS) == set(SnapshotState)
    assert SNAPSHOT_TRANSITIONS[SnapshotState.EXPIRED] == frozenset()
