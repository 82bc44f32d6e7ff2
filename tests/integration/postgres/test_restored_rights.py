"""A whole round trip: what was taken away after a backup does not come back with it."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest
from tests.integration.postgres.statements import WatchedContainer
from typer.testing import CliRunner

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.bootstrap import Container
from agentic_rag.documents.document import Document
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.providers.provider_keys import Provider, ProviderKey
from agentic_rag.operations.backups.backup import (
    DeletedConversation,
    ErasureRecord,
    RevokedKey,
    TakenAway,
    decode_erasures,
)
from agentic_rag.operations.backups.narrow_rights import RESTORE_ACTOR, NarrowedRights
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.access import Hiding, ReadIdentity, hide_principals
from agentic_rag.tenancy.audit import AuditFilter
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.rate_limits import RateLimits
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_cli.main import app
from agentic_rag_cli.wiring import Wiring

pytestmark = [pytest.mark.integration, pytest.mark.network]


def system_at(database: str, redis: str, home: Path) -> Container:
    variables = {
        "DATABASE_URL": database,
        "REDIS_URL": redis,
        "RAG_EMBEDDER": "deterministic",
        "AGENTIC_RAG_LOG_LEVEL": "error",
        "AGENTIC_RAG_MASTER_KEYS": MASTER,
        "AGENTIC_RAG_QUEUE_NAME": f"restored-{uuid4().hex}",
        "AGENTIC_RAG_HOME": str(home),
        "AGENTIC_RAG_BLOB_STORE": str(home / "blobs"),
    }
    return Container(load_settings(variables, dotenv=home / "none"))


@pytest.fixture
async def systems(
    migrated_database: str, fresh_database: str, fresh_redis: str, tmp_path: Path
) -> AsyncIterator[tuple[Container, Container]]:
    """A system, and an empty one to restore into."""
    homes = [tmp_path / "before", tmp_path / "after"]
    for home in homes:
        home.mkdir()
    made = [
        system_at(url, fresh_redis, home) for url, home in zip((migrated_database, fresh_database), homes, strict=True)
    ]
    yield made[0], made[1]
    for one in made:
        await one.aclose()


async def test_keys_revoked_and_documents_erased_after_a_backup_stay_so_when_it_is_restored(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    before, after = systems
    await before.first_access.ensure_organisation()
    kept, revoked = [
        await before.api_keys.create(DEFAULT_ORG_ID, KeyWish(name, Role.MEMBER), "test") for name in ("kept", "revoked")
    ]
    workspace = await new_workspace(before)
    cut = [
        await before.ingest_chunks.cut(PlainTextDocument(path, path, f"Text of {path}."), "default")
        for path in ("kept.txt", "erased.txt")
    ]
    await before.ingest_chunks.run(workspace, cut, "test", lambda _: None)
    backup = DirectoryBlobStore(tmp_path / "backup")
    await before.create_backup.run(backup, lambda *_: None)
    async with before.database.transaction(DEFAULT_ORG_ID) as transaction:
        page = await transaction.documents.page(workspace, PageRequest(10))
    erased = next(one for one in page.items if one.source_path == "erased.txt")
    await before.delete.run(workspace, erased.document_id)
    await before.api_keys.revoke(DEFAULT_ORG_ID, revoked.key.key_id, "test")
    records = [one async for one in before.backup_database.erasures()]

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records)
    again = await after.reapply_erasures.run(records)

    assert (told.documents, told.keys) == (1, 1)
    assert (again.documents, again.keys) == (0, 0)
    assert (await after.identity.authenticate(kept.token)).subject == "kept"
    with pytest.raises(Unauthenticated):
        await after.identity.authenticate(revoked.token)
    async with after.database.transaction(DEFAULT_ORG_ID) as transaction:
        left = await transaction.documents.page(workspace, PageRequest(10))
        [told_of] = [one for one in await transaction.api_keys.all() if one.name == "revoked"]
    assert [one.source_path for one in left.items] == ["kept.txt"]
    assert told_of.revoked_at is not None


ADMIN = Principal(DEFAULT_ORG_ID, "root", Role.ADMIN)
MASTER = f"m1:{base64.b64encode(bytes(32)).decode()}"
NOW = datetime(2026, 11, 28, tzinfo=UTC)
ADA, BOB = "user:ada", "user:bob"
PATHS = ("narrowed", "withdrawn", "handed-over", "gone", "widened", "narrowed-then-widened", "same")


async def text(system: Container, workspace: WorkspaceRef, path: str, words: str = "") -> None:
    cut = await system.ingest_chunks.cut(PlainTextDocument(path, path, f"Text of {path}. {words}"), "default")
    await system.ingest_chunks.run(workspace, [cut], "test", lambda _: None)


async def documents_in(system: Container, workspace: WorkspaceRef) -> dict[str, Document]:
    async with system.database.transaction(DEFAULT_ORG_ID) as transaction:
        page = await transaction.documents.page(workspace, PageRequest(100))
    return {one.source_path: one for one in page.items}


async def readers_in(system: Container, workspace: WorkspaceRef) -> dict[str, tuple[str, ...]]:
    """The stored principals of each document; none: everybody."""
    found = await documents_in(system, workspace)
    async with system.database.transaction(DEFAULT_ORG_ID) as transaction:
        sets = await transaction.access.principals(workspace, {one.access_id for one in found.values()})
    return {path: sets[one.access_id] for path, one in found.items()}


async def new_workspace(system: Container) -> WorkspaceRef:
    made = await system.administer.create_workspace(
        DEFAULT_ORG_ID, NewWorkspace("w", WorkspaceKind.PROJECT, "w"), "test"
    )
    return made.ref


async def list_of(system: Container) -> list[TakenAway]:
    return [one async for one in system.backup_database.erasures()]


async def test_rights_that_were_narrowed_after_a_backup_are_narrow_when_it_is_restored(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    before, after = systems
    await before.first_access.ensure_organisation()
    workspace = await new_workspace(before)
    for path in PATHS:
        await text(before, workspace, path)
    documents = {path: one.document_id for path, one in (await documents_in(before, workspace)).items()}
    change = before.document_access.change
    await change(ADMIN, workspace, documents["widened"], (ADA,))
    await change(ADMIN, workspace, documents["narrowed-then-widened"], (ADA, BOB))
    await before.document_access.set_writers(ADMIN, workspace, documents["handed-over"], (ADA, BOB))
    source = NewSource("handbook", SourceKind.S3, "bucket", prefix="handbook/", every_seconds=0)
    followed = await before.sources.add(workspace, source, None, "test")
    async with before.database.transaction(DEFAULT_ORG_ID) as transaction:
        await transaction.organisations.change(lambda now: now.with_flag(FeatureFlag.WEB_ACCESS, on=True))
        for provider in (Provider.OPENAI, Provider.GEMINI):
            sealed = before._vault.seal(DEFAULT_ORG_ID, provider.value, Secret("k" * 40))
            await transaction.providers.put(ProviderKey(provider, sealed, "", None, "test", NOW, NOW))
    earlier = await list_of(before)
    backup = DirectoryBlobStore(tmp_path / "backup")
    manifest = await before.create_backup.run(backup, lambda *_: None)

    await change(ADMIN, workspace, documents["narrowed"], (ADA,))
    await before.document_access.withdraw(ADMIN, workspace, documents["withdrawn"])
    await before.document_access.transfer(ADMIN, workspace, documents["handed-over"], ADA)
    await before.document_access.set_writers(ADMIN, workspace, documents["handed-over"], (BOB,))
    await change(ADMIN, workspace, documents["widened"], (), all_versions=True)
    await change(ADMIN, workspace, documents["narrowed-then-widened"], (BOB,))
    await text(before, workspace, "narrowed-then-widened", "Other words follow.")
    await change(ADMIN, workspace, documents["narrowed-then-widened"], ())
    await change(ADMIN, workspace, documents["gone"], (BOB,))
    await before.delete.run(workspace, documents["gone"])
    await before.sources.remove(workspace, followed.source_id, "test", keep_documents=True)
    async with before.database.transaction(DEFAULT_ORG_ID) as transaction:
        await transaction.workspaces.set_access(workspace.workspace_id, (ADA,), (ADA,))
        await transaction.providers.remove(Provider.OPENAI)
        await transaction.organisations.change(lambda now: now.with_flag(FeatureFlag.WEB_ACCESS, on=False))
    records = [*await list_of(before), *earlier]

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records, since=manifest.taken)
    again = await after.reapply_erasures.run(records, since=manifest.taken)

    readers = await readers_in(after, workspace)
    assert readers == {
        "narrowed": (ADA,),
        "withdrawn": hide_principals((), Hiding.WITHDRAWN),
        "handed-over": (),
        "widened": (ADA,),
        "narrowed-then-widened": (BOB,),
        "same": (),
    }
    handed = (await documents_in(after, workspace))["handed-over"]
    assert (handed.uploaded_by, handed.writers) == (ADA, (BOB,))
    async with after.database.transaction(DEFAULT_ORG_ID) as transaction:
        restored = await transaction.workspaces.get(workspace.workspace_id)
        flags = (await transaction.organisations.current()).settings.flags
        left = await transaction.sources.all(workspace)
        wanted = AuditFilter(actor=RESTORE_ACTOR, action="document.access")
        told_of = {one.subject: one.detail for one in (await transaction.audit.page(PageRequest(10), wanted)).items}
        keys = [one.provider for one in await transaction.providers.keys()]
        sees_gone = [
            await transaction.access.sees(workspace, documents["gone"], ReadIdentity((one,))) for one in (ADA, BOB)
        ]
    assert restored is not None
    assert (restored.readers, restored.writers) == ((ADA,), (ADA,))
    assert (flags, left, keys) == (frozenset(), [], [Provider.GEMINI])
    assert sees_gone == [False, True]
    named = {path: told_of[str(document)] for path, document in documents.items() if str(document) in told_of}
    assert {
        (path, one["before"], one["after"]) for path, one in named.items() if path in ("narrowed", "handed-over")
    } == {
        ("narrowed", "readers: everyone; writers: ; owner: test", "readers: user:ada; writers: ; owner: test"),
        (
            "handed-over",
            "readers: everyone; writers: user:ada,user:bob; owner: test",
            "readers: everyone; writers: user:bob; owner: user:ada",
        ),
    }
    assert (told.documents, told.narrowed.documents) == (1, 5)
    assert replace(told.narrowed, documents=0) == NarrowedRights(workspaces=1, sources=1, provider_keys=1, flags=1)
    assert (again.documents, again.narrowed) == (0, NarrowedRights())


async def test_a_document_that_was_narrowed_and_opened_for_its_newest_text_is_open_when_it_is_restored(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    """Its older text, and the newest one of a backup that is older text by now, stay with whom they were left to."""
    before, after = systems
    await before.first_access.ensure_organisation()
    workspace = await new_workspace(before)
    for path in ("opened", "replaced"):
        await text(before, workspace, path, "The first words.")
        await text(before, workspace, path, "The second words.")
    documents = {path: one.document_id for path, one in (await documents_in(before, workspace)).items()}
    backup = DirectoryBlobStore(tmp_path / "backup")
    manifest = await before.create_backup.run(backup, lambda *_: None)
    for path, document_id in documents.items():
        await before.document_access.change(ADMIN, workspace, document_id, (BOB,))
        if path == "replaced":
            await text(before, workspace, path, "The third words.")
        await before.document_access.change(ADMIN, workspace, document_id, ())
    listed = await list_of(before)
    records = [msgspec.json.decode(msgspec.json.encode(one), type=type(one)) for one in listed]

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records, since=manifest.taken)
    again = await after.reapply_erasures.run(records, since=manifest.taken)

    assert await readers_in(after, workspace) == {"opened": (), "replaced": (BOB,)}
    async with after.database.transaction(DEFAULT_ORG_ID) as transaction:
        held = {
            path: {*(await transaction.access.held_sets(workspace, document_id)).values()}
            for path, document_id in documents.items()
        }
    assert held == {"opened": {(), (BOB,)}, "replaced": {(BOB,)}}
    assert (told.narrowed.documents, again.narrowed.documents) == (2, 0)


async def test_a_text_that_was_narrowed_and_then_replaced_is_not_open_once_its_history_is_gone(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    """The document was opened for its newest text only, and the running system keeps no older one."""
    before, after = systems
    await before.first_access.ensure_organisation()
    workspace = await new_workspace(before)
    await keep_for(before, workspace, history_days=0)
    for path in ("replaced", "opened", "opened-for-all"):
        await text(before, workspace, path, "The first words.")
    documents = {path: one.document_id for path, one in (await documents_in(before, workspace)).items()}
    backup = DirectoryBlobStore(tmp_path / "backup")
    manifest = await before.create_backup.run(backup, lambda *_: None)
    for path, document_id in documents.items():
        await before.document_access.change(ADMIN, workspace, document_id, (BOB,))
        if path != "opened":
            await text(before, workspace, path, "The second words.")
        await before.document_access.change(ADMIN, workspace, document_id, (), all_versions=path == "opened-for-all")
    await forget_history(before, workspace)
    records = await list_of(before)

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records, since=manifest.taken)
    again = await after.reapply_erasures.run(records, since=manifest.taken)

    assert await readers_in(after, workspace) == {"replaced": (BOB,), "opened": (), "opened-for-all": ()}
    assert (told.narrowed.documents, again.narrowed.documents) == (1, 0)


async def forget_history(system: Container, workspace: WorkspaceRef) -> None:
    async with system.database.transaction(DEFAULT_ORG_ID) as transaction:
        while await transaction.publisher.compact(workspace) is None:
            pass


async def test_what_was_kept_for_fewer_days_after_a_backup_is_not_kept_for_longer_when_it_is_restored(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    before, after = systems
    await before.first_access.ensure_organisation()
    workspace = await new_workspace(before)
    await keep_for(before, workspace, history_days=30, runs_days=90, jobs_days=None, audit_days=400)
    backup = DirectoryBlobStore(tmp_path / "backup")
    manifest = await before.create_backup.run(backup, lambda *_: None)
    await keep_for(before, workspace, history_days=0, runs_days=14, jobs_days=7, audit_days=3000)
    records = await list_of(before)

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records, since=manifest.taken)
    again = await after.reapply_erasures.run(records, since=manifest.taken)

    async with after.database.transaction(DEFAULT_ORG_ID) as transaction:
        restored = await transaction.workspaces.get(workspace.workspace_id)
        page = await transaction.audit.page(PageRequest(10), AuditFilter(actor=RESTORE_ACTOR))
    assert restored is not None
    kept = restored.settings
    assert (kept.history_days, kept.runs_days, kept.jobs_days, kept.usage_days) == (0, 14, 7, None)
    assert kept.audit_days == 400
    assert told.narrowed == NarrowedRights(days=1)
    assert again.narrowed == NarrowedRights()
    assert [one.action for one in page.items] == ["workspace.settings"]


async def keep_for(system: Container, workspace: WorkspaceRef, **days: int | None) -> None:
    async with system.database.transaction(DEFAULT_ORG_ID) as transaction:
        await transaction.workspaces.change_settings(workspace.workspace_id, lambda now: replace(now, **days))


@pytest.mark.tells("rag_erasures_reapplied")
async def test_a_list_of_before_the_backup_narrows_nothing(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    before, after = systems
    await before.first_access.ensure_organisation()
    workspace = await new_workspace(before)
    await text(before, workspace, "opened")
    document = (await documents_in(before, workspace))["opened"].document_id
    await before.document_access.change(ADMIN, workspace, document, (ADA,))
    earlier = await list_of(before)
    await before.document_access.change(ADMIN, workspace, document, (), all_versions=True)
    backup = DirectoryBlobStore(tmp_path / "backup")
    manifest = await before.create_backup.run(backup, lambda *_: None)

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(earlier, since=manifest.taken)

    assert told.narrowed.documents == 0
    assert await readers_in(after, workspace) == {"opened": ()}


async def test_a_thread_that_was_deleted_after_a_backup_is_gone_when_it_is_restored(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    before, after = systems
    await before.first_access.ensure_organisation()
    workspace = await new_workspace(before)
    await text(before, workspace, "pump", "The pump lifts seven litres.")
    asker = Principal(DEFAULT_ORG_ID, "ada", Role.MEMBER)
    options = AnswerOptions(allow_web=False)
    kept, gone = [
        await before.answer.ask(
            asker, Question(workspace, f"{word} the pump lift?", options=options, begins_thread=True)
        )
        for word in ("What does", "How much does")
    ]
    await before._recorder.drain()
    backup = DirectoryBlobStore(tmp_path / "backup")
    manifest = await before.create_backup.run(backup, lambda *_: None)
    await before.threads.delete(asker, workspace, gone.run_id)
    records = await list_of(before)

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records, since=manifest.taken)
    again = await after.reapply_erasures.run(await list_of(after), since=manifest.taken)

    async with after.database.transaction(DEFAULT_ORG_ID) as transaction:
        left = await transaction.threads.page(workspace, asker.subject_id, PageRequest(10))
    assert [one.thread_id for one in left.items] == [kept.run_id]
    assert (told.conversations, again.conversations) == (1, 0)
    [restored] = [one for one in await list_of(after) if isinstance(one, DeletedConversation)]
    assert (restored.thread_id, restored.subject) == (gone.run_id, asker.subject_id)


async def test_limits_that_were_lowered_and_saved_questions_that_were_removed_after_a_backup_stay_so(
    systems: tuple[Container, Container], tmp_path: Path
) -> None:
    before, after = systems
    await before.first_access.ensure_organisation()
    workspace = await new_workspace(before)
    await text(before, workspace, "pump", "The pump lifts seven litres.")
    asker = Principal(DEFAULT_ORG_ID, "ada", Role.MEMBER)
    kept, gone = [
        await before.saved.save(
            asker,
            workspace,
            (await before.answer.ask(asker, Question(workspace, asked, options=AnswerOptions(allow_web=False)))).run_id,
        )
        for asked in ("What does the pump lift?", "How much does the pump lift?")
    ]
    await before._recorder.drain()
    await set_limits(before, workspace, RateLimits(10, 20, 30, 0), SpendingLimits(9.0, None, 0.5), SpendingLimits(4.0))
    backup = DirectoryBlobStore(tmp_path / "backup")
    manifest = await before.create_backup.run(backup, lambda *_: None)
    narrower, dearer = SpendingLimits(5.0, 7.0, 0.9, day_searches=2), SpendingLimits(40.0, day_pages=3)
    await set_limits(before, workspace, RateLimits(5, None, 300, 100), narrower, dearer)
    await before.saved.remove(asker, workspace, gone.saved_id)
    records = await list_of(before)

    await after.restore_backup.run(backup, lambda *_: None)
    told = await after.reapply_erasures.run(records, since=manifest.taken)
    again = await after.reapply_erasures.run(records, since=manifest.taken)

    async with after.database.transaction(DEFAULT_ORG_ID) as transaction:
        settings = (await transaction.organisations.current()).settings
        restored = await transaction.workspaces.get(workspace.workspace_id)
        left = [one.saved_id for one in await transaction.saved.every(workspace)]
        page = await transaction.audit.page(PageRequest(10), AuditFilter(actor=RESTORE_ACTOR))
    assert left == [kept.saved_id]
    assert settings.rates == RateLimits(5, 20, 30, 100)
    assert settings.budget == SpendingLimits(5.0, 7.0, 0.5, day_searches=2, day_pages=10_000)
    assert restored is not None
    assert restored.settings.budget == SpendingLimits(4.0, day_pages=3)
    assert told.narrowed == NarrowedRights(saved_questions=1, limits=3)
    assert again.narrowed == NarrowedRights()
    assert sorted(one.action for one in page.items) == ["budget.set", "budget.set", "rate_limits.set"]


async def set_limits(
    system: Container, workspace: WorkspaceRef, rates: RateLimits, own: SpendingLimits, of_workspace: SpendingLimits
) -> None:
    await system.admission.set_limits(DEFAULT_ORG_ID, rates, "test")
    await system.spending.set_limits(DEFAULT_ORG_ID, None, own, "test")
    await system.spending.set_limits(DEFAULT_ORG_ID, workspace.workspace_id, of_workspace, "test")


async def test_revoking_many_keys_again_costs_two_statements_a_key(
    migrated_database: str, fresh_redis: str, tmp_path: Path
) -> None:
    system = WatchedContainer(system_at(migrated_database, fresh_redis, tmp_path).settings)
    await system.first_access.ensure_organisation()
    keys = [await system.api_keys.create(DEFAULT_ORG_ID, KeyWish(f"k{one}", Role.VIEWER), "test") for one in range(24)]
    revoked = [RevokedKey(DEFAULT_ORG_ID, one.key.key_id, "2026-11-28T12:00:00+00:00") for one in keys]
    costs: list[int] = []
    for records in (revoked[:4], revoked[4:]):
        system.statements.clear()
        told = await system.reapply_erasures.run([*records, *records])
        costs.append(len(system.statements))
        assert told.keys == len(records)
    await system.aclose()

    assert costs[1] - costs[0] == 2 * (len(revoked[4:]) - 4)


async def test_the_command_lists_what_a_restore_must_not_bring_back(
    migrated_database: str, fresh_redis: str, tmp_path: Path
) -> None:
    system = system_at(migrated_database, fresh_redis, tmp_path)
    await system.first_access.ensure_organisation()
    key = await system.api_keys.create(DEFAULT_ORG_ID, KeyWish("left", Role.MEMBER), "test")
    workspace = await new_workspace(system)
    for path in ("kept", "erased"):
        await text(system, workspace, path)
    documents = {path: one.document_id for path, one in (await documents_in(system, workspace)).items()}
    await system.document_access.change(ADMIN, workspace, documents["kept"], (ADA,))
    await system.delete.run(workspace, documents["erased"])
    await system.api_keys.revoke(DEFAULT_ORG_ID, key.key.key_id, "test")
    expected = await list_of(system)
    file, wiring = tmp_path / "erasures.jsonl", Wiring(settings=lambda: system.settings)

    async def run(*arguments: str) -> str:
        given = ["backup", arguments[0], str(file), "--json", *arguments[1:]]
        done = await asyncio.to_thread(CliRunner().invoke, app, given, obj=wiring)
        assert done.exit_code == 0, done.output
        return done.stdout

    told = json.loads(await run("erasures"))
    listed = decode_erasures(file.read_bytes(), "here")
    await system.document_access.change(ADMIN, workspace, documents["kept"], (), all_versions=True)
    again = json.loads(await run("reapply"))
    await system.aclose()

    assert told == {"erasures": 1, "keys": 1, "rights": 2}
    assert [_without_time(one) for one in listed] == [_without_time(one) for one in expected]
    assert (again["documents"], again["keys"], again["narrowed"]["documents"]) == (0, 0, 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def _without_time(record: TakenAway) -> TakenAway:
    return (
        record if isinstance(record, ErasureRecord | RevokedKey | DeletedConversation) else replace(record, read_at="")
    )
