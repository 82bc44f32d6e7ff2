"""The examples of docs/agents.md that are marked `python framework`, run in an environment of their own."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "clients" / "generated"


@dataclass(frozen=True, slots=True)
class Example:
    """A block of the page."""

    heading: str
    code: str


def examples() -> Iterator[Example]:
    """Those of the page, in its order."""
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        for block in re.findall(r"^```python framework\n(.*?)^```", section, re.M | re.S):
            yield Example(section.splitlines()[0], block)


def generate_client(python: Path, home: Path) -> None:
    """Writes the package `rag_graphql` into `home`."""
    config = (GENERATED / "pyproject.toml").read_text("utf-8")
    (home / "pyproject.toml").write_text(config.replace("../..", str(ROOT)), "utf-8")
    (home / "queries.graphql").write_bytes((GENERATED / "queries.graphql").read_bytes())
    subprocess.run([python.with_name("ariadne-codegen")], cwd=home, check=True, capture_output=True)


def run_example(python: Path, code: str, paths: list[Path], url: str, token: str) -> subprocess.CompletedProcess[str]:
    """Runs the code by that interpreter, against the server at `url`."""
    environ = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "AGENTIC_RAG_URL": url,
        "AGENTIC_RAG_TOKEN": token,
        # No framework reports to its makers from here.
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "LANGSMITH_TRACING": "false",
    }
    return subprocess.run([python, "-c", code], env=environ, capture_output=True, text=True, timeout=300)
