"""What the moves into rooms had to leave equal, measured where they ended.

Later commits add features, which add lines, fields and other answers by intent. The commit in which the moves ended
says whether the moves themselves changed anything; it is read from git and measured anew each time.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.reports import ROOT, Row
from tests.house import shape

MOVES_ENDED = "7eeee489b467e8b0741bddb81a027aed41a1b9c6"
MOST_LINES = 64_000
SCHEMA = Path("server/agentic_rag_server/graphql/schema.graphql")
SCHEMA_BEFORE = "7bfb383f77f1dfd02c703bba8817b4ad8f6780acb5668c655110a98dc36f9eea"
"""SHA-256 of the GraphQL schema before the rooms."""
_DATA = os.environ.get("AGENTIC_RAG_TEST_DATA") or str(ROOT.parent / "shared" / "data")


def rows(*, answers: bool) -> list[Row]:
    """Lines, schema and, if asked for, 500 answers of the tree where the moves ended."""
    at = f"where the moves ended ({MOVES_ENDED[:8]})"
    with _tree() as tree:
        if tree is None:
            return [Row(f"the tree {at}", "not in this clone", "there", ok=False)]
        lines = sum(source.lines for source in shape.product_sources(tree))
        same = hashlib.sha256((tree / SCHEMA).read_bytes()).hexdigest() == SCHEMA_BEFORE
        found = [
            Row(f"product lines {at}", f"{lines:,}", f"≤ {MOST_LINES:,}", lines <= MOST_LINES),
            Row(f"schema.graphql, byte by byte, {at}", "equal" if same else "differs", "equal", same),
        ]
        if answers:
            held = _answers_are_equal(tree)
            name = f"500 answers and explanations, byte by byte, {at}"
            found.append(Row(name, "held" if held else "broken", "held", held))
        return found


@contextmanager
def _tree() -> Iterator[Path | None]:
    """The files of that commit; None when the clone does not go back so far."""
    packed = subprocess.run(["git", "archive", MOVES_ENDED], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="rag-moves-") as folder:
        # As root the embedded servers run as another user, who must be able to enter the folder.
        Path(folder).chmod(0o755)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)


def _answers_are_equal(tree: Path) -> bool:
    """Whether that version, with the libraries that it pins, answers as the version before."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    subprocess.run(["make", "--no-print-directory", "install"], cwd=tree, env=environment, check=True)
    check = [str(tree / ".venv" / "bin" / "python"), "-m", "tests.house.answers", "--check"]
    before = str(ROOT / "tests" / "house" / "answers-before.jsonl")
    done = subprocess.run([*check, before], cwd=tree, env={**environment, "AGENTIC_RAG_TEST_DATA": _DATA}, check=False)
    return done.returncode == 0
