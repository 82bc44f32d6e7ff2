"""Product errors end in one line and a documented exit code; anything else is a bug and is not hidden."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

import pytest
from tests.unit.cli.product import Product, Terminal

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.kernel import errors
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Misconfigured
from agentic_rag.settings import SettingsInvalid
from agentic_rag_cli.exits import ExitCode, exit_code_for

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


def test_what_the_server_said_is_told_once() -> None:
    refused = OSError("All connection attempts failed")
    down = DependencyUnavailable(f"No server answers ({refused}).", dependency="server")
    down.__cause__ = refused

    shown = Terminal(Product(error=down)).rag("workspace", "list")

    assert shown.stderr == "error [DEPENDENCY_UNAVAILABLE]: No server answers (All connection attempts failed).\n"


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
