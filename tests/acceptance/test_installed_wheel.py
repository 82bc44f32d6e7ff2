"""An installed wheel can do all that a clone can: in an empty environment it migrates, ingests and answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.rag_terminal import RagTerminal
from tests.stack import open_home

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(600)]


def run(*command: str | Path, cwd: Path, home: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(cwd)} | (
        {"AGENTIC_RAG_HOME": str(home)} if home is not None else {}
    )
    for name in ("UV_CACHE_DIR", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL", "SSL_CERT_FILE", "PIP_CERT"):
        if name in os.environ:
            environ[name] = os.environ[name]
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} → {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder on the file system of this checkout: links lead to no other."""
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=build) as made:
        yield Path(made)


@pytest.fixture(scope="module")
def rag(folder: Path) -> Path:
    """The command `rag` of an environment that holds nothing but the built wheel and its pinned dependencies."""
    uv = Path(sys.executable).with_name("uv")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    wheel = next(folder.glob("agentic_rag-*.whl"))
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder / "venv"], check=True)
    install = [uv, "pip", "install", "--quiet", "--python", folder / "venv" / "bin" / "python"]
    subprocess.run([*install, "--require-hashes", "-r", ROOT / "requirements" / "runtime.txt"], check=True)
    share_bytecode(folder / "venv")
    subprocess.run([*install, "--no-deps", wheel], check=True)
    return folder / "venv" / "bin" / "rag"


def share_bytecode(environment: Path) -> None:
    """Link this environment's bytecode of the dependencies into another. Python compiles anew what does not fit."""
    own, other = (Path(sysconfig.get_path("purelib", vars={"base": str(base)})) for base in (sys.prefix, environment))
    for compiled in own.rglob("__pycache__/*.pyc"):
        folder = other / compiled.parent.relative_to(own)
        if folder.parent.is_dir():
            folder.mkdir(exist_ok=True)
            os.link(compiled, folder / compiled.name)


def test_the_client_installs_alone(tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path]
    subprocess.run([*build, ROOT / "clients" / "python"], check=True, capture_output=True)
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(uv, "pip", "install", "--quiet", "--python", python, next(tmp_path.glob("*.whl")), cwd=tmp_path)

    asked = (
        "from agentic_rag_client import *; print(RagClient('http://127.0.0.1:9', 't', 'w').prepare_context('x').fault)"
    )
    shown = run(python, "-c", asked, cwd=tmp_path).stdout
    installed = json.loads(run(uv, "pip", "list", "--format", "json", "--python", python, cwd=tmp_path).stdout)

    assert shown == "SERVER_UNREACHABLE\n"
    assert {one["name"] for one in installed} & {"agentic-rag", "starlette", "asyncpg", "numpy", "openai"} == set()


@pytest.fixture
def home() -> Iterator[Path]:
    """A state folder that the embedded servers' own user may enter."""
    folder = open_home("rag-wheel-")
    yield folder
    shutil.rmtree(folder)


def test_it_migrates_ingests_the_packaged_corpus_answers_and_evaluates(rag: Path, home: Path, tmp_path: Path) -> None:
    work = tmp_path

    run(rag, "migrate", "up", cwd=work, home=home)
    environ = {"PATH": os.environ["PATH"], "HOME": str(work), "AGENTIC_RAG_HOME": str(home)}
    with RagTerminal(work, environ, rag.with_name("python")) as terminal:
        ingested = terminal.rag("ingest", "--workspace", "handbook", "--wait", "--json")
        asked = "On which date did SKN-03 return to service?"
        answer = terminal.rag("ask", asked, "--workspace", "handbook", "--json")
        report = terminal.rag("eval", "--workspace", "handbook", "--json")

    assert json.loads(ingested)["failed"] == 0
    assert json.loads(answer)["outcome"] != "ABSTAINED"
    assert all(citation["verified"] for citation in json.loads(answer)["citations"])
    assert json.loads(report)["summary"]["questions"] >= 30
