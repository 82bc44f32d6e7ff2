"""A source whose files a client sends ends in the same store as one that is read, whatever breaks on the way."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest
from tests.contract.ingestion.source_conformance import measure
from tests.contract.ingestion.source_world import FollowingWorkspace, Origin

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.documents.metadata import MetadataChange
from agentic_rag.ingestion.ports import SourceConnector, SourceItem
from agentic_rag.ingestion.sources.placed import PlacedSource
from agentic_rag.ingestion.sources.push import PushSource
from agentic_rag.ingestion.sources.pushed import ListedSource, list_file, validate_pushed_name
from agentic_rag.ingestion.sources.source import SourceKind, UnreadableItem
from agentic_rag.ingestion.sync import SyncOptions, SyncResult
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, PolicyRefused, UploadTooLarge
from agentic_rag.tenancy.audit import AuditAction

SOURCE = "source:tested"
"""The name that `FollowingWorkspace` counts."""
EIGHT = {f"{number}.md": f"Pump {number} lifts water.".encode() for number in range(8)}


async def pieces(data: bytes) -> AsyncIterator[bytes]:
    yield data[:7]
    yield data[7:]


class PushedWorkspace(FollowingWorkspace):
    """A workspace whose source a client sends."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.push = PushSource(self.database, self.sync_source, self.telemetry, 1000)
        self.sent: list[str] = []

    async def follow(
        self, origin: Origin, options: SyncOptions | None = None, breaks_after: int | None = None
    ) -> SyncResult:
        async with origin.open() as connector:
            placed = PlacedSource(connector, SOURCE, "kept/")
            files = await read_all(placed)
        try:
            return await self.bring(files, options or SyncOptions(keeps_off=True), breaks_after)
        finally:
            await self.work()

    async def bring(
        self,
        files: Mapping[str, bytes],
        options: SyncOptions = SyncOptions(),  # noqa: B008
        breaks_after: int | None = None,
    ) -> SyncResult:
        """What a client does; with `breaks_after` its connection is lost once it sent so many files."""
        found = await self.compare(files, options)
        while found.awaited and not options.dry_run:
            for path in found.awaited:
                if breaks_after is not None:
                    breaks_after -= 1
                    if breaks_after < 0:
                        raise DependencyUnavailable("It is away.", dependency="server", code="SOURCE_UNAVAILABLE")
                await self.take(path, files[path], options)
            found = await self.compare(files, options)
        return found

    async def compare(
        self,
        files: Mapping[str, bytes],
        options: SyncOptions = SyncOptions(),  # noqa: B008
        unreadable: tuple[UnreadableItem, ...] = (),
    ) -> SyncResult:
        listed = [list_file(path, hashlib.sha256(data).digest(), len(data)) for path, data in files.items()]
        return await self.push.compare(self.workspace, ListedSource(SOURCE, listed, unreadable), options, "user:ada")

    async def take(self, path: str, data: bytes, options: SyncOptions = SyncOptions()) -> SyncResult:  # noqa: B008
        self.sent.append(path)
        return await self.push.take(self.workspace, SOURCE, path, pieces(data), options, "user:ada")


async def read_all(source: SourceConnector) -> dict[str, bytes]:
    changes = await source.changes(frozenset(), None)
    assert changes is not None
    found: dict[str, bytes] = {}
    for item in changes.upserted:
        content = await source.read(item)
        assert content is not None
        found[item.path] = content.data
    return found


@pytest.fixture
async def world() -> PushedWorkspace:
    world = PushedWorkspace()
    await world.create()
    return world


@pytest.mark.slow
async def test_what_is_sent_equals_a_fresh_ingest_after_random_edits() -> None:
    result = await measure(SourceKind.DIRECTORY, steps=20, follower=PushedWorkspace)

    assert result.is_met, result
    assert result.renames > 0


async def test_what_is_stored_is_not_sent_again(world: PushedWorkspace) -> None:
    await world.bring(EIGHT)
    await world.work()
    world.sent.clear()

    again = await world.bring({**EIGHT, "1.md": b"Pump 1 was replaced.", "new.md": b"A new pump."})

    assert world.sent == ["1.md", "new.md"]
    assert (again.unchanged, again.in_progress) == (7, 2)


@pytest.mark.parametrize("to", ["else/3.md", "else/other.md", "3.txt"])
async def test_a_file_that_moved_keeps_its_document_and_is_not_sent(world: PushedWorkspace, to: str) -> None:
    await world.bring(EIGHT)
    await world.work()
    before = (await world.ids())["3.md"]
    world.sent.clear()

    moved = {to if path == "3.md" else path: data for path, data in EIGHT.items()}
    result = await world.bring(moved)
    await world.work()

    assert (result.moved, world.sent) == ((to,), []) or (result.unchanged, world.sent) == (8, [])
    assert (await world.ids())[to] == before
    assert {(path, title) for path, _, title, _ in await world.seen()} == {
        (path, path.rpartition("/")[2].rpartition(".")[0]) for path in moved
    }


async def test_nothing_is_hidden_before_every_file_came(world: PushedWorkspace) -> None:
    await world.bring(EIGHT)
    await world.work()
    before = await world.seen()
    left = {**EIGHT, "new.md": b"A new pump."}
    del left["7.md"]

    broken = await world.compare(left)

    assert (broken.awaited, broken.hidden) == (("new.md",), ())
    assert await world.seen() == before
    assert (await world.bring(left)).hidden == ("7.md",)


async def test_a_run_that_broke_off_goes_on_with_what_is_left(world: PushedWorkspace) -> None:
    await world.compare(EIGHT)
    for path in ("0.md", "1.md", "2.md"):
        await world.take(path, EIGHT[path])
    world.sent.clear()

    result = await world.bring(EIGHT)

    assert world.sent == [f"{number}.md" for number in range(3, 8)]
    assert result.in_progress == 8


async def test_a_file_that_is_sent_twice_is_ingested_once(world: PushedWorkspace) -> None:
    first = await world.take("0.md", EIGHT["0.md"])
    second = await world.take("0.md", EIGHT["0.md"])

    assert (first.new, second.in_progress) == (("0.md",), 1)
    assert first.waiting_for == second.waiting_for


async def test_a_failed_document_is_tried_again_from_its_original(world: PushedWorkspace) -> None:
    await world.bring(EIGHT)
    failing = (await world.ids())["0.md"]
    async with world.database.transaction(world.workspace.org_id) as transaction:
        for status in (DocumentStatus.PROCESSING, DocumentStatus.FAILED):
            await transaction.documents.set_status(world.workspace, failing, status)
    world.sent.clear()

    result = await world.bring(EIGHT)

    assert (result.changed, world.sent) == (("0.md",), [])


async def test_a_source_that_lost_most_files_stops_before_anything_changes(world: PushedWorkspace) -> None:
    await world.bring(EIGHT)
    await world.work()
    left = {"0.md": EIGHT["0.md"], "new.md": b"A new pump."}

    for files in (left, {}):
        with pytest.raises(PolicyRefused) as refused:
            await world.bring(files)
        assert refused.value.code == "SOURCE_SHRANK"
    confirmed = await world.bring(left, SyncOptions(delete_missing=True))

    assert len(confirmed.hidden) == 7


async def test_a_file_that_could_not_be_read_keeps_its_document(world: PushedWorkspace) -> None:
    await world.bring(EIGHT)
    await world.work()
    left = {path: data for path, data in EIGHT.items() if path != "7.md"}

    result = await world.compare(left, unreadable=(UnreadableItem("7.md", "SOURCE_UNREADABLE", "Locked."),))

    assert (result.hidden, [one.path for one in result.unreadable]) == ((), ["7.md"])


async def test_a_file_that_is_back_within_the_grace_is_not_sent(world: PushedWorkspace) -> None:
    await world.bring(EIGHT)
    await world.work()
    before = await world.seen()
    await world.bring({path: data for path, data in EIGHT.items() if path != "7.md"})
    world.sent.clear()

    result = await world.bring(EIGHT)

    assert (result.returned, world.sent) == (("7.md",), [])
    assert await world.seen() == before


async def test_a_dry_run_tells_what_would_be_done_and_awaits_nothing(world: PushedWorkspace) -> None:
    await world.bring(EIGHT)
    await world.work()
    edited = {**EIGHT, "1.md": b"Pump 1 was replaced.", "new.md": b"A new pump."}
    del edited["7.md"]

    plan = await world.compare(edited, SyncOptions(dry_run=True))

    assert (plan.new, plan.changed, plan.hidden, plan.unchanged) == (("new.md",), ("1.md",), ("7.md",), 6)
    assert plan.awaited == ()
    assert sorted(await world.ids()) == sorted(EIGHT)


async def test_readers_and_what_is_said_of_files_arrive(world: PushedWorkspace) -> None:
    options = SyncOptions(readable_by=("group:staff",), metadata=MetadataChange(domain="machines"))

    await world.bring(EIGHT, options)

    async with world.database.transaction(world.workspace.org_id) as transaction:
        known = await transaction.documents.paths(world.workspace, SOURCE)
        sets = await transaction.access.principals(world.workspace, {one.access_id for one in known.values()})
    assert {sets[one.access_id] for one in known.values()} == {("group:staff",)}
    assert {one.metadata.domain for one in known.values()} == {"machines"}


@pytest.mark.tells("rag_source_synchronised")
async def test_acts_are_told_with_who_did_them(world: PushedWorkspace) -> None:
    await world.bring({"0.md": EIGHT["0.md"]})

    told = [(one.action, one.actor) for one in world.store.organisations[world.workspace.org_id].audit]
    assert told == [(AuditAction.UPLOAD_DOCUMENT.value, "user:ada"), (AuditAction.SYNC_SOURCE.value, "user:ada")]


async def test_a_file_over_the_limit_is_refused_and_leaves_nothing(world: PushedWorkspace) -> None:
    with pytest.raises(UploadTooLarge):
        await world.take("0.md", bytes(1001))

    assert await world.ids() == {}


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../a.md", "a//b.md", "a\n.md", " a.md", "x" * 1001])
def test_a_path_that_no_document_can_have_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        list_file(path, bytes(32), 1)
    assert refused.value.code == "SOURCE_INVALID"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "upload",
        "source:4b517db9-e779-4615-8c4b-4d199250040a",
        "directory:",
        "knowledge:a\nb",
        "directory:" + "x" * 1001,
    ],
)
def test_a_client_takes_no_name_of_another_kind_of_source(name: str) -> None:
    with pytest.raises(InvalidInput):
        validate_pushed_name(name)


def test_a_path_that_stands_twice_is_refused() -> None:
    one = SourceItem("a.md", 1, "", content_hash=bytes(32))
    with pytest.raises(InvalidInput, match="twice"):
        ListedSource(SOURCE, [one, replace(one, size=2)])


def test_a_hash_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput):
        list_file("a.md", b"abc", 1)
