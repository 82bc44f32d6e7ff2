"""Child processes of the bench: started, waited for, measured, ended by pid."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.product import TOKEN, Servers, variables

ROOT = Path(__file__).resolve().parents[2]
PATHS = [str(ROOT / folder) for folder in ("core", "server", "worker", "cli", "eval", "migrations")]
DEADLINE_SECONDS = 60
PRODUCT, REPLAY = "tests.bench.server_process", "tests.bench.replay"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(servers: Servers, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**kept, **variables(servers, **more), "PYTHONPATH": os.pathsep.join([str(ROOT), *PATHS])}


@contextmanager
def server(servers: Servers, module: str, *arguments: str, **more: str) -> Iterator[int]:
    """The port of a running server process: a module that takes arguments and a port, with more variables. Ended when
    the block does.
    """
    port = free_port()
    command = [sys.executable, "-m", module, *arguments, str(port)]
    child = subprocess.Popen(command, env=environment(servers, **more), cwd=ROOT)
    try:
        wait_until_ready(port, child)
        yield port
    finally:
        child.terminate()
        child.wait(30)


def wait_until_ready(port: int, child: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if child.poll() is not None:
            raise RuntimeError(f"the server ended with {child.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the server did not become ready")


def start_to_first_answer(servers: Servers, body: bytes) -> tuple[float, float]:
    """(seconds from exec to the first answer, MB resident when idle before it)."""
    port = free_port()
    began = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-m", PRODUCT, str(port)], env=environment(servers), cwd=ROOT)
    try:
        wait_until_ready(port, child)
        idle = resident_megabytes(child.pid)
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/graphql",
            data=body,
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            answered = json.loads(reply.read())
        if answered.get("errors"):
            raise RuntimeError(str(answered["errors"])[:500])
        return time.perf_counter() - began, idle
    finally:
        child.terminate()
        child.wait(30)


def resident_megabytes(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS in /proc")
