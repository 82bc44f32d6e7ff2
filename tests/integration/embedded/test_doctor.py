"""What `rag doctor` finds in a home whose embedded servers do not run."""

import asyncio
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from agentic_rag.bootstrap import build_container
from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.settings import Settings, load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_cli.commands.operations import doctor
from agentic_rag_cli.commands.operations.check import Check
from agentic_rag_cli.commands.operations.doctor import check_postgres, examine
from agentic_rag_cli.commands.operations.embedded_servers import postgres_address, redis_address
from agentic_rag_cli.commands.operations.store_writes import check_home
from agentic_rag_cli.wiring import Wiring
from agentic_rag_migrations.upgrade import upgrade

pytestmark = pytest.mark.integration


def look(settings: Settings) -> dict[str, Check]:
    """The checks of the embedded Postgres, with what its data say."""
    with ExitStack() as running:
        address, checks = postgres_address(settings, running)
        if address is not None:
            checks = [*checks, *asyncio.run(check_postgres(address))]
    return {check.name: check for check in checks}


def test_data_of_a_newer_version_are_found_out_although_nothing_runs(home: Path) -> None:
    settings = load_settings({"AGENTIC_RAG_HOME": str(home)}, dotenv=home / "none")
    with EmbeddedStack(home) as stack:
        asyncio.run(_raise_version(stack.database_url))

    checks = look(settings)

    assert (checks["migrations"].status, checks["migrations"].code) == ("failed", "SCHEMA_TOO_NEW")
    assert not EmbeddedStack(home).running


def test_what_keeps_a_server_from_starting_is_found_out(used_home: Path) -> None:
    settings = load_settings({"AGENTIC_RAG_HOME": str(used_home)}, dotenv=used_home / "none")
    (used_home / "postgres" / "data" / "global" / "pg_control").unlink()

    check = look(settings)["postgres"]

    assert (check.status, check.code) == ("failed", "EMBEDDED_START_FAILED")
    assert "pg_control" in (check.remedy or "")


def test_a_home_without_data_is_left_as_it_is(home: Path) -> None:
    settings = load_settings({"AGENTIC_RAG_HOME": str(home)}, dotenv=home / "none")

    with ExitStack() as running:
        found = [postgres_address(settings, running), redis_address(settings, running)]

    assert [(address, check.status) for address, (check,) in found] == [(None, "ok"), (None, "ok")]
    assert not home.exists()


def test_a_system_on_a_disk_that_is_nearly_full_is_looked_at_all_the_same(
    migrated_database: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {"AGENTIC_RAG_HOME": str(tmp_path), "DATABASE_URL": migrated_database, "REDIS_URL": redis_url}
    settings = load_settings({**places, "RAG_EMBEDDER": "deterministic"}, dotenv=tmp_path / "none")
    monkeypatch.setattr(doctor, "check_home", partial(check_home, least_free=1 << 62))

    checks = {check.name: check for check in asyncio.run(examine(Wiring(), settings))}

    assert checks["home"].code == "STORAGE_FULL"
    assert (checks["system"].status, "no worker is running" in checks["system"].detail) == ("ok", True)
    assert checks["blobs"].status == "ok"


def test_blobs_that_are_not_there_do_not_hide_whether_workers_run(
    migrated_database: str, redis_url: str, tmp_path: Path
) -> None:
    places = {"AGENTIC_RAG_HOME": str(tmp_path), "DATABASE_URL": migrated_database, "REDIS_URL": redis_url}
    settings = load_settings({**places, "RAG_EMBEDDER": "deterministic"}, dotenv=tmp_path / "none")
    (tmp_path / "blobs").write_bytes(b"no folder")

    checks = {check.name: check for check in asyncio.run(examine(Wiring(), settings))}

    assert (checks["system"].status, "no worker is running" in checks["system"].detail) == ("ok", True)
    assert (checks["blobs"].status, checks["blobs"].code) == ("failed", "NOT_FOUND")


async def test_a_volume_that_is_not_mounted_takes_no_upload(
    migrated_database: str, redis_url: str, tmp_path: Path
) -> None:
    """Before, the upload made the folder, and the mount hid what was stored."""
    places = {"AGENTIC_RAG_HOME": str(tmp_path), "DATABASE_URL": migrated_database, "REDIS_URL": redis_url}
    settings = load_settings({**places, "RAG_EMBEDDER": "deterministic"}, dotenv=tmp_path / "none")
    source, blobs = tmp_path / "source", tmp_path / "blobs"
    source.mkdir()
    (source / "a.md").write_text("# Valves\n\nThe relief valve opens at 3 bar.\n", encoding="utf-8")
    async with build_container(settings) as container:
        await container.first_access.ensure_organisation()
        workspaces = [WorkspaceRef(one, uuid4()) for one in (DEFAULT_ORG_ID, uuid4())]
        await container.organisations.create(workspaces[1].org_id, "second", "issuer-2")
        for workspace in workspaces:
            async with container.database.transaction(workspace.org_id) as transaction:
                await transaction.workspaces.create(
                    workspace.workspace_id, "valves", WorkspaceKind.GENERAL, None, WorkspaceSettings()
                )
        await container.sync_source.run(workspaces[0], container.directory_source(source), "user:test")
        blobs.rename(tmp_path / "away")
        (source / "b.md").write_text("# Pumps\n\nThe pump is checked in May.\n", encoding="utf-8")
        # Also by an organisation that has stored nothing yet.
        for workspace in workspaces:
            with pytest.raises(DependencyUnavailable) as refused:
                await container.sync_source.run(workspace, container.directory_source(source), "user:test")
            assert refused.value.code == "BLOBS_NOT_THERE"
        found = {check.name: check for check in await examine(Wiring(), settings)}

    assert (found["blobs"].status, found["blobs"].code) == ("failed", "BLOBS_NOT_THERE")
    assert "mount" in (found["blobs"].remedy or "")
    assert not blobs.exists()


async def _raise_version(database_url: str) -> None:
    await upgrade(database_url)
    connection = await asyncpg.connect(database_url)
    await connection.execute("UPDATE rag_schema_version SET version_num = '9999'")
    await connection.execute(
        "CREATE OR REPLACE FUNCTION rag_serves_since() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '9999' $$"
    )
    await connection.close()
