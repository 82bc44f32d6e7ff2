"""Tours of the console in a real Chromium, driven by node with the npm package playwright-core."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from agentic_rag.embedded.loopback import free_port
from agentic_rag.operations.proof import check_bundle
from tests.bench.reports import ROOT, Row
from tests.stack import open_home

PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
PICTURES = ROOT / "build" / "console" / "pictures"
NOTHING: Mapping[str, str] = MappingProxyType({})
DROPPED = (
    "environmental-monitoring-plan.pdf",
    "quarterly-report-2024-q4.pdf",
    "turbine-specification-selkie-1200.pdf",
)
_SOURCE = Path(__file__).with_name("browser")
_CHECK = Path(check_bundle.__file__)


def tour(url: str, token: str, *, more: Mapping[str, str] = NOTHING, whole: bool = False) -> list[Row]:
    """What was looked at, a row each; skips where a program is missing. The server has the sample corpus, ready, in its
    first workspace. `more` is what the whole tour takes besides: tokens of a viewer, a member and an admin of another
    organisation, links that sign in, files to upload, where to put a proof, and the process of Redis.
    """
    told = {"CONSOLE_URL": url, "CONSOLE_TOKEN": token, **{f"CONSOLE_{what}": one for what, one in more.items()}}
    return _rows("tour.mjs", told, "whole" if whole else "short", pictures=whole)


def issuer_tour(url: str, issuer: str) -> list[Row]:
    """Sign-in at the issuer of `issuer_stub`, a row for each thing; skips where a program is missing."""
    return _rows("issuer.mjs", {"CONSOLE_URL": url, "CONSOLE_ISSUER": issuer}, pictures=True)


def _rows(script: str, environ: dict[str, str], *arguments: str, pictures: bool) -> list[Row]:
    node, chromium, folder = program_and_folder()
    PICTURES.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [node, str(folder / script), *arguments],
        capture_output=True,
        text=True,
        timeout=1500,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "CONSOLE_CHROMIUM": chromium,
            "CONSOLE_PICTURES": str(PICTURES) if pictures else "",
            **environ,
        },
    )
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    rows = [
        Row(one["name"], one["detail"][:300] or ("yes" if one["ok"] else "no"), "holds", one["ok"], one["timed"])
        for one in told
    ]
    if done.returncode:
        rows.append(Row("the tour ends well", done.stderr[-300:], "holds", False))
    return rows


def program_and_folder() -> tuple[str, str, Path]:
    """Node, Chromium, and the folder of the scripts beside their packages; skips where a program is missing."""
    node, chromium = shutil.which("node"), shutil.which("chromium") or shutil.which("chromium-browser")
    if node is None or chromium is None:
        pytest.skip("component: node and chromium are not installed (scripts/install-system-packages)")
    return node, chromium, _scripts()


def _scripts() -> Path:
    """The folder of the tours beside their packages, installed once into build/."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("component: npm is not installed (scripts/install-system-packages)")
    folder = ROOT / "build" / "console" / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    for path in _SOURCE.iterdir():
        shutil.copyfile(path, folder / path.name)
    wanted = json.loads((folder / "package.json").read_text(encoding="utf-8"))["dependencies"]
    if not all((folder / "node_modules" / name).is_dir() for name in wanted):
        subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent"], cwd=folder, check=True, timeout=300)
    return folder


def whole_tour() -> list[Row]:
    """The whole tour over a `rag up` of its own, with the sample corpus."""
    with running() as (url, environ, link, redis):
        files = Path(environ["HOME"], "dropped")
        files.mkdir()
        for name in DROPPED:
            shutil.copyfile(ROOT / "simulated_ingestion" / name, files / name)
        proof = Path(environ["HOME"], "proof.zip")
        _rag(environ, "tenant", "create", "acme")
        more = {
            "LINK": link,
            "LATER": _rag({**environ, "AGENTIC_RAG_URL": url}, "console").strip(),
            "FILES": str(files),
            "PROOF": str(proof),
            "REDIS": str(redis),
            "VIEWER": _rag(environ, "token", "dev", "--role", "viewer", "--subject", "vera").strip(),
            "MEMBER": _rag(environ, "token", "dev", "--role", "member", "--subject", "mia").strip(),
            "FOREIGN": _rag(environ, "token", "dev", "--tenant", "acme", "--role", "admin", "--subject", "mia").strip(),
        }
        token = Path(environ["AGENTIC_RAG_HOME"], "dev-token").read_text(encoding="utf-8").strip()
        _rag(environ, "ingest", str(ROOT / "simulated_ingestion"), "--workspace", "documents", "--wait")
        for answer in ("Maren Tollack", "somebody else"):
            _rag(environ, "eval", "--workspace", "documents", "--dataset", _questions(environ, answer), "--background")
        rows = tour(url, token, more=more, whole=True)
        checked = subprocess.run([sys.executable, "-I", str(_CHECK), str(proof)], capture_output=True, text=True)
        said = (checked.stdout or checked.stderr).strip()[-200:]
    return [*rows, Row("the proof that was taken away holds by itself", said, "holds", checked.returncode == 0)]


def _questions(environ: dict[str, str], founder: str) -> str:
    """The path of a set of two questions, the second with that answer."""
    asked = {
        "rotor": ("What is the rotor diameter of the Selkie 1200?", "20.0 m", "turbine-specification-selkie-1200.pdf"),
        "founder": ("Who founded Corrand Tidal?", founder, "company-overview.md"),
    }
    path = Path(environ["HOME"], f"{founder.split()[0]}.jsonl")
    lines = [
        json.dumps({"id": name, "question": question, "answers": [answer], "gold_ids": [gold]})
        for name, (question, answer, gold) in asked.items()
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@contextmanager
def running() -> Iterator[tuple[str, dict[str, str], str, int]]:
    """The address of a `rag up` on a new home, the environment that its commands take, the link that it prints, and the
    process of its Redis.
    """
    folder, port = open_home("agentic-rag-console-"), free_port()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "AGENTIC_RAG_HOME": str(folder / "home"),
        "AGENTIC_RAG_WORKER_METRICS_PORT": "0",
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in PACKAGES),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "agentic_rag_cli", "up", "--port", str(port)],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        link = ""
        for line in process.stdout:
            if "#sign-in=" in line:
                link = line.split()[-1]
            if "Ctrl-C stops everything" in line:
                break
        yield f"http://127.0.0.1:{port}", environ, link, _redis_below(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        shutil.rmtree(folder)


def _redis_below(pid: int) -> int:
    """The first process of Redis or Valkey among those that a process started."""
    started = [pid]
    for one in started:
        if Path(f"/proc/{one}/comm").read_text(encoding="utf-8").startswith(("redis", "valkey")):
            return one
        for task in Path(f"/proc/{one}/task").iterdir():
            started += [int(child) for child in (task / "children").read_text(encoding="utf-8").split()]
    raise LookupError("rag up started no Redis")


def _rag(environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "agentic_rag_cli", *arguments],
        cwd=environ["HOME"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout
