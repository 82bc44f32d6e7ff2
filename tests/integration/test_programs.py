"""A forked program is what a started one is, in all that programs can tell of themselves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.programs import PACKAGES, ROOT, Program, run

pytestmark = [pytest.mark.integration, pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")]

PROBE = [sys.executable, "-m", "tests.programs.probe"]
PATHS = os.pathsep.join([str(ROOT), *(str(ROOT / name) for name in PACKAGES)])


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": "/somewhere", "PYTHONPATH": PATHS, **more}


def ended(kind: type[subprocess.Popen[Any]], how: str, environ: Mapping[str, str], **options: Any) -> Any:
    """The program, with what it wrote; it reads one line."""
    process = kind(
        [*PROBE, how, "Größe"],
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    out, err = process.communicate("a line\n", timeout=60)
    first, *rest = out.splitlines()
    return process, json.loads(first), rest, err


@pytest.mark.parametrize(
    ("how", "variables"),
    [
        ("exit", {}),
        ("raise", {"PYTHONUNBUFFERED": "1", "TZ": "Asia/Tokyo", "TMPDIR": "/var/tmp"}),
        ("", {"COLUMNS": "50"}),
    ],
)
def test_a_forked_program_is_what_a_started_one_is(how: str, variables: dict[str, str], tmp_path: Path) -> None:
    environ = environment(**variables)
    options = {"cwd": tmp_path, "start_new_session": how == "exit"}

    forked, told, rest, err = ended(Program, how, environ, **options)
    started, wanted, wanted_rest, wanted_err = ended(subprocess.Popen, how, environ, **options)

    assert forked.is_forked
    assert told["told"] == wanted["told"]
    assert rest == wanted_rest == ["a line", "the end"]
    assert forked.returncode == started.returncode == {"exit": 3, "raise": 1, "": 0}[how]
    assert err.splitlines()[-1:] == wanted_err.splitlines()[-1:]


def test_two_of_them_draw_different_numbers_and_are_our_children() -> None:
    first, second = (ended(Program, "", environment()) for _ in range(2))

    assert not set(first[1]["drawn"]) & set(second[1]["drawn"])
    assert first[1]["told"]["parent"] == os.getpid()
    assert first[1]["drawn"][2] == first[0].pid


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_of_a_signal(number: signal.Signals) -> None:
    with Program([*PROBE, "wait"], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.is_forked
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
        process.send_signal(number)

        assert process.wait(20) == -number


@pytest.mark.parametrize("variables", [{"PYTHONHASHSEED": "0"}, {"LANG": "C.UTF-8"}, {"PROMETHEUS_MULTIPROC_DIR": "/"}])
def test_what_is_read_at_the_start_asks_for_an_interpreter_of_its_own(variables: dict[str, str]) -> None:
    command = [sys.executable, "-m", "platform"]
    with Program(command, env=environment(**variables), stdout=subprocess.DEVNULL) as process:
        assert not process.is_forked


def test_foreign_modules_ask_for_an_interpreter_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('planted')")

    with Program(
        [sys.executable, "-m", "platform"],
        env=environment(PYTHONPATH=os.pathsep.join([str(tmp_path), PATHS])),
        stdout=subprocess.PIPE,
    ) as process:
        assert process.communicate()[0].startswith(b"planted")
    assert not process.is_forked


def test_a_command_runs_to_its_end() -> None:
    done = run([sys.executable, "-m", "agentic_rag_cli", "--version"], env=environment(), text=True, check=True)

    assert done.stdout.startswith("agentic-rag ")
    with pytest.raises(AssertionError, match="shew"):
        run([sys.executable, "-m", "agentic_rag_cli", "shew"], env=environment(), check=True)
