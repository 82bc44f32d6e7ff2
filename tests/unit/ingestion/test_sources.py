"""Following a source: what is stated of it, who reads what it brings, how it fails, rests, recovers and goes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.contract.ingestion.source_world import FollowingWorkspace, Steps
from tests.memory_store.jobs.job_board import MemoryJobBoard

from agentic_rag.adapters.sources.connectors import connectors as connectors_of
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.adapters.vault.envelope import EnvelopeVault
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.ingestion.ports import Changes, SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.breaker import BREAKS_AFTER, LONGEST_PAUSE, next_look
from agentic_rag.ingestion.sources.follow import FollowSource
from agentic_rag.ingestion.sources.manage import ManageSources
from agentic_rag.ingestion.sources.readers import parse_readers, readers_of_path
from agentic_rag.ingestion.sources.source import NewSource, Source, SourceKind, validate_credential, validate_source
from agentic_rag.jobs.job import GiveUp, JobKind, JobRef, QueueName
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, InvalidInput, PolicyRefused
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.secret import Secret
from agentic_rag.tenancy.access import ReadIdentity
from agentic_rag.tenancy.audit import SYSTEM_ACTOR, AuditFilter
from agentic_rag.web.proxies import Proxies

NOW = datetime(2026, 11, 1, tzinfo=UTC)
MASTER = {"m1": bytes(32)}


class ToldSource:
    """A source whose answers a test sets."""

    source_id = "told"

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.error: AgenticRagError | None = None
        self.secrets: list[str | None] = []
        self.cursors: list[str | None] = []
        self.unread: set[str] = set()

    @asynccontextmanager
    async def open(self, stated: NewSource, secret: Secret | None) -> AsyncIterator[SourceConnector]:
        self.secrets.append(None if secret is None else secret.reveal())
        yield self

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes | None:
        self.cursors.append(cursor)
        if self.error is not None:
            raise self.error
        if cursor == "c1":
            return None
        items = tuple(SourceItem(path, len(data), data.decode()[:20]) for path, data in self.files.items())
        return Changes(items, tuple(known - self.files.keys()), (), "c1")

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent | None:
        if item.path not in self.files:
            from agentic_rag.kernel.errors import NotFound

            raise NotFound("There is no such file.")
        if item.path in self.unread:
            raise DependencyUnavailable("It is away.", dependency="source", code="SOURCE_UNAVAILABLE")
        return SourceContent(self.files[item.path], item.fingerprint)


class World(FollowingWorkspace):
    """A workspace with one told source; `look` is what a worker does with its job."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.told = ToldSource()
        vault = EnvelopeVault(MASTER)
        self.sources = ManageSources(self.database, vault, RandomIds(), self.store.clock, self.telemetry)
        connectors = {**connectors_of(Proxies()), SourceKind.SITEMAP: self.told.open, SourceKind.GIT: self.told.open}
        self.follower = FollowSource(
            self.database, self.sync_source, connectors, vault, self.store.clock, self.telemetry
        )

    async def add(self, secret: str | None = None, **changes: object) -> Source:
        stated = replace(NewSource("site", SourceKind.SITEMAP, "https://docs.example.com/s.xml"), **changes)  # type: ignore[arg-type]
        given = None if secret is None else Secret(secret)
        return await self.sources.add(self.workspace, stated, given, "user:ada")

    async def look(self, ref: JobRef | None = None) -> str | None:
        """Run the sync job that is due, and all ingestion after it; the code of its failure."""
        due = [ref] if ref else await MemoryJobBoard(self.store).due(QueueName.BULK, 10)
        code = None
        for one in due:
            async with self.database.transaction(self.workspace.org_id) as transaction:
                lease = await transaction.jobs.lease(one, "worker", timedelta(minutes=1))
            assert lease is not None
            assert lease.job.kind is JobKind.SYNC
            try:
                await self.follower.run(lease, Steps())
            except AgenticRagError as error:
                code = error.code
                async with self.database.transaction(self.workspace.org_id) as transaction:
                    await self.follower.record_failure(transaction, lease, error, GiveUp(is_rejection=True))
            async with self.database.transaction(self.workspace.org_id) as transaction:
                await transaction.jobs.finish(one, lease.fence)
        await self.work()
        return code

    async def stored(self, source: Source) -> Source | None:
        found = await self.sources.get(self.workspace, source.source_id)
        return None if found is None else found.source

    async def again(self, source: Source, *, delete_missing: bool = False) -> str | None:
        return await self.look(
            await self.sources.sync(self.workspace, source.source_id, "user:ada", delete_missing=delete_missing)
        )

    async def wait_until_due(self, source: Source) -> None:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            stored = await transaction.sources.get(self.workspace, source.source_id)
            assert stored is not None
            due = replace(stored.health, next_at=self.store.clock.now())
            await transaction.sources.record(self.workspace, source.source_id, due)
        board = MemoryJobBoard(self.store)
        await ScheduleMaintenance(self.database, self.telemetry).enqueue(await board.upkeep())

    async def paths_for(self, *principals: str) -> list[str]:
        readers = ReadIdentity(principals)
        async with self.database.snapshot(self.workspace, readers=readers) as snapshot:
            sets = snapshot.access.access_ids
            ordinals = await snapshot.documents.ordinals_matching(DocumentFilter(), sets)
            return sorted(one.source_path for one in await snapshot.documents.chunks(sorted(ordinals), sets))


@pytest.fixture
async def world() -> World:
    world = World()
    await world.create()
    world.told.files = {f"{number}.md": f"Pump {number} lifts water.".encode() for number in range(8)}
    return world


async def test_a_new_source_is_looked_at_and_says_what_came_of_it(world: World) -> None:
    source = await world.add(secret="ghp-0123456789", kind=SourceKind.GIT)
    assert await world.look() is None

    found = await world.sources.get(world.workspace, source.source_id)
    assert found is not None
    assert found.source.health.counts["new"] == 8
    assert found.source.health.synced_at is not None
    assert sum(found.documents.values()) == 8
    assert world.told.secrets == ["ghp-0123456789"]
    assert "ghp-0123456789" not in repr(found)
    assert len(await world.paths_for()) == 8


async def test_the_first_look_of_a_process_compares_all_and_later_ones_trust_the_cursor(world: World) -> None:
    source = await world.add()
    await world.look()
    await world.wait_until_due(source)
    await world.look()
    await world.again(source)

    assert world.told.cursors == [None, "c1", None]


async def test_a_file_that_could_not_be_read_is_read_later_although_the_source_did_not_change(world: World) -> None:
    world.told.unread = {"3.md"}
    source = await world.add()
    await world.look()
    partly = await world.stored(source)
    world.told.unread = set()
    await world.wait_until_due(source)
    await world.look()
    whole = await world.stored(source)

    assert partly is not None
    assert [one.path for one in partly.health.unreadable] == ["3.md"]
    assert whole is not None
    assert whole.health.unreadable == ()
    assert len(await world.paths_for()) == 8


@pytest.mark.tells("rag_source_failed", "source_id")
async def test_a_source_that_fails_rests_ever_longer_and_recovers_at_once(world: World) -> None:
    source = await world.add(every_seconds=60)
    await world.look()
    before = await world.paths_for()
    world.told.error = DependencyUnavailable("It is away.", dependency="source", code="SOURCE_UNAVAILABLE")
    for _ in range(BREAKS_AFTER + 1):
        assert await world.again(source) == "SOURCE_UNAVAILABLE"
    resting = await world.stored(source)
    world.told.error = None
    await world.again(source)
    recovered = await world.stored(source)

    assert resting is not None
    assert resting.health.next_at is not None
    assert (resting.health.failures, resting.health.error_code) == (BREAKS_AFTER + 1, "SOURCE_UNAVAILABLE")
    assert resting.health.next_at - world.store.clock.now() > timedelta(seconds=200)
    assert recovered is not None
    assert (recovered.health.failures, recovered.health.error_code) == (0, None)
    assert await world.paths_for() == before


async def test_a_source_that_lost_most_files_changes_nothing_until_told(world: World) -> None:
    source = await world.add()
    await world.look()
    world.told.files = {path: data for path, data in world.told.files.items() if path < "2"}

    refused = await world.again(source)
    kept = await world.paths_for()
    confirmed = await world.again(source, delete_missing=True)

    assert (refused, len(kept)) == ("SOURCE_SHRANK", 8)
    assert (confirmed, await world.paths_for()) == (None, ["0.md", "1.md"])


async def test_readers_follow_the_file_that_names_them(world: World) -> None:
    world.told.files[".ragreaders"] = b"# who\n1.md group:night\n2.md group:night group:day\n"
    source = await world.add(readable_by=("group:staff",))
    await world.look()
    first = await world.paths_for("group:night")
    world.told.files[".ragreaders"] = b"1.md everyone\n"
    await world.again(source)

    assert first == ["1.md", "2.md"]
    assert await world.paths_for("group:night") == ["1.md"]
    assert "2.md" in await world.paths_for("group:staff")
    async with world.database.transaction(world.workspace.org_id) as transaction:
        told = (await transaction.audit.page(PageRequest(10), AuditFilter(action="document.access"))).items
    assert {(one.actor, one.detail["before"], one.detail["after"]) for one in told} == {
        (SYSTEM_ACTOR, "group:night", "everyone"),
        (SYSTEM_ACTOR, "group:day,group:night", "group:staff"),
    }
    world.told.files[".ragreaders"] = b"1.md\n"
    assert await world.again(source) == "SOURCE_READERS_INVALID"
    assert await world.paths_for("group:night") == ["1.md"]


@pytest.mark.slow
async def test_what_an_organisation_may_store_holds_for_sources_too(world: World) -> None:
    world.told.files = {"large.md": b"x" * 1_100_000}
    source = await world.add()
    await world.look()
    world.follower.stored_mb = 1
    world.told.files["more.md"] = b"Pump 2 lifts water."

    assert await world.again(source) == "STORAGE_QUOTA_EXCEEDED"
    assert set(await world.paths_for()) == {"large.md"}


async def test_a_source_that_is_removed_takes_its_documents_along_or_leaves_them(world: World) -> None:
    gone = await world.add(prefix="gone/")
    kept = await world.add(name="kept", prefix="kept/")
    await world.look()
    await world.sources.remove(world.workspace, gone.source_id, "user:ada")
    await world.sources.remove(world.workspace, kept.source_id, "user:ada", keep_documents=True)
    await world.look()

    assert await world.sources.all(world.workspace) == []
    assert {path.partition("/")[0] for path in await world.paths_for()} == {"kept"}


async def test_the_path_of_another_source_is_left_alone(world: World) -> None:
    await world.add()
    await world.look()
    second = await world.add(name="other")
    await world.look()

    stored = await world.stored(second)
    assert stored is not None
    assert {one.code for one in stored.health.unreadable} == {"SOURCE_PATH_TAKEN"}
    assert stored.health.counts["new"] == 0
    assert len(await world.paths_for()) == 8


async def test_a_name_is_taken_once(world: World) -> None:
    await world.add()
    with pytest.raises(InvalidInput) as taken:
        await world.add()

    assert taken.value.code == "SOURCE_EXISTS"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"name": "../x"}, "name"),
        ({"location": ""}, "location"),
        ({"location": "https://user:pass@example.com/s.xml"}, "location"),
        ({"every_seconds": 1}, "every"),
        ({"options": {"branch": "main"}}, "branch"),
        ({"kind": SourceKind.GIT, "options": {"branch": "--upload-pack=x"}}, "branch"),
        ({"prefix": "../up/"}, "prefix"),
        ({"kind": SourceKind.DIRECTORY, "location": "/etc"}, "internal"),
        ({"is_internal": True}, "internal"),
        ({"kind": SourceKind.GIT, "location": "/srv/code.git"}, "internal"),
        ({"kind": SourceKind.S3, "location": "b", "options": {"endpoint": "http://10.0.0.1"}}, "internal"),
    ],
)
def test_what_is_stated_wrongly_is_refused(changes: dict[str, object], path: str) -> None:
    stated = NewSource("site", SourceKind.SITEMAP, "https://docs.example.com/s.xml")
    with pytest.raises(InvalidInput) as wrong:
        validate_source(replace(stated, **changes))  # type: ignore[arg-type]

    assert wrong.value.code == "SOURCE_INVALID"
    assert path in wrong.value.path


@pytest.mark.parametrize(
    ("kind", "credential"),
    [
        (SourceKind.S3, "only-one"),
        (SourceKind.S3, ":secret"),
        (SourceKind.S3, "key:"),
        (SourceKind.S3, "key:two words"),
        (SourceKind.GIT, " \n"),
        (SourceKind.GIT, "token\nother"),
        (SourceKind.SITEMAP, "token"),
        (SourceKind.DIRECTORY, "token"),
    ],
)
def test_a_credential_that_the_kind_cannot_use_is_refused_and_not_told(kind: SourceKind, credential: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        validate_credential(kind, Secret(credential))

    assert (wrong.value.code, wrong.value.path) == ("SOURCE_INVALID", ("input", "credential"))
    assert "only-one" not in wrong.value.message


@pytest.mark.parametrize(
    ("kind", "credential"),
    [(SourceKind.S3, "key:sec:ret\n"), (SourceKind.GIT, "token\n"), (SourceKind.GIT, "user:token")],
)
def test_a_credential_is_taken_without_the_end_of_its_line(kind: SourceKind, credential: str) -> None:
    taken = validate_credential(kind, Secret(credential))

    assert taken is not None
    assert taken.reveal() == credential.strip()


def test_the_schedule_is_kept_until_the_breaker_opens_and_no_pause_exceeds_the_longest() -> None:
    pauses = [next_look(60, failures, NOW) for failures in range(BREAKS_AFTER + 20)]
    seconds = [(one - NOW).total_seconds() for one in pauses if one is not None]

    assert seconds[:BREAKS_AFTER] == [60] * BREAKS_AFTER
    assert seconds == sorted(seconds)
    assert seconds[BREAKS_AFTER] == 120
    assert seconds[-1] == LONGEST_PAUSE.total_seconds()
    assert next_look(0, 0, NOW) is None
    assert next_look(86_400, 9, NOW) == NOW + timedelta(days=1)


def test_the_last_line_that_matches_names_the_readers() -> None:
    rules = parse_readers("* group:staff\nsalaries/ group:board user:ada # secret\npublic/* everyone\n\n")

    assert readers_of_path(rules, "a.md") == ("group:staff",)
    assert readers_of_path(rules, "salaries/2026/a.md") == ("group:board", "user:ada")
    assert readers_of_path(rules, "public/a.md") == ()
    assert readers_of_path(rules[1:], "a.md") is None


@pytest.mark.parametrize("text", ["*", "* nobody", "ok group:a\n* everyone group:a"])
def test_a_wrong_line_of_readers_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match=f"Line {len(text.splitlines())} ") as wrong:
        parse_readers(text)

    assert wrong.value.code == "SOURCE_READERS_INVALID"


def test_only_faults_of_ours_become_dead_letters() -> None:
    assert FollowSource.is_rejection(PolicyRefused("x", code="SOURCE_SHRANK"))
    assert not FollowSource.is_rejection(AgenticRagError("x", code="INTERNAL"))
