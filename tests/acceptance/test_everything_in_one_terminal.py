"""`rag up` and `rag demo` with real servers: they answer, and leave nothing running however they end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.local_model import minilm
from tests.stack import open_home
from tests.waiting import wait_until

from agentic_rag.embedded.loopback import free_port

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")

pytestmark = [pytest.mark.integration, pytest.mark.slow]


@pytest.fixture(scope="module")
def environ() -> Iterator[dict[str, str]]:
    """What the processes of this file see: a home of their own, and this checkout."""
    folder = open_home("agentic-rag-cli-")
    yield {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "AGENTIC_RAG_HOME": str(folder / "home"),
        "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
    }
    shutil.rmtree(folder)


def start(environ: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "agentic_rag_cli", *arguments],
        cwd=environ["HOME"],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def children_of(pid: int) -> dict[str, int]:
    """The server and the worker below a process, by name."""
    found: dict[str, int] = {}
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (entry / "cmdline").read_bytes().decode().split("\0")
        except (OSError, IndexError, NotADirectoryError):
            continue
        if parent == pid and "agentic_rag_cli" in words:
            found[words[words.index("agentic_rag_cli") + 1]] = int(entry.name)
    return found


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


@pytest.fixture
def printed() -> list[str]:
    """What `rag up` wrote until it was ready."""
    return []


@pytest.fixture
def up(environ: dict[str, str], printed: list[str]) -> Iterator[tuple[subprocess.Popen[str], dict[str, int]]]:
    """A running `rag up`, with its children."""
    process = start(environ, "up", "--port", str(free_port()))
    try:
        assert process.stdout is not None
        for line in process.stdout:
            printed.append(line)
            if "Ctrl-C stops everything" in line:
                break
        yield process, children_of(process.pid)
    finally:
        process.kill()
        process.communicate()


# SIGINT ends it below.
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)])
def test_up_leaves_no_process_behind_and_a_doctor_tells_whether_it_was_killed(
    up: tuple[subprocess.Popen[str], dict[str, int]], environ: dict[str, str], number: signal.Signals
) -> None:
    process, children = up
    assert set(children) == {"serve", "worker"}

    end(process, children, number)

    looking = start(environ, "doctor", "--json")
    told = {check["name"]: check["code"] for check in json.loads(looking.communicate(timeout=60)[0])}
    was_killed = number is signal.SIGKILL
    assert (looking.returncode, told["up"]) == ((4, "UP_KILLED") if was_killed else (0, None))


def end(process: subprocess.Popen[str], children: dict[str, int], number: signal.Signals) -> None:
    """Send the signal; nothing may be left."""
    process.send_signal(number)

    assert process.wait(30) == (-signal.SIGKILL if number is signal.SIGKILL else 0)
    wait_until(lambda: all(gone(pid) for pid in children.values()), "server and worker have ended")


def test_a_second_one_on_the_same_home_ends_clearly_and_leaves_the_first(
    up: tuple[subprocess.Popen[str], dict[str, int]], environ: dict[str, str]
) -> None:
    process, children = up

    second = start(environ, "up", "--port", str(free_port()))
    _, told = second.communicate(timeout=60)

    assert "error [ALREADY_UP]" in told
    assert second.returncode == 4
    assert process.poll() is None
    assert not any(gone(pid) for pid in children.values())
    end(process, children, signal.SIGINT)


def test_whatever_dies_is_started_again_and_no_secret_is_written(
    up: tuple[subprocess.Popen[str], dict[str, int]], environ: dict[str, str], printed: list[str]
) -> None:
    process, children = up
    home = Path(environ["AGENTIC_RAG_HOME"])
    token = (home / "dev-token").read_text().strip()
    url = (home / "server-url").read_text().strip()
    embedded = servers_of(home)
    before = {*children.values(), *embedded.values()}

    for pid in before:
        os.kill(pid, signal.SIGKILL)

    wait_until(lambda: all(gone(pid) for pid in before), "all four are dead")
    wait_until(lambda: set(children_of(process.pid)) == {"serve", "worker"}, "server and worker are there again", 40.0)
    wait_until(lambda: is_ready(url, token), "the server is ready on its old address", 40.0)
    assert process.poll() is None
    assert set(servers_of(home)) == {"postgres", "redis"}
    commands = commands_of([process.pid, *children_of(process.pid).values(), *servers_of(home).values()])
    end(process, children_of(process.pid), signal.SIGTERM)
    assert process.stdout is not None
    assert process.stderr is not None
    told = "".join([*printed, process.stdout.read(), process.stderr.read(), *commands])
    secrets = secrets_of(home)
    assert len(secrets) == 4
    assert [one for one, secret in secrets.items() if secret in told] == []
    holders = holders_of(home, secrets)
    assert holders.keys() == {*secrets, "redis/data/redis.conf"}
    assert [one for one, mode in holders.items() if mode & 0o077] == []


def secrets_of(home: Path) -> dict[str, str]:
    """What lets its holder in, by the file that holds it."""
    files = {name: (home / name).read_text().strip() for name in ("dev-token", "jwt-secret")}
    servers = (f"{name}/server.json" for name in ("postgres", "redis"))
    return files | {name: json.loads((home / name).read_text())["password"] for name in servers}


def holders_of(home: Path, secrets: Mapping[str, str]) -> dict[str, int]:
    """The modes of the files that hold one of the secrets, logs and data of the servers among them."""
    sought = re.compile(b"|".join(re.escape(one.encode()) for one in secrets.values()))
    files = [one for one in home.rglob("*") if one.is_file() and not one.is_symlink()]
    return {one.relative_to(home).as_posix(): one.stat().st_mode for one in files if sought.search(one.read_bytes())}


def commands_of(pids: Iterable[int]) -> list[str]:
    """What every user of the machine reads of processes."""
    return [(Path("/proc") / str(pid) / "cmdline").read_text() for pid in pids]


def servers_of(home: Path) -> dict[str, int]:
    """The embedded servers of a home that run."""
    found: dict[str, int] = {}
    postmaster = home / "postgres" / "data" / "postmaster.pid"
    if postmaster.exists():
        found["postgres"] = int(postmaster.read_text().split()[0])
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            is_redis = "-server" in (entry / "cmdline").read_text()
            if is_redis and os.readlink(entry / "cwd") == str(home / "redis" / "data"):
                found["redis"] = int(entry.name)
        except OSError:
            continue
    return found


def is_ready(url: str, token: str) -> bool:
    try:
        headers = {"authorization": f"Bearer {token}"}
        return httpx2.get(f"{url}/readyz", headers=headers, timeout=2.0, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


def test_the_demonstration_answers_from_the_sample_and_ingests_it_once_by_any_model(environ: dict[str, str]) -> None:
    runs: list[dict[str, Any]] = []
    for embedder in ("deterministic", "onnx"):
        model = {"RAG_EMBEDDER": embedder, "AGENTIC_RAG_MODEL_DIR": str(minilm())}
        process = start(environ | model, "demo", "--json")
        shown, told = process.communicate(timeout=120)
        assert process.returncode == 0, told
        runs.append(json.loads(shown))

    first, second = (run["ingest"] for run in runs)
    assert (first["ready"], first["failed"]) == (22, 0)
    assert (second["ready"], second["unchanged"]) == (0, 22)
    for run in runs:
        assert "27 days of paid leave" in run["answer"]["answer"]
        assert all(citation["verified"] for citation in run["answer"]["citations"])
    assert [run["embeddingSpace"] for run in runs] == [
        "deterministic/hashed-ngrams-v1/384/half",
        "onnx/all-MiniLM-L6-v2/384/half",
    ]


def test_no_module_is_taken_from_the_folder_in_which_a_command_is_run(environ: dict[str, str], tmp_path: Path) -> None:
    told = tmp_path / "told"
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("numpy", "json", "selectors", "six", "socket", "strawberry", "struct", "typing", "zipfile"):
        (folder / f"{name}.py").write_text(f"open({str(told)!r}, 'a').write('{name}')\nraise ImportError\n")
    (folder / "pump.md").write_text("# Pump\n\nThe pump lifts water.\n")
    rag = Path(sys.executable).with_name("rag")

    done = subprocess.run(
        [rag, "ingest", ".", "--workspace", "hostile"],
        cwd=folder, env=environ | {"RAG_EMBEDDER": "deterministic"}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert not told.exists(), told.read_text()
    assert done.returncode == 0, done.stdout + done.stderr
