"""What a new user sees of the web: a question that the documents do not answer is answered from a page once one flag is
set, with where it came from and why, and its citation opens what was read after the page changed.

Everything runs in a network namespace of its own, with real sockets and no route: the one public address in it is that
of a server of this file.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.rag_terminal import RagTerminal
from tests.stack import open_home

from agentic_rag.embedded.loopback import free_port

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
PUBLIC = "93.184.215.14"
PAGE = f"http://{PUBLIC}/brannvik"
QUESTION = "Which harbour serves the Brannvik tug?"
INSIDE = "# Harbours\n\nThe Kolvereid ferry is served by the harbour of Ravnhamn.\n"

_CLONE_NEWNET = 0x40000000
_SIOCSIFADDR, _SIOCSIFFLAGS = 0x8916, 0x8914
_UP_AND_RUNNING = 0x1 | 0x40


def enter_own_network() -> None:
    """Move the calling thread, and what it starts, to a network of loopback and `PUBLIC`. Skips where that is not
    permitted.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET) != 0:
        pytest.skip("component: no leave to make a network namespace")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for name, address in ((b"lo", "127.0.0.1"), (b"lo:1", PUBLIC)):
            stated = struct.pack("16sH2x4s8x", name, socket.AF_INET, socket.inet_aton(address))
            fcntl.ioctl(control, _SIOCSIFADDR, stated)
            fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", name, _UP_AND_RUNNING))


def interfaces_and_routes() -> tuple[list[str], list[str]]:
    """Of the calling thread's network."""
    interfaces = Path("/proc/thread-self/net/dev").read_text().splitlines()[2:]
    routes = Path("/proc/thread-self/net/route").read_text().splitlines()[1:]
    return [one.partition(":")[0].strip() for one in interfaces], routes


@dataclass
class SmallWeb:
    """A search engine and a page, on port 80 of `PUBLIC`."""

    harbour: str = "Otterhamn"
    asked: list[str] = field(default_factory=list[str])

    def page(self) -> bytes:
        text = f"The Brannvik tug is served by the harbour of {self.harbour}."
        return f"<html><head><title>Tugs</title></head><body><h1>Tugs</h1><p>{text}</p></body></html>".encode()

    def respond(self, path: str) -> tuple[str, bytes] | None:
        self.asked.append(path)
        match path:
            case "/search":
                return "application/json", json.dumps({"results": [{"url": PAGE, "title": "Tugs"}]}).encode()
            case "/brannvik":
                return "text/html; charset=utf-8", self.page()
            case _:
                return None

    @contextmanager
    def serve(self) -> Iterator[None]:
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                found = web.respond(self.path.partition("?")[0])
                media, body = found or ("text/plain", b"")
                self.send_response(404 if found is None else 200)
                for name, value in (("Content-Type", media), ("Content-Length", str(len(body)))):
                    self.send_header(name, value)
                if found is not None:
                    self.send_header("ETag", f'"{web.harbour}"')
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer((PUBLIC, 80), Handler)
        # A thread has the network of the one that starts it.
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        try:
            yield
        finally:
            server.shutdown()
            serving.join()
            server.server_close()


@contextmanager
def product_up(environ: dict[str, str]) -> Iterator[RagTerminal]:
    """A running `rag up`, and a terminal beside it."""
    command = [sys.executable, "-m", "agentic_rag_cli", "up", "--port", str(free_port())]
    with subprocess.Popen(command, cwd=environ["HOME"], env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if "Ctrl-C stops everything" in line:
                    break
            with RagTerminal(Path(environ["HOME"]), environ) as terminal:
                yield terminal
        finally:
            process.terminate()
            process.communicate(timeout=60)


@pytest.fixture
def environ() -> Iterator[dict[str, str]]:
    folder = open_home("agentic-rag-web-")
    yield {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "AGENTIC_RAG_HOME": str(folder / "home"),
        "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
        "AGENTIC_RAG_SEARCH": f"searxng://{PUBLIC}",
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
        # An interpreter of its own: a forked one would have the network of the process that it comes from.
        "PYTHONHASHSEED": "0",
    }
    shutil.rmtree(folder)


def test_one_flag_later_the_web_answers_says_from_where_and_why_and_stays_provable(environ: dict[str, str]) -> None:
    with ThreadPoolExecutor(1) as apart:
        apart.submit(_told_story, environ).result()


def _told_story(environ: dict[str, str]) -> None:
    enter_own_network()
    assert interfaces_and_routes() == (["lo"], [])
    documents = Path(environ["HOME"]) / "documents"
    documents.mkdir()
    (documents / "harbours.md").write_text(INSIDE)
    web = SmallWeb()
    with web.serve(), product_up(environ) as terminal:
        terminal.rag("ingest", str(documents), "--workspace", "harbours")

        _abstains(terminal, web)
        terminal.rag("workspace", "web", "harbours", "--allow", "--organisation")
        run = _answers_from_the_page(terminal, web)
        web.harbour = "Ravnhamn"
        _opens_what_was_read(terminal, run, environ)
        _tells_beforehand_what_is_spent(terminal, web)


def _asked(terminal: RagTerminal, *arguments: str) -> Any:
    return json.loads(terminal.rag(*arguments, "--json"))


def _abstains(terminal: RagTerminal, web: SmallWeb) -> None:
    answer = _asked(terminal, "ask", QUESTION, "-w", "harbours")
    decision = _asked(terminal, "gate", "explain", answer["runId"])

    assert (answer["outcome"], answer["citations"]) == ("ABSTAINED", [])
    assert [one["cause"] for one in decision["downgrades"]] == ["ORGANISATION"]
    assert web.asked == []


def _answers_from_the_page(terminal: RagTerminal, web: SmallWeb) -> str:
    """The run."""
    answer = _asked(terminal, "ask", QUESTION, "-w", "harbours")
    [citation] = answer["citations"]
    document = _asked(terminal, "doc", "show", citation["sourcePath"], "-w", "harbours")
    decision = _asked(terminal, "gate", "explain", answer["runId"])
    told = terminal.rag("gate", "explain", answer["runId"])

    assert "Otterhamn" in answer["answer"]
    assert (citation["url"], citation["origin"], citation["verified"]) == (PAGE, "WEB_SEARCH", True)
    provenance = document["provenance"]
    assert {name: provenance[name] for name in ("search_query", "crawl_depth", "etag")} == {
        "search_query": QUESTION,
        "crawl_depth": "0",
        "etag": '"Otterhamn"',
    }
    assert provenance["fetched_at"] == citation["fetchedAt"]
    assert (decision["planType"], decision["downgrades"]) == ("full_loop", [])
    assert round(sum(one["contribution"] for one in decision["contributions"]), 6) == decision["score"]
    assert "Plan: full_loop, score" in told
    assert "support" in told
    assert web.asked == ["/search", "/robots.txt", "/brannvik"]
    return str(answer["runId"])


def _opens_what_was_read(terminal: RagTerminal, run: str, environ: dict[str, str]) -> None:
    read = SmallWeb().page()
    terminal.rag("crawl", PAGE, "-w", "harbours")
    now = _asked(terminal, "ask", QUESTION, "-w", "harbours")
    proof = _asked(terminal, "run", "verify", run)
    [check] = proof["checks"]

    assert "Ravnhamn" in now["answer"]
    assert "Otterhamn" not in now["answer"]
    assert (proof["holds"], check["state"], check["standsNow"]) == (True, "VERIFIED", False)
    assert check["citation"]["snippet"] == "The Brannvik tug is served by the harbour of Otterhamn."
    file = Path(environ["HOME"]) / "page.html"
    kept = _asked(terminal, "cite", "source", run, "1", "--out", str(file))
    assert file.read_bytes() == read
    assert kept["sha256"] == sha256(read).hexdigest()
    provenance = _asked(terminal, "doc", "show", check["citation"]["sourcePath"], "-w", "harbours")["provenance"]
    earlier = json.loads(provenance["earlier_responses"])[kept["sha256"]]
    assert earlier["headers"]["etag"] == '"Otterhamn"'
    assert earlier["fetched_at"] <= provenance["fetched_at"]


def _tells_beforehand_what_is_spent(terminal: RagTerminal, web: SmallWeb) -> None:
    """A dry run decides as the run would, and asks nobody."""
    asked = "Which harbour serves the Sandvær tug?"
    web.asked.clear()

    open_yet = _asked(terminal, "gate", "explain", "--question", asked, "-w", "harbours")
    terminal.rag("budget", "set", "-w", "harbours", "--searches", "0")
    spent = _asked(terminal, "gate", "explain", "--question", asked, "-w", "harbours")
    status = _asked(terminal, "gate", "status", "-w", "harbours")

    assert (open_yet["planType"], open_yet["downgrades"]) == ("full_loop", [])
    assert (spent["planType"], [one["cause"] for one in spent["downgrades"]]) == ("retrieve", ["BUDGET"])
    assert [one["cause"] for one in status["downgrades"]] == ["BUDGET"]
    assert web.asked == []
