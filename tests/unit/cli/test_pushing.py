"""`rag ingest --url` and `rag knowledge sync --url`: the files are read here, and the server ends in the same store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.contract.ingestion.source_world import FollowingWorkspace
from tests.unit.cli.product import Product, Terminal
from typer.testing import Result

from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.ingestion.sources.placed import PlacedSource
from agentic_rag.ingestion.sources.push import PushSource
from agentic_rag.ingestion.sync import SyncOptions
from agentic_rag_cli.client.pushing import AT_ONCE
from agentic_rag_cli.in_process import System

URL = "http://in-process"


class ServedWorkspace(FollowingWorkspace):
    """A workspace behind the real application, whose worker works between files that are sent."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.most_bytes = 1000
        self.requests: list[str] = []
        self.breaks_at: int | None = None
        """The number of the request that breaks the connection."""
        self.refuses: list[int] = []
        """Requests that the server asks to send again."""

    def rag(self, *arguments: str) -> Result:
        product = Product()
        product.database = self.database  # type: ignore[assignment]
        product.push_source = PushSource(  # type: ignore[attr-defined]
            self.database, self.sync_source, self.telemetry, self.most_bytes
        )
        self.store._turn = asyncio.Lock()
        inner = System(product, self.workspace.org_id)._transport  # type: ignore[arg-type]
        served = self

        class Transport(httpx2.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
                sent = await request.aread()
                number = len(served.requests)
                served.requests.append(next((one for one in OPERATIONS if one.encode() in sent), "other"))
                if number == served.breaks_at:
                    raise httpx2.ConnectError("the connection broke")
                if number in served.refuses:
                    error = {"message": "later", "extensions": {"code": "RATE_LIMITED", "retryAfterSeconds": 0}}
                    return httpx2.Response(429, json={"errors": [error]})
                if served.requests[-1] != "pushFile":  # These come side by side.
                    await served.work()
                return await inner.handle_async_request(request)

        environ = {"AGENTIC_RAG_TOKEN": str(self.workspace.org_id)}
        return Terminal(product, environ, Transport()).rag(*arguments, "--url", URL)

    def count(self, operation: str) -> int:
        return self.requests.count(operation)

    async def passages(self) -> list[tuple[str, int, str, str]]:
        self.store._turn = asyncio.Lock()
        return await self.seen()


OPERATIONS = ("pushListing", "pushFile", "pushedDocuments", "createWorkspace", "workspaces")


@pytest.fixture
def served() -> ServedWorkspace:
    served = ServedWorkspace()
    asyncio.run(served.create())
    return served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.md").write_text(f"Pump {number} lifts water.")
    return folder


def fresh(folder: Path) -> list[tuple[str, int, str, str]]:
    """What a workspace shows that read the folder itself."""

    async def read() -> list[tuple[str, int, str, str]]:
        world = await FollowingWorkspace().create()
        await world.sync_source.run(world.workspace, DirectorySource(folder), "user:ada", SyncOptions())
        await world.work()
        return await world.seen()

    return asyncio.run(read())


def ingest(served: ServedWorkspace, folder: Path, *more: str) -> dict[str, Any]:
    shown = served.rag("ingest", str(folder), "-w", "w", "--json", *more)
    assert shown.exit_code == 0, shown.output
    return json.loads(shown.stdout)


def outcomes(told: dict[str, Any]) -> dict[str, str]:
    return {one["path"]: one["outcome"] for one in told["files"]}


def test_what_is_sent_once_is_not_sent_again(served: ServedWorkspace, folder: Path) -> None:
    first = ingest(served, folder)
    served.requests.clear()
    again = ingest(served, folder)

    assert (first["ready"], again["unchanged"], again["files"]) == (8, 8, [])
    assert (served.count("pushListing"), served.count("pushFile")) == (1, 0)
    assert asyncio.run(served.passages()) == fresh(folder)


@pytest.mark.slow
def test_edits_renames_and_deletes_end_as_if_the_server_read_the_folder(served: ServedWorkspace, folder: Path) -> None:
    ingest(served, folder)
    served.requests.clear()
    (folder / "0.md").write_text("Pump 0 was replaced.")
    (folder / "1.md").rename(folder / "one.md")
    (folder / "2.md").unlink()
    (folder / "deep").mkdir()
    (folder / "deep" / "new.md").write_text("A new pump.")

    told = ingest(served, folder)

    assert outcomes(told) == {"0.md": "READY", "deep/new.md": "READY", "one.md": "READY", "2.md": "HIDDEN"}
    assert served.count("pushFile") == 2
    assert asyncio.run(served.passages()) == fresh(folder)


@pytest.mark.slow
@pytest.mark.parametrize("breaks_at", [1, 4, 7])
def test_a_broken_connection_leaves_the_rest_and_the_next_run_goes_on(
    served: ServedWorkspace, folder: Path, breaks_at: int
) -> None:
    ingest(served, folder)
    for number in range(1, 8):
        (folder / f"{number}.md").write_text(f"Pump {number} was replaced.")
    (folder / "0.md").unlink()
    served.requests.clear()
    served.breaks_at = breaks_at

    broken = served.rag("ingest", str(folder), "-w", "w")
    shown = {path for path, *_ in asyncio.run(served.passages())}
    served.breaks_at = None
    ingest(served, folder)

    assert (broken.exit_code, "SERVER_UNREACHABLE" in broken.stderr) == (4, True)
    assert "0.md" in shown
    assert 7 <= served.count("pushFile") <= 7 + AT_ONCE
    assert asyncio.run(served.passages()) == fresh(folder)


def test_a_file_that_the_server_does_not_take_is_told_and_the_others_come(
    served: ServedWorkspace, folder: Path
) -> None:
    (folder / "large.md").write_text("Water. " * 200)

    shown = served.rag("ingest", str(folder), "-w", "w")

    assert shown.exit_code == 3
    assert "UNREADABLE large.md  [UPLOAD_TOO_LARGE]" in shown.stdout
    assert "8 ready" in shown.stdout


def test_a_folder_that_lost_most_files_is_refused_until_somebody_confirms_it(
    served: ServedWorkspace, folder: Path
) -> None:
    ingest(served, folder)
    for file in folder.iterdir():
        file.unlink()
    before = asyncio.run(served.passages())

    refused = served.rag("ingest", str(folder), "-w", "w")

    assert (refused.exit_code, "SOURCE_SHRANK" in refused.stderr) == (1, True)
    assert asyncio.run(served.passages()) == before
    assert ingest(served, folder, "--delete-missing")["hidden"] == 8


def test_a_folder_that_is_not_there_is_refused_before_anything_is_listed(served: ServedWorkspace, folder: Path) -> None:
    shown = served.rag("ingest", str(folder / "elsewhere"), "-w", "w")

    assert (shown.exit_code, "SOURCE_NOT_FOUND" in shown.stderr) == (2, True)
    assert served.count("pushListing") == 0


def test_a_dry_run_changes_nothing_and_makes_no_workspace(served: ServedWorkspace, folder: Path) -> None:
    told = ingest(served, folder, "--dry-run")
    other = json.loads(served.rag("ingest", str(folder), "-w", "other", "--dry-run", "--json").stdout)

    assert outcomes(told) == outcomes(other) == {f"{number}.md": "NEW" for number in range(8)}
    assert (served.count("pushFile"), served.count("createWorkspace")) == (0, 0)
    assert asyncio.run(served.passages()) == []


def test_a_request_that_comes_too_soon_is_sent_again(served: ServedWorkspace, folder: Path) -> None:
    served.refuses = [1, 3, 4]

    assert ingest(served, folder)["ready"] == 8


def test_an_estimate_is_not_asked_of_a_server(served: ServedWorkspace, folder: Path) -> None:
    shown = served.rag("ingest", str(folder), "--estimate")

    assert (shown.exit_code, served.requests) == (2, [])


def test_readers_and_what_is_said_of_the_files_arrive(served: ServedWorkspace, folder: Path) -> None:
    ingest(served, folder, "--group", "staff", "--domain", "machines")

    async def read() -> set[tuple[tuple[str, ...], str | None]]:
        served.store._turn = asyncio.Lock()
        async with served.database.transaction(served.workspace.org_id) as transaction:
            known = (await transaction.documents.paths(served.workspace, f"directory:{folder}")).values()
            sets = await transaction.access.principals(served.workspace, {one.access_id for one in known})
        return {(sets[one.access_id], one.metadata.domain) for one in known}

    assert asyncio.run(read()) == {(("group:staff",), "machines")}


def test_the_folders_of_a_project_are_sent_each_by_itself(served: ServedWorkspace, folder: Path) -> None:
    project = folder.parent
    (project / "settings.yaml").write_text(
        "knowledge:\n  directories:\n    - path: files\n      domain: pumps\n    - path: gone\n"
    )

    shown = served.rag("knowledge", "sync", "--root", str(project), "-w", "w", "--json")
    again = served.rag("knowledge", "sync", "--root", str(project), "-w", "w", "--json")

    told = {one["path"]: one for one in json.loads(shown.stdout)["directories"]}
    assert (shown.exit_code, told["gone"]["error"]["code"]) == (3, "SOURCE_NOT_FOUND")
    assert (told["files"]["state"], told["files"]["new"], told["files"]["documents"]["ready"]) == ("done", 8, 8)
    assert json.loads(again.stdout)["directories"][0]["unchanged"] == 8
    assert {path for path, *_ in asyncio.run(served.passages())} == {f"files/{number}.md" for number in range(8)}


@pytest.mark.slow
@pytest.mark.parametrize("left", ["    - path: other\n", ""])
def test_a_folder_that_the_settings_drop_is_told_and_hidden_once_somebody_confirms_it(
    served: ServedWorkspace, folder: Path, left: str
) -> None:
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "a.md").write_text("A valve opens.")
    settings = folder.parent / "settings.yaml"
    settings.write_text("knowledge:\n  directories:\n    - path: files\n    - path: other\n")
    command = ("knowledge", "sync", "--root", str(folder.parent), "-w", "w", "--json")
    served.rag(*command)
    settings.write_text(f"knowledge:\n  directories:\n{left}")

    told = served.rag(*command)
    before = {path.partition("/")[0] for path, *_ in asyncio.run(served.passages())}
    confirmed = served.rag(*command, "--delete-missing")
    again = served.rag(*command)

    dropped = {one["path"]: one for one in json.loads(told.stdout)["directories"]}["files"]
    assert (told.exit_code, dropped["error"]["code"], before) == (3, "SOURCE_SHRANK", {"files", "other"})
    assert "--delete-missing" in dropped["error"]["message"]
    hidden = {one["path"]: one["hidden"] for one in json.loads(confirmed.stdout)["directories"]}
    assert (confirmed.exit_code, hidden["files"]) == (0, 8)
    assert {path.partition("/")[0] for path, *_ in asyncio.run(served.passages())} == ({"other"} if left else set())
    assert (again.exit_code, [one["path"] for one in json.loads(again.stdout)["directories"]]) == (
        0,
        ["other"] if left else [],
    )


def sync_project(served: ServedWorkspace, root: Path, *more: str) -> tuple[int, dict[str, Any]]:
    shown = served.rag("knowledge", "sync", "--root", str(root), "-w", "w", "--json", *more)
    return shown.exit_code, {one["path"]: one for one in json.loads(shown.stdout)["directories"]}


def make_project(root: Path, folder: str, files: Mapping[str, str]) -> Path:
    (root / folder).mkdir(parents=True)
    (root / "settings.yaml").write_text(f"knowledge:\n  directories:\n    - path: {folder}\n")
    for name, text in files.items():
        (root / folder / name).write_text(text)
    return root


@pytest.mark.slow
@pytest.mark.parametrize("folder_of_second", ["notes", "kb"])
def test_a_project_hides_nothing_of_another_in_the_same_workspace(
    served: ServedWorkspace, tmp_path: Path, folder_of_second: str
) -> None:
    first = make_project(tmp_path / "shop", "notes", {"a.md": "A valve opens.", "b.md": "A pump lifts."})
    second = make_project(tmp_path / "bank", folder_of_second, {f"{n}.md": f"Rate {n} holds." for n in range(20)})
    served.most_bytes = 10_000
    sync_project(served, first)

    for more in ((), ("--delete-missing",)):
        code, told = sync_project(served, second, *more)
        assert (code, list(told), told[folder_of_second]["hidden"]) == (0, [folder_of_second], 0)

    paths = {path for path, *_ in asyncio.run(served.passages())}
    assert paths >= {"notes/a.md", "notes/b.md"}
    assert len(paths) == 22
    (first / "notes" / "a.md").unlink()
    _, told = sync_project(served, first)
    assert told["notes"]["hidden"] == 1
    assert len(asyncio.run(served.passages())) == 21


def test_two_projects_in_folders_of_one_name_are_told_apart_once_one_states_its_name(
    served: ServedWorkspace, tmp_path: Path
) -> None:
    first = make_project(tmp_path / "ada" / "app", "notes", {"a.md": "A valve opens.", "b.md": "A pump lifts."})
    second = make_project(tmp_path / "bob" / "app", "notes", {"a.md": "A rate holds.", "c.md": "A bond pays."})
    sync_project(served, first)
    before = asyncio.run(served.passages())

    refused = served.rag("knowledge", "sync", "--root", str(second), "-w", "w", "--delete-missing")
    untouched = asyncio.run(served.passages())
    code, told = sync_project(served, second, "--project", "bank")
    again, kept = sync_project(served, first)

    assert (refused.exit_code, "PROJECT_AMBIGUOUS" in refused.stderr, "--project" in refused.stderr) == (2, True, True)
    assert untouched == before
    assert [(one["path"], one["code"]) for one in told["notes"]["unreadableFiles"]] == [
        ("notes/a.md", "SOURCE_PATH_TAKEN")
    ]
    assert (code, again, kept["notes"]["unchanged"], kept["notes"]["hidden"]) == (3, 0, 2, 0)
    assert {path for path, *_ in asyncio.run(served.passages())} == {"notes/a.md", "notes/b.md", "notes/c.md"}


def test_a_project_that_states_its_name_keeps_its_documents_wherever_it_stands(
    served: ServedWorkspace, tmp_path: Path
) -> None:
    files = {"a.md": "A valve opens.", "b.md": "A pump lifts."}
    here = make_project(tmp_path / "ada" / "app", "notes", files)
    elsewhere = make_project(tmp_path / "ci" / "work", "notes", files)
    sync_project(served, here)
    before = asyncio.run(served.passages())

    named = sync_project(served, here, "--project", "shop")
    moved = sync_project(served, elsewhere, "--project", "shop")

    for code, told in (named, moved):
        assert (code, told["notes"]["unchanged"], told["notes"]["documents"]["ready"]) == (0, 2, 2)
    assert asyncio.run(served.passages()) == before


def test_folders_of_before_sources_had_projects_go_to_the_project_that_has_their_files(
    served: ServedWorkspace, tmp_path: Path
) -> None:
    shop = make_project(tmp_path / "shop", "notes", {"a.md": "A valve opens.", "b.md": "A pump lifts."})
    bank = make_project(tmp_path / "bank", "notes", {"c.md": "A rate holds."})

    async def read_before() -> None:
        for root in (shop, bank):
            placed = PlacedSource(DirectorySource(root / "notes"), "knowledge:notes", "notes/")
            await served.sync_source.run(served.workspace, placed, "user:ada", SyncOptions(only=frozenset({"x"})))
        await served.work()

    asyncio.run(read_before())
    before = asyncio.run(served.passages())
    code, told = sync_project(served, shop, "--delete-missing")

    assert (code, told["notes"]["unchanged"], told["notes"]["documents"]["ready"]) == (0, 2, 2)
    assert asyncio.run(served.passages()) == before
    shown = served.rag("knowledge", "sync", "--root", str(shop), "-w", "w")
    assert "Documents of notes carry no project" in shown.stderr
    assert sync_project(served, bank)[1]["notes"]["unchanged"] == 1
    assert "carry no project" not in served.rag("knowledge", "sync", "--root", str(shop), "-w", "w").stderr
    assert asyncio.run(served.passages()) == before
