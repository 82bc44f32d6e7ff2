"""The product as its users have it: `rag up` in a home of its own, GraphQL over HTTP, and the command line.

Nothing of the product is imported, so that this file runs unchanged on any version of it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

RAG = Path(sys.executable).with_name("rag")
"""The command, as installed beside the interpreter."""

_UP_SECONDS = 120.0
_STOP_SECONDS = 60.0
_REQUEST_SECONDS = 180.0

_SETTINGS = {
    "RAG_EMBEDDER": "deterministic",
    "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
    "AGENTIC_RAG_TIMEOUT_MS": "120000",
    "AGENTIC_RAG_LOG_LEVEL": "warning",
}
"""The defaults, except that no answer is cut short on a busy machine."""


@dataclass(frozen=True, slots=True)
class Product:
    """A running product."""

    home: Path
    environment: Mapping[str, str]
    url: str
    token: str

    def command(self, *arguments: str) -> Any:
        """What a command of `rag` prints with `--json`."""
        done = subprocess.run(
            [RAG, *arguments, "--json"],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_UP_SECONDS,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"rag {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[GraphQL]:
        """A client of its GraphQL API."""
        headers = {"Authorization": f"Bearer {self.token}", "GraphQL-Require-Preflight": "1"}
        async with httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=_REQUEST_SECONDS) as http:
            yield GraphQL(http)


class GraphQL:
    """Sends operations; an error of GraphQL or HTTP is a `RuntimeError`."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http

    async def __call__(self, query: str, **variables: object) -> dict[str, Any]:
        """The one root field of an operation."""
        return _data(await self._http.post("/graphql", json={"query": query, "variables": variables}))

    async def upload(self, query: str, name: str, content: bytes, **variables: object) -> dict[str, Any]:
        """The same with a file as the variable `file`."""
        operations = json.dumps({"query": query, "variables": variables | {"file": None}})
        form = {"operations": operations, "map": json.dumps({"0": ["variables.file"]})}
        return _data(await self._http.post("/graphql", data=form, files={"0": (name, content)}))


def _data(response: httpx2.Response) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = {}
    if body.get("errors") or not body.get("data"):
        raise RuntimeError(f"{response.status_code}: {response.text[:2000]}")
    (found,) = body["data"].values()
    if found.get("userErrors"):
        raise RuntimeError(f"refused: {found['userErrors']}")
    return found


@contextmanager
def running_product() -> Iterator[Product]:
    """`rag up` with an empty home, which is removed afterwards."""
    home = Path(tempfile.mkdtemp(prefix="agentic-rag-house-"))
    home.chmod(0o711)  # An embedded server under an unprivileged account has to enter it.
    port = _free_port()
    environment = _SETTINGS | {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "AGENTIC_RAG_HOME": str(home / "state"),
        "AGENTIC_RAG_PORT": str(port),
    }
    log = home / "up.log"
    with log.open("w", encoding="utf-8") as notes:
        process = subprocess.Popen(
            [RAG, "up"], cwd=home, env=environment, stdout=subprocess.PIPE, stderr=notes, text=True
        )
    try:
        token = _token_of(process, log)
        yield Product(home, environment, f"http://127.0.0.1:{port}", token)
    except BaseException:
        print(f"--- the end of {log}\n{log.read_text(encoding='utf-8')[-4000:]}", file=sys.stderr)
        raise
    finally:
        _stop(process)
        shutil.rmtree(home, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _token_of(process: subprocess.Popen[str], log: Path) -> str:
    """Reads the welcome of `rag up` to its last line."""
    assert process.stdout is not None
    late = threading.Timer(_UP_SECONDS, process.kill)
    late.start()
    token = ""
    try:
        for line in process.stdout:
            words = line.split()
            if words[:2] == ["token", "in"]:
                token = Path(words[2]).read_text(encoding="utf-8").strip()
            elif words[:1] == ["token"]:
                token = words[1]
            if "Ctrl-C stops everything" in line and token:
                return token
    finally:
        late.cancel()
    raise RuntimeError(f"`rag up` did not come up; see {log}")


def _stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
