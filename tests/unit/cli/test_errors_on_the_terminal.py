"""Product errors end in one line and a documented exit code; anything else is a bug and is not hidden."""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import os
import re
from pathlib import Path

import httpx2
import pytest
from tests.unit.cli.product import Product, Terminal

from agentic_rag.embedded.errors import EmbeddedServerError, start_failure
from agentic_rag.kernel import errors
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Misconfigured
from agentic_rag.settings import SettingsInvalid
from agentic_rag_cli.client.ids import choose_workspace
from agentic_rag_cli.exits import ExitCode, exit_code_for
from agentic_rag_cli.output import waiting
from agentic_rag_cli.wiring import run_async

CASES: list[tuple[AgenticRagError | EmbeddedServerError, ExitCode]] = [
    (errors.InvalidInput("x"), ExitCode.USAGE),
    (errors.NotFound("x"), ExitCode.FAILED),
    (errors.Unauthenticated("x"), ExitCode.FAILED),
    (errors.FeatureDisabled("x"), ExitCode.UNAVAILABLE),
    (errors.SpaceMismatch("x"), ExitCode.FAILED),
    (Misconfigured("x"), ExitCode.UNAVAILABLE),
    (SettingsInvalid(("x",)), ExitCode.USAGE),
    (DependencyUnavailable("x", dependency="postgres"), ExitCode.UNAVAILABLE),
    (EmbeddedServerError("PORT_IN_USE", "x"), ExitCode.UNAVAILABLE),
]


@pytest.mark.parametrize(("error", "code"), CASES)
def test_every_kind_of_error_has_its_exit_code(error: AgenticRagError | EmbeddedServerError, code: ExitCode) -> None:
    assert exit_code_for(error) is code


def test_an_error_is_one_line_on_standard_error_without_a_traceback() -> None:
    down = DependencyUnavailable("Postgres does not answer.", dependency="postgres")

    shown = Terminal(Product(error=down)).rag("workspace", "list")

    assert shown.exit_code == 4
    assert shown.stdout == ""
    assert shown.stderr == "error [DEPENDENCY_UNAVAILABLE]: Postgres does not answer.\n"


def test_a_full_disk_is_told_whichever_file_met_it_first(tmp_path: Path) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/srv/rag/dev-token")

    shown = Terminal(Product(error=full)).rag("ingest", str(tmp_path), "--workspace", "handbook")

    assert shown.exit_code == 4
    assert shown.stderr.startswith("error [STORAGE_FULL]: The disk of /srv/rag/dev-token is full")
    assert "rag doctor" in shown.stderr


def test_a_fault_of_the_system_that_is_no_full_disk_is_not_hidden(tmp_path: Path) -> None:
    shown = Terminal(Product(error=OSError(errno.EIO, "bad sector"))).rag("ingest", str(tmp_path))

    assert isinstance(shown.exception, OSError)


@pytest.mark.parametrize("number", [errno.ENAMETOOLONG, errno.EACCES, errno.EISDIR, errno.EBUSY])
def test_a_path_that_the_system_refuses_is_an_error_of_the_one_who_named_it(tmp_path: Path, number: int) -> None:
    named = OSError(number, os.strerror(number), "x" * 20_000)

    shown = Terminal(Product(error=named)).rag("ingest", str(tmp_path))

    assert (shown.exit_code, shown.stderr.startswith("error [PATH_UNUSABLE]: x")) == (2, True), shown.stderr


@pytest.mark.parametrize("arguments", [("ingest", ""), ("ingest", "--source", ""), ("demo", "--source", " ")])
def test_a_folder_without_a_name_is_not_the_working_directory(arguments: tuple[str, ...]) -> None:
    shown = Terminal().rag(*arguments)

    assert shown.exit_code == 2
    assert "the name is empty" in shown.stderr


def test_a_folder_that_is_not_there_leaves_no_workspace(tmp_path: Path) -> None:
    product = Product()

    shown = Terminal(product).rag("ingest", str(tmp_path / "typo"), "--workspace", "new")

    assert (shown.exit_code, "[SOURCE_NOT_FOUND]" in shown.stderr) == (2, True), shown.stderr
    assert "new" not in Terminal(product).rag("workspace", "list").stdout


def test_what_the_server_said_is_told_once() -> None:
    refused = OSError("All connection attempts failed")
    down = DependencyUnavailable(f"No server answers ({refused}).", dependency="server")
    down.__cause__ = refused

    shown = Terminal(Product(error=down)).rag("workspace", "list")

    assert shown.stderr == "error [DEPENDENCY_UNAVAILABLE]: No server answers (All connection attempts failed).\n"


@pytest.mark.parametrize(
    ("code", "message", "command"),
    [
        ("THREAD_NOT_FOUND", "There is no such thread.", "rag thread list"),
        ("RUN_NOT_FOUND", "There is no such run.", "rag run list"),
        ("WORKSPACE_NOT_FOUND", "There is no such workspace.", "rag workspace list"),
        ("DOCUMENT_NOT_FOUND", "Nothing; `rag doc list` shows them.", "rag doc list"),
    ],
)
def test_what_is_not_there_names_the_command_that_shows_what_is(code: str, message: str, command: str) -> None:
    shown = Terminal(Product(error=errors.NotFound(message, code=code))).rag("workspace", "list").stderr

    assert shown.startswith(f"error [{code}]: {message}")
    assert shown.count(f"`{command}`") == 1


def test_a_server_that_does_not_start_on_a_full_disk_says_nothing_of_damaged_data() -> None:
    log = ["HINT:  This probably means that some data is corrupted", "FATAL:  could not write: No space left on device"]

    told = start_failure(
        "\n".join(["The embedded postgres did not start.", *log, "LOG:  database system is shut down"])
    )

    assert told.code == "STORAGE_FULL"
    assert told.message.splitlines()[1:] == [log[1]]
    assert "corrupted" in start_failure(log[0]).message


def test_what_was_typed_is_not_repeated_at_any_length() -> None:
    shown = Terminal().rag("doc", "list", "--workspace", "x" * 20_000)

    assert shown.exit_code == 1
    assert "[WORKSPACE_NOT_FOUND]" in shown.stderr
    assert len(shown.stderr) < 600


def test_a_long_path_keeps_the_name_of_its_file(tmp_path: Path) -> None:
    path = "/srv/" + "folder/" * 40 + "handbook.md"
    named = OSError(errno.EACCES, os.strerror(errno.EACCES), path)

    shown = Terminal(Product(error=named)).rag("ingest", str(tmp_path))

    assert "/srv/folder" in shown.stderr
    assert "folder/handbook.md cannot be used" in shown.stderr
    assert path not in shown.stderr


@pytest.mark.parametrize(
    ("command", "named"), [(["saved", "remove"], "a saved question"), (["key", "revoke"], "a key")]
)
def test_an_id_that_is_none_is_told_in_words(command: list[str], named: str) -> None:
    shown = Terminal().rag(*command, "nonsense")

    assert f"is not the id of {named}: copy one from" in shown.stderr, shown.stderr


@pytest.mark.parametrize(
    "command",
    [["search", "pump", "--top"], ["ask", "pump", "--as-of"], ["key", "create", "ci", "--days"]],
)
def test_a_huge_number_is_no_server_of_another_version(command: list[str]) -> None:
    shown = Terminal().rag(*command, "9" * 30)

    assert shown.exit_code == 2
    assert "version than this program" not in shown.stderr


@pytest.mark.parametrize("given", ["", "nope", "2026-13-45", "-1"])
@pytest.mark.parametrize("command", [["audit", "list"], ["run", "list"]])
def test_an_instant_that_is_none_is_no_server_of_another_version(command: list[str], given: str) -> None:
    shown = Terminal().rag(*command, "--since", given)

    assert shown.exit_code == 2
    assert "2026-11-01T12:30:00Z" in shown.stderr
    assert [Terminal().rag(*command, "--since", f"2026-11-01{at}").exit_code for at in ("", "T12:30:00Z")] == [0, 0]


def test_an_unknown_workspace_names_the_command_that_makes_one() -> None:
    assert "`rag workspace create NAME`" in Terminal().rag("doc", "list", "-w", "nope").stderr


def test_whoever_waits_for_a_server_is_told_so_off_a_terminal_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LINE_SECONDS", 0.01)

    async def late(_: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0.1)
        return httpx2.Response(200, json={"data": {"workspaces": []}})

    at = Terminal(environ={"AGENTIC_RAG_TOKEN": "t"}, transport=httpx2.MockTransport(late))

    shown = at.rag("workspace", "list", "--url", "http://127.0.0.1:1", "--json")

    assert shown.stderr.startswith("http://127.0.0.1:1 has not answered yet (0 s)\n")
    assert json.loads(shown.stdout) == []


def test_of_many_workspaces_not_all_are_named() -> None:
    names = {number: f"w{number:03}" for number in range(200)}

    with pytest.raises(errors.NotFound) as refused:
        choose_workspace(names, "nope")

    assert "w011 and 188 more (`rag workspace list`)" in refused.value.message


def test_a_command_logs_nothing_of_connections_that_its_end_cuts_off(caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> int:
        loop = asyncio.get_running_loop()
        loop.create_future().set_exception(ConnectionError("unexpected connection_lost() call"))
        gc.collect()
        loop.call_exception_handler({"message": "Something else."})
        return 7

    assert run_async(work()) == 7
    assert [one.getMessage() for one in caplog.records if one.name == "asyncio"] == ["Something else."]


def test_an_unknown_setting_is_refused_with_the_name_that_was_meant() -> None:
    shown = Terminal(environ={"AGENTIC_RAG_TOPKK": "3"}).rag("doc", "list")

    assert shown.exit_code == 2
    assert "[SETTINGS_INVALID]" in shown.stderr
    assert "did you mean AGENTIC_RAG_TOPK?" in shown.stderr


def test_a_bug_is_not_dressed_up_as_a_product_error() -> None:
    broken = Product(answers={})
    broken.result = None  # type: ignore[assignment]

    assert isinstance(Terminal(broken).rag("ingest", ".", "--dry-run", "-w", "new").exception, AttributeError)
    assert "error [INTERNAL]" in Terminal(broken).rag("ask", "never heard of").stderr


def test_the_documentation_lists_exactly_the_exit_codes() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")

    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", page, flags=re.MULTILINE)}

    assert documented == {int(code) for code in ExitCode}


def test_the_help_names_every_exit_code() -> None:
    shown = " ".join(Terminal().rag("--help").stdout.split()).partition("Exit codes: ")[2]

    assert [int(code) for code in re.findall(r"\b\d+\b", shown)] == sorted(int(code) for code in ExitCode)
