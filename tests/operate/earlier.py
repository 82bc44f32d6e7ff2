"""Programs of earlier schemas, as the history of this repository has them, beside the current one on one database.

Each makes its schema, reads documents and answers. The current program is asked before and after `rag migrate up`, and
the earlier one again after it, where the schema says that it serves it.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag_migrations import HEAD
from tests.bench.product import Servers

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")
STATES_HEAD = "migrations/agentic_rag_migrations/__init__.py"
SERVES_SINCE = "0041"
"""What `rag_serves_since()` of the head answers."""
MOST_SECONDS = 240.0
"""Of a row of commands in one process."""

DOCUMENTS: Mapping[str, str] = {
    "valves.md": "# Valves\n\nThe relief valve opens at a pressure of 3 bar. It is tested every May by the crew.\n",
    "lease.md": "# Lease\n\nThe lease of the hall ends on 3 May 2031. The rent is 1,200 euros a month.\n",
}
LATER: Mapping[str, str] = {"pump.md": "# Pump\n\nThe pump of the cellar lifts forty litres a minute.\n"}
QUESTIONS = ("At which pressure does the relief valve open?", "When does the lease of the hall end?")
ASKED_LATER = "How much does the pump of the cellar lift a minute?"

MANY = """
import contextlib, io, json, sys
from agentic_rag_cli.main import main
told = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["rag", *words]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main()
        except SystemExit as ended:
            code = ended.code
    told.append([code or 0, out.getvalue(), err.getvalue()])
print("\\n" + json.dumps(told))
"""
"""Commands of `rag`, one after the other in one process."""


@dataclass(frozen=True, slots=True)
class Program:
    """The program that brought this schema."""

    schema: str
    commit: str

    @property
    def is_served(self) -> bool:
        """Whether the newest schema serves it."""
        return self.schema >= SERVES_SINCE


@dataclass(frozen=True, slots=True)
class Told:
    """What a command ended with and printed."""

    code: int
    out: str
    error: str = ""

    @property
    def answer(self) -> str:
        """Answer and citations, in bytes that do not hang on when and in which run it was asked."""
        if self.code:
            return f"{self.code} {self.out}{self.error}"
        given: dict[str, Any] = json.loads(self.out)
        kept = {name: given.get(name) for name in ("outcome", "answer", "citations", "degraded", "corpusVersion")}
        return json.dumps(kept, sort_keys=True)

    @property
    def quoted(self) -> tuple[str, list[tuple[str, str]]]:
        """The outcome, and each quote with its document: what another version of the program may not lose."""
        if self.code:
            return self.answer, []
        given: dict[str, Any] = json.loads(self.out)
        return given["outcome"], sorted((one["documentId"], one["snippet"]) for one in given["citations"])


@dataclass(frozen=True, slots=True)
class Meeting:
    """What one earlier program and the current one said."""

    program: Program
    before: Sequence[Told]
    """Answers of the earlier program, on its own schema."""
    refused: Told
    """A question to the current program before the migration."""
    after: Sequence[Told]
    """Answers of the current program after it."""
    again: Sequence[Told]
    """Answers of the earlier program after it."""
    later: Told | None
    """What the current program answers from a document that the earlier one read after the migration; None where the
    schema does not serve the earlier one.
    """

    @property
    def is_silent(self) -> bool:
        """True where a question to the current program was not refused, or migrated."""
        return self.refused.code != 4 or "SCHEMA_TOO_OLD" not in self.refused.error + self.refused.out

    @property
    def lost(self) -> int:
        """Answers that the current program does not give as the earlier one did, with outcome, documents and quotes."""
        given = sum(one.quoted != other.quoted for one, other in zip(self.before, self.after, strict=True))
        return given + int(self.later is not None and self.later.quoted[0] != "GROUNDED")

    @property
    def changed(self) -> int:
        """Answers of the earlier program that the migration changed, or its refusals that lack their code."""
        if not self.program.is_served:
            return sum("SCHEMA_TOO_NEW" not in one.error + one.out for one in self.again)
        return sum(one.answer != other.answer for one, other in zip(self.before, self.again, strict=True))


@dataclass(frozen=True, slots=True)
class Meetings:
    """All of them."""

    met: Sequence[Meeting]

    @property
    def schemas(self) -> str:
        """Of the programs."""
        return f"{self.met[0].program.schema} to {self.met[-1].program.schema}"

    @property
    def answers(self) -> int:
        """Answers of earlier programs that are compared."""
        return sum(len(one.before) for one in self.met)

    def total(self, count: Callable[[Meeting], int]) -> int:
        """The sum of a figure of each."""
        return sum(map(count, self.met))


def programs() -> list[Program]:
    """The program of each schema that the history has, oldest first; the current schema is none of them."""
    found: dict[str, Program] = {}
    for commit in _git("log", "--first-parent", "--format=%H", "--", STATES_HEAD).split():
        schema = _schema_at(commit)
        if schema is not None and schema != HEAD and schema not in found:
            found[schema] = Program(schema, commit)
    return sorted(found.values(), key=lambda one: one.schema)


def _schema_at(commit: str) -> str | None:
    stated = re.search(r'^HEAD = "(\d+)"', _git("show", f"{commit}:{STATES_HEAD}"), re.M)
    return stated[1] if stated else None


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def unpack(program: Program, folder: Path) -> None:
    """Its packages, into the folder."""
    packed = subprocess.run(
        ["git", "archive", program.commit, *PACKAGES], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def meet(program: Program, servers: Servers, folder: Path) -> Meeting:
    """Let it meet the current program. `servers` names a database without a schema; the folder is empty."""
    tree, first, second = (folder / one for one in ("program", "first", "second"))
    for one, documents in ((first, DOCUMENTS), (second, {**DOCUMENTS, **LATER})):
        one.mkdir()
        for name, text in documents.items():
            (one / name).write_text(text, "utf-8")
    tree.mkdir()
    unpack(program, tree)
    ask = [("ask", question, "--json") for question in QUESTIONS]
    # Each process has a cache of its own: an answer of another one says nothing.
    made, read, *before = run_commands(tree, servers, 1, [("migrate", "up"), ("ingest", str(first)), *ask])
    if made.code or read.code:
        raise AssertionError(f"the program of {program.schema} does not start: {made} {read}")
    if any(one.quoted[0] != "GROUNDED" for one in before):
        raise AssertionError(f"the program of {program.schema} answers nothing that could be kept: {before}")
    refused, migrated, *after = run_commands(ROOT, servers, 2, [ask[0], ("migrate", "up"), *ask])
    if migrated.code:
        raise AssertionError(f"no migration from {program.schema}: {migrated}")
    reads_on = [("ingest", str(second))] * program.is_served
    again = run_commands(tree, servers, 3, [*ask, *reads_on])[: len(ask)]
    later = run_commands(ROOT, servers, 4, [("ask", ASKED_LATER, "--json")])[0] if program.is_served else None
    return Meeting(program, before, refused, after, again, later)


def run_commands(tree: Path, servers: Servers, cache: int, commands: Sequence[Sequence[str]]) -> list[Told]:
    """Run them one after the other in one process of the program in `tree`, with the Redis database `cache`."""
    behind = os.environ.get("PYTHONPATH", "")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": servers.home,
        "PYTHONPATH": os.pathsep.join([*(str(tree / one) for one in PACKAGES), behind]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "DATABASE_URL": servers.database_url,
        "REDIS_URL": f"{servers.redis_url.rpartition('/')[0]}/{cache}",
        "AGENTIC_RAG_HOME": servers.home,
        "AGENTIC_RAG_ENABLED": "true",
        "RAG_EMBEDDER": "deterministic",
    }
    ended = subprocess.run(
        [sys.executable, "-c", MANY, json.dumps(commands)],
        env=environ, cwd=servers.home, capture_output=True, text=True, timeout=MOST_SECONDS,
    )  # fmt: skip
    if ended.returncode:
        raise AssertionError(f"commands ended with {ended.returncode}: {ended.stderr[-2_000:]}")
    return [Told(*one) for one in json.loads(ended.stdout.splitlines()[-1])]
