"""`rag config` and `rag doctor`: what is in force, what is missing, and what to do about it."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import os
import shutil
import socket
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

import asyncpg
import pytest
import redis.exceptions
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.workspaces.organisations import MemoryOrganisations
from tests.unit.cli.product import Terminal

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.embedded.redis import EmbeddedRedis
from agentic_rag.embedded.state import FileLock
from agentic_rag.jobs.workers import WorkerCensus, WorkerIdentity, WorkerRecord
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured
from agentic_rag.models.providers.manage_keys import KeysAtRest
from agentic_rag.settings import Settings, variables
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_cli.commands.operations import doctor
from agentic_rag_cli.commands.operations.check import Check, judge_silence, ok
from agentic_rag_cli.commands.operations.doctor import (
    check_postgres,
    check_python,
    judge_clock,
)
from agentic_rag_cli.commands.operations.embedded_servers import find_server
from agentic_rag_cli.commands.operations.redis_check import check_redis, judge_cluster, judge_redis, judge_scheme
from agentic_rag_cli.commands.operations.store_writes import check_home, try_blobs, try_redis
from agentic_rag_cli.commands.operations.system_check import judge_keys, judge_workers, tell_workers
from agentic_rag_cli.commands.operations.up_check import check_port


def test_config_shows_every_variable_and_masks_secrets() -> None:
    environ = {"OPENAI_API_KEY": "sk-1234", "DATABASE_URL": "postgresql://me:hidden@127.0.0.1/x"}

    shown = Terminal(environ=environ).rag("config", "show", "--json")

    assert set(json.loads(shown.stdout)) == {variable.name for variable in variables()}
    assert "sk-1234" not in shown.stdout
    assert "hidden" not in shown.stdout


def test_config_as_text_can_be_read_back_as_a_dotenv_file() -> None:
    assert "AGENTIC_RAG_TOPK=5" in Terminal(environ={"AGENTIC_RAG_TOPK": "5"}).rag("config", "show").stdout.splitlines()


def test_doctor_logs_nothing_of_connections_that_a_time_limit_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """In whichever turn of the event loop the limit ends them."""
    environ = {"AGENTIC_RAG_HOME": str(tmp_path), "DATABASE_URL": "postgresql://postgres@127.0.0.1:1/none"}

    async def cut_off(_: Settings) -> Check:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            for turns in range(20):
                address = f"postgresql://postgres@127.0.0.1:{listener.getsockname()[1]}/none"
                connecting = asyncio.ensure_future(asyncpg.connect(address))
                for _turn in range(turns):
                    await asyncio.sleep(0)
                connecting.cancel()
                await asyncio.wait([connecting])
        await asyncio.sleep(0)
        gc.collect()
        asyncio.get_running_loop().call_exception_handler({"message": "Something else."})
        return ok("embedder", "cut off")

    monkeypatch.setattr(doctor, "check_embedder", cut_off)

    shown = Terminal(environ=environ).rag("doctor", "--json")

    assert "cut off" in shown.stdout
    assert [one.getMessage() for one in caplog.records if one.name == "asyncio"] == ["Something else."]


def test_doctor_names_a_remedy_for_each_failed_check_and_ends_with_4(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    environ = {
        "AGENTIC_RAG_HOME": str(tmp_path),
        "DATABASE_URL": "postgresql://postgres@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "AGENTIC_RAG_PORT": "0",
    }

    shown = Terminal(environ=environ).rag("doctor", "--json")

    checks = {check["name"]: check for check in json.loads(shown.stdout)}
    assert shown.exit_code == 4
    assert checks["postgres"]["code"] == "DATABASE_UNREACHABLE"
    assert checks["redis"]["code"] == "REDIS_UNREACHABLE"
    assert checks["system"]["status"] == "skipped"
    assert all(check["remedy"] for check in checks.values() if check["status"] == "failed")
    assert list(checks["postgres"]) == ["name", "status", "detail", "code", "remedy"]


def test_doctor_lists_every_wrong_setting_at_once() -> None:
    shown = Terminal(environ={"AGENTIC_RAG_TOPK": "many", "HYBRID_VECTOR_WEIGHTS": "1"}).rag("doctor")

    assert shown.exit_code == 4
    assert "AGENTIC_RAG_TOPK" in shown.stdout
    assert "HYBRID_VECTOR_WEIGHTS" in shown.stdout


def test_workers_that_run_are_told_apart_from_those_that_died() -> None:
    def seen(host: str, minute: int, *, has_ended: bool = False) -> WorkerRecord:
        at = datetime(2026, 3, 1, 12, minute, tzinfo=UTC)
        return WorkerRecord(WorkerIdentity(f"{host}:7:a", host, 7, "0.1.0", 8), at, at, at if has_ended else None)

    workers = [seen("a", 10), seen("b", 9), seen("c", 1), seen("d", 0, has_ended=True)]

    silent_since = datetime(2026, 3, 1, 12, 9, tzinfo=UTC)
    assert tell_workers(WorkerCensus.take(workers, silent_since)) == [
        "2 workers seen: a:7 (8 slots), b:7 (8 slots)",
        "1 worker died in the last day: c:7 (last seen 12:01 UTC)",
    ]
    assert tell_workers(WorkerCensus.take([], silent_since)) == []


@pytest.mark.parametrize(("minutes", "code"), [(59, "WORKERS_DIED"), (61, None)])
def test_a_worker_that_died_is_a_finding_for_an_hour_though_others_run(minutes: int, code: str | None) -> None:
    silent_since = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def seen(pid: int, at: datetime) -> WorkerRecord:
        return WorkerRecord(WorkerIdentity(f"a:{pid}:a", "a", pid, "0.1.0", 8), at, at, None)

    found = judge_workers(
        True, [seen(8, silent_since), seen(7, silent_since - timedelta(minutes=minutes))], silent_since
    )

    assert found.code == code
    assert "a:7" in found.detail


@pytest.mark.parametrize(("has_ended", "code"), [(True, None), (False, "WORKERS_DIED")])
def test_that_no_worker_runs_is_a_finding_where_the_last_one_died(has_ended: bool, code: str | None) -> None:
    seen_at = datetime(2026, 3, 1, 12, tzinfo=UTC)
    worker = WorkerRecord(WorkerIdentity("a:7:a", "a", 7, "0.1.0", 8), seen_at, seen_at, seen_at if has_ended else None)

    assert judge_workers(False, [worker], seen_at + timedelta(minutes=1)).code == code
    assert judge_workers(False, [], seen_at).code is None


def test_stored_keys_that_do_not_open_are_told_with_their_remedy() -> None:
    lost = Misconfigured("Add the master key 'old'.", code="MASTER_KEY_MISSING")

    well, found = judge_keys(KeysAtRest(1, ())), judge_keys(KeysAtRest(1, (lost, lost)))

    assert (well.status, well.detail) == ("ok", "1 stored key of providers and sources")
    assert (found.status, found.code, found.remedy) == ("degraded", "MASTER_KEY_MISSING", "Add the master key 'old'.")
    assert found.detail == "2 of 3 stored keys cannot be opened"
    assert judge_keys(KeysAtRest(0, (lost,))).status == "failed", (
        "where none opens, the master keys are those of another"
    )


def test_a_python_that_is_not_supported_is_named() -> None:
    assert check_python((3, 10)).code == "PYTHON_UNSUPPORTED"
    assert check_python((3, 12)).status == "ok"


def test_a_home_that_cannot_be_made_is_found_out_before_it_is_needed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    assert check_home(Settings().change(stores={"home": tmp_path / "new"})).status == "ok"
    assert not (tmp_path / "new").exists()
    assert check_home(Settings().change(stores={"home": file / "below"})).code == "EMBEDDED_HOME_UNUSABLE"


async def test_a_blob_directory_in_whose_place_another_lies_is_found_out_before_anything_is_written(
    tmp_path: Path,
) -> None:
    store, root, away = MemoryStore(SystemClock()), tmp_path / "blobs", tmp_path / "away"
    ours, new = WorkspaceRef(UUID(int=7), UUID(int=8)), UUID(int=9)
    blobs, database = DirectoryBlobStore(root), MemoryDatabase(store)
    parts = SimpleNamespace(blobs=blobs, database=database, organisations=Register([ours.org_id, new]))
    await try_blobs(cast("Any", parts))
    key = f"documents/{ours.org_id}/{ours.workspace_id}/a.md"
    await blobs.put(key, b"text")
    await MemoryOrganisations(store).ensure_organisation(ours.org_id, "ours")
    async with database.transaction(ours.org_id) as transaction:
        await transaction.workspaces.create(ours.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings())
        await transaction.originals.keep(ours, UUID(int=1), b"hash", key, 4)
    await try_blobs(cast("Any", parts))
    root.rename(away)
    root.mkdir()

    with pytest.raises(DependencyUnavailable, match=f"folder documents/{ours.org_id}: mount its volume") as told:
        await try_blobs(cast("Any", parts))

    assert told.value.code == "BLOBS_NOT_THERE"
    assert list(root.iterdir()) == []


async def test_who_may_not_see_all_organisations_has_the_blobs_of_his_own_looked_for(tmp_path: Path) -> None:
    parts = SimpleNamespace(
        blobs=DirectoryBlobStore(tmp_path / "blobs"),
        database=MemoryDatabase(MemoryStore(SystemClock())),
        organisations=Register(None),
    )

    await try_blobs(cast("Any", parts))


@dataclass
class Register:
    """All organisations, for who may see them."""

    ids: list[UUID] | None

    async def all(self) -> list[SimpleNamespace]:
        if self.ids is None:
            raise Misconfigured("The login may not be rag_owner.", code="DATABASE_RIGHTS_MISSING")
        return [SimpleNamespace(org_id=one) for one in self.ids]


def test_a_disk_with_little_space_is_found_out(tmp_path: Path) -> None:
    settings = Settings().change(stores={"home": tmp_path})

    assert check_home(settings, least_free=0).status == "ok"
    assert check_home(settings, least_free=1 << 62).code == "STORAGE_FULL"


def test_a_disk_that_takes_no_byte_more_is_not_called_a_lack_of_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", full)

    check = check_home(Settings().change(stores={"home": tmp_path}))

    assert (check.status, check.code) == ("failed", "STORAGE_FULL")
    assert "Free space" in (check.remedy or "")


def test_the_disks_of_blobs_and_of_the_log_are_looked_at_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, blobs = tmp_path / "home", tmp_path / "blobs"
    (home / "postgres" / "data" / "pg_wal").mkdir(parents=True)
    blobs.mkdir()
    settings = Settings().change(stores={"home": home, "blob_store": str(blobs)})

    for full in (blobs, home / "postgres" / "data" / "pg_wal"):
        monkeypatch.setattr(shutil, "disk_usage", lambda place, full=full: Disk(0 if place == full else 1 << 40))
        check = check_home(settings)
        assert (check.code, str(full) in check.detail) == ("STORAGE_FULL", True)


class Disk:
    """What the system says of a disk."""

    def __init__(self, free: int) -> None:
        self.free = free


def test_a_dead_server_of_a_living_owner_is_a_failure(tmp_path: Path) -> None:
    server = EmbeddedRedis(tmp_path)
    server.directory.mkdir()
    with ExitStack() as running:
        assert find_server("redis", lambda: tmp_path, server, running)[1][0].status == "ok"
        owner = FileLock.acquire(server.directory / "owner.lock")

        (check,) = find_server("redis", lambda: tmp_path, server, running)[1]

    assert (check.status, check.code) == ("failed", "EMBEDDED_NOT_RUNNING")
    owner.close()


def test_doctor_names_a_variable_near_one_of_ours(tmp_path: Path) -> None:
    environ = {
        "RAG_EMBEDER": "onnx",
        "AGENTIC_RAG_HOME": str(tmp_path),
        "DATABASE_URL": "postgresql://postgres@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "AGENTIC_RAG_PORT": "0",
    }

    shown = Terminal(environ=environ).rag("doctor").stdout

    assert "RAG_EMBEDER" in shown
    assert "RAG_EMBEDDER" in shown


def test_a_port_taken_by_a_stranger_is_a_finding() -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.settimeout(0)
        port = stranger.getsockname()[1]
        assert check_port(Settings().change(server={"port": port}), answer_seconds=0.2).code == "PORT_IN_USE"

    assert check_port(Settings().change(server={"port": port})).status == "ok"


@pytest.mark.integration
async def test_an_empty_database_needs_a_migration(fresh_database: str) -> None:
    checks = {check.name: check for check in await check_postgres(fresh_database)}

    assert checks["postgres"].status == "ok"
    assert checks["pgvector"].status == "failed"
    assert checks["migrations"].remedy == "Run `rag migrate up`."


@pytest.mark.integration
@pytest.mark.parametrize("wrong", [{"password": "guessed"}, {"path": "/nowhere"}], ids=["password", "database"])
async def test_a_login_that_is_refused_is_told_apart_from_a_server_that_is_away(
    fresh_database: str, wrong: dict[str, str]
) -> None:
    parts = urlsplit(fresh_database)
    place = f"{parts.username}:{wrong.get('password', parts.password)}@{parts.hostname}:{parts.port}"

    (found,) = await check_postgres(urlunsplit(parts._replace(netloc=place, path=wrong.get("path", parts.path))))

    assert (found.name, found.status, found.code) == ("postgres", "failed", "DATABASE_LOGIN_REFUSED")


@pytest.mark.integration
async def test_a_database_that_takes_no_writes_is_found_out(fresh_database: str) -> None:
    admin = await asyncpg.connect(fresh_database)
    name = await admin.fetchval("SELECT quote_ident(current_database())")
    await admin.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    await admin.close()

    checks = {check.name: check for check in await check_postgres(fresh_database)}

    assert (checks["postgres"].status, checks["postgres"].code) == ("failed", "STORE_READ_ONLY")


@pytest.mark.integration
async def test_a_database_of_a_newer_version_is_named(fresh_database: str) -> None:
    admin = await asyncpg.connect(fresh_database)
    await admin.execute("CREATE TABLE rag_schema_version (version_num text)")
    await admin.execute("INSERT INTO rag_schema_version VALUES ('9999')")
    await admin.close()

    checks = {check.name: check for check in await check_postgres(fresh_database)}

    assert (checks["migrations"].status, checks["migrations"].code) == ("failed", "SCHEMA_TOO_NEW")
    assert "run the version that migrated it" in (checks["migrations"].remedy or "")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("MISCONF Redis is configured to save snapshots, but cannot", "STORE_READ_ONLY"),
        ("MISCONF Errors writing to the AOF file: No space left on device", "STORAGE_FULL"),
    ],
)
async def test_a_redis_that_takes_no_writes_is_found_out(said: str, code: str) -> None:
    class Full:
        async def set(self, *_: object, **__: object) -> None:
            raise redis.exceptions.ResponseError(said)

    check = await try_redis(Full(), "redis://h")

    assert check is not None
    assert (check.code, check.detail[:7]) == (code, "MISCONF")


@pytest.mark.parametrize(
    ("server", "status", "code"),
    [
        ({"redis_version": "6.2.14"}, "failed", "REDIS_TOO_OLD"),
        ({"redis_version": "7.0.15"}, "degraded", "REDIS_UNSUPPORTED"),
        ({"redis_version": "7.2.11"}, "degraded", "REDIS_UNSUPPORTED"),
        ({"redis_version": "7.4.9"}, "ok", None),
        ({"redis_version": "8.10.0"}, "ok", None),
        ({"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "7.2.15"}, "ok", None),
        ({"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "9.1.4"}, "ok", None),
        ({"redis_version": "7.2.4-rc1"}, "degraded", "REDIS_UNSUPPORTED"),
    ],
)
def test_a_redis_that_its_makers_mend_no_more_is_named(server: dict[str, str], status: str, code: str | None) -> None:
    check = judge_redis(server)

    assert (check.status, check.code) == (status, code)
    assert str(server.get("valkey_version", server["redis_version"])) in check.detail
    assert (check.remedy is None) == (code is None)


@pytest.mark.parametrize(
    ("server", "is_cluster", "remedy"),
    [
        ({"redis_mode": "standalone"}, False, None),
        ({"redis_mode": "cluster"}, True, None),
        ({"redis_mode": "cluster"}, False, "redis+cluster://"),
        ({"server_mode": "cluster"}, False, "redis+cluster://"),
        ({"server_mode": "standalone"}, True, "redis://HOST"),
    ],
)
def test_the_scheme_of_a_redis_address_is_held_against_the_server(
    server: dict[str, str], is_cluster: bool, remedy: str | None
) -> None:
    check = judge_scheme(server, is_cluster=is_cluster)

    assert (check is None) == (remedy is None)
    if check is not None:
        assert (check.status, check.code) == ("failed", "REDIS_CLUSTER")
        assert str(remedy) in str(check.remedy)


@pytest.mark.parametrize(
    ("found", "said", "replicas", "code"),
    [
        (ok("redis", "Valkey 9.1"), {}, 2, None),
        (ok("redis", "Valkey 9.1"), {}, 0, "REDIS_CLUSTER_DEGRADED"),
        (ok("redis", "Valkey 9.1"), {"cluster_state": "fail"}, 2, "REDIS_CLUSTER_DEGRADED"),
        (ok("redis", "Valkey 9.1"), {"cluster_slots_ok": "10923"}, 2, "REDIS_CLUSTER_DEGRADED"),
        (Check("redis", "degraded", "Redis 7.0", "REDIS_UNSUPPORTED", "Use"), {}, 0, "REDIS_UNSUPPORTED"),
    ],
)
def test_a_cluster_that_cannot_lose_the_primary_is_told(
    found: Check, said: dict[str, str], replicas: int, code: str | None
) -> None:
    whole = {"cluster_state": "ok", "cluster_slots_ok": "16384", "cluster_slots_assigned": "16384", "cluster_size": "3"}

    check = judge_cluster(found, whole | said, replicas)

    assert (check.code, check.status) == (code, "ok" if code is None else "degraded")
    assert check.detail.startswith(f"{found.detail}, a cluster of 3 shards; the primary with our slot has {replicas}")


@pytest.mark.integration
async def test_redis_tells_its_version(redis_url: str) -> None:
    check = await check_redis(redis_url)

    assert check.status == "ok"
    assert check.detail.startswith(("Valkey ", "Redis "))


@pytest.mark.parametrize(
    ("load", "cores", "found"),
    [(0.5, 2, ("failed", "TIMEOUT")), (4.0, 2, ("failed", "TIMEOUT")), (20.0, 2, ("degraded", "MACHINE_BUSY"))],
)
def test_a_check_that_does_not_end_is_a_failure_only_where_the_machine_had_time_for_it(
    load: float, cores: int, found: tuple[str, str]
) -> None:
    check = judge_silence("system", load, cores)

    assert (check.status, check.code) == found


@pytest.mark.parametrize(
    ("seconds", "code", "told"),
    [
        (0.0, "", "as the database's"),
        (-4.0, "", "as the database's"),
        (-90.0, "CLOCK_SKEWED", "90 s behind"),
        (3600.0, "CLOCK_SKEWED", "3600 s ahead of"),
    ],
)
def test_a_clock_that_is_not_the_databases_is_told(seconds: float, code: str, told: str) -> None:
    before = datetime(2026, 11, 28, 12, tzinfo=UTC)
    after = before + timedelta(seconds=0.2)

    check = judge_clock(before, before + timedelta(seconds=seconds), after)

    assert (check.status, check.code or "") == ("degraded" if code else "ok", code)
    assert told in check.detail


def test_a_slow_answer_is_no_skewed_clock() -> None:
    before = datetime(2026, 11, 28, 12, tzinfo=UTC)

    assert judge_clock(before, before + timedelta(seconds=18), before + timedelta(seconds=19)).status == "ok"
