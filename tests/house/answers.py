"""Are the answers and explanations of two versions of the product equal to the last byte?

    python -m tests.house.answers --write FILE    # digests of 500 questions, one line a question
    python -m tests.house.answers --check FILE    # the same compared with FILE; ends with 1 when any differ
                                  --dump DIR      # also the canonical JSON, DIR/SET/QUESTION.{answer,explanation}.json

Four corpora unlike each other are read into a product that is started for this and removed afterwards: paragraphs for
multi-hop questions, passages that answer half of the questions, long articles, filings as PDF.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.house import operations
from tests.house.canonical import Names, as_text, digest
from tests.house.product import GraphQL, Product, running_product

DATA = Path(os.environ.get("AGENTIC_RAG_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")

QUESTIONS = {"musique": 40, "clapnq": 240, "covidqa": 162, "sec-10q": 50}
"""How many questions of each set are asked, its first ones."""

OWN_QUESTIONS = {
    "sec-10q": (
        "What is 12.5 % of 82,959?",
        "What is 3 plus 4?",
        "What is 1 / 0?",
        "Show me the document 2022-Q3-AAPL.pdf",
        "What is in the file 2023-Q1-NVDA.pdf?",
        "Open the report called Annual Letter 1901",
        "What is the difference between Apple and Amazon in net sales?",
        "Hello!",
    )
}
"""Asked besides: what the sets never ask for, such as sums and documents by name."""

EVERY = {"musique": 2}
"""Of this set every so many documents are read, and all that answer its questions."""

FOLLOWING = 10
"""Each question in this many is asked as one that follows the question before it."""

OPTIONS: dict[int, dict[str, Any]] = {
    3: {"fusion": "RRF"},
    7: {"topK": 4, "perDocument": 1, "diversity": 0.3},
    11: {"minScore": 0.3, "maxContextTokens": 300},
    13: {"weights": {"vector": 0.9, "graph": 0.1, "lexicalShare": 0.2}},
    17: {"useTools": False, "topK": 20, "weights": {"vector": 1.0, "graph": 0.0}},
}
"""What a question is asked with besides the defaults, by its place modulo 20."""

EMPTY_WORKSPACE = Path(__file__).parent / "empty_workspace"
"""A snapshot of a workspace without documents. A copy's id follows from the snapshot and the copy's name, where the id
of a new workspace is random: it is part of the ids of entities, which decide which of two equally strong links between
passages is named (`via` of a hop).
"""

_READ_SECONDS = 300.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class File:
    """A document to upload."""

    path: str
    title: str | None
    content: bytes


@dataclass(frozen=True, slots=True)
class Digests:
    """What one question came to."""

    set: str
    question: str
    answer: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """A set that was read; `passages` names those that every explanation is asked about."""

    name: str
    workspace: str
    paths: dict[str, str]
    passages: dict[str, str]


def files_of(name: str) -> list[File]:
    """The documents of a set that are read, in its own order."""
    folder = DATA / name
    if (folder / "docs").is_dir():
        return [File(one.name, None, one.read_bytes()) for one in sorted((folder / "docs").iterdir())]
    gold = {str(one) for row in _rows(folder / "queries.dev.jsonl") for one in row["gold_ids"]}
    return [
        File(f"{one['id']}.txt", one["title"] or None, one["text"].encode())
        for place, one in enumerate(_rows(folder / "corpus.jsonl"))
        if one["id"] in gold or place % EVERY.get(name, 1) == 0
    ]


def questions_of(name: str) -> list[tuple[str, str]]:
    """Ids and texts of the questions of a set."""
    rows = _rows(DATA / name / "queries.dev.jsonl")[: QUESTIONS[name]]
    if len(rows) < QUESTIONS[name]:
        raise RuntimeError(f"{name} has {len(rows)} questions, {QUESTIONS[name]} are asked")
    own = enumerate(OWN_QUESTIONS.get(name, ()), start=1)
    return [
        *((str(one["id"]), str(one["question"])) for one in rows),
        *((f"own-{number}", question) for number, question in own),
    ]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def make_workspaces(product: Product) -> dict[str, str]:
    """The public id of an empty workspace for each set, the same in every product."""
    restore = ("snapshot", "restore", "--from", str(EMPTY_WORKSPACE))
    product.command(*restore)  # The first one takes the id of the workspace that the snapshot is of.
    return {name: product.command(*restore, "--into", name)["workspaceId"] for name in QUESTIONS}


async def read(product: Product, graphql: GraphQL, name: str, workspace: str) -> Corpus:
    """Uploads a set. A document is sent when the one before is READY: their order decides between equal scores."""
    paths: dict[str, str] = {}
    for file in files_of(name):
        sent = await graphql.upload(
            operations.UPLOAD,
            file.path,
            file.content,
            workspaceId=workspace,
            sourcePath=file.path,
            title=file.title,
        )
        await _ready(graphql, sent["document"]["id"], f"{name}/{file.path}")
        paths[sent["document"]["id"]] = file.path
    await _idle(graphql, workspace, name)
    passages: dict[str, str] = {}
    known = list(paths.values())
    for path in (known[0], known[len(known) // 2]):
        found = await asyncio.to_thread(product.command, "doc", "chunks", path, "--workspace", name)
        passages[_first_id(found)] = f"{path}#first"
    return Corpus(name, workspace, paths, passages)


async def _ready(graphql: GraphQL, document: str, told: str) -> None:
    deadline = time.monotonic() + _READ_SECONDS
    while time.monotonic() < deadline:
        found = await graphql(operations.DOCUMENT, id=document)
        if found["status"] == "READY":
            return
        if found["status"] == "FAILED":
            raise RuntimeError(f"{told} failed: {found['error']}")
        await asyncio.sleep(_POLL_SECONDS)
    raise RuntimeError(f"{told} was not read within {_READ_SECONDS:.0f} s")


async def _idle(graphql: GraphQL, workspace: str, told: str) -> None:
    deadline = time.monotonic() + _READ_SECONDS
    while (await graphql(operations.UNFINISHED_JOBS, workspaceId=workspace))["nodes"]:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{told} still had jobs after {_READ_SECONDS:.0f} s")
        await asyncio.sleep(0.2)


def _first_id(found: Any) -> str:
    rows = found if isinstance(found, list) else next(one for one in found.values() if isinstance(one, list))
    return str(next(rows[0][key] for key in ("chunkId", "id") if key in rows[0]))


async def ask(graphql: GraphQL, corpus: Corpus, dump: Path | None) -> list[Digests]:
    """Asks a set's questions one after the other, then for the explanation of each."""
    asked: list[tuple[str, str, str, Names]] = []
    for place, (question_id, question) in enumerate(questions_of(corpus.name)):
        options = {"cache": "BYPASS"} | OPTIONS.get(place % 20, {})
        given: dict[str, Any] = {"workspaceId": corpus.workspace, "question": question, "options": options}
        if place % FOLLOWING == FOLLOWING - 1:
            given["after"] = asked[-1][1]
        reply = await graphql(operations.ASK, input=given)
        run = reply["run"].pop("id")
        names = Names(corpus.paths, corpus.passages)
        asked.append((question_id, run, as_text(names.canonical(reply)), names))
    found: list[Digests] = []
    for question_id, run, answer, names in asked:
        reply = await graphql(operations.EXPLAIN, runId=run, whyNot=list(corpus.passages))
        explanation = as_text(names.canonical(reply))
        if dump:
            folder = dump / corpus.name
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{question_id}.answer.json").write_text(answer, encoding="utf-8")
            (folder / f"{question_id}.explanation.json").write_text(explanation, encoding="utf-8")
        found.append(Digests(corpus.name, question_id, digest(answer), digest(explanation)))
    return found


async def measure(product: Product, dump: Path | None) -> list[Digests]:
    """All sets: read side by side, each in its own order; then asked, one question at a time."""
    began = time.monotonic()
    workspaces = await asyncio.to_thread(make_workspaces, product)
    async with product.client() as graphql:
        corpora = await asyncio.gather(*(read(product, graphql, *one) for one in workspaces.items()))
        _tell(f"{', '.join(f'{one.name} {len(one.paths)} documents' for one in corpora)}", began)
        found: list[Digests] = []
        for corpus in corpora:
            of_set = await ask(graphql, corpus, dump)
            found += of_set
            _tell(f"{corpus.name}: {len(of_set)} questions", began)
    return found


def _tell(what: str, began: float) -> None:
    print(f"  {time.monotonic() - began:5.0f} s  {what}", file=sys.stderr, flush=True)


def lines_of(found: Sequence[Digests]) -> list[str]:
    """One line of JSON a question."""
    return [json.dumps(asdict(one), separators=(",", ":")) for one in found]


def differences(before: Sequence[Digests], after: Sequence[Digests]) -> list[str]:
    """What is not equal, a line each; empty when all is."""
    old = {(one.set, one.question): one for one in before}
    new = {(one.set, one.question): one for one in after}
    told: list[str] = []
    for key in sorted(old.keys() | new.keys()):
        first, second = old.get(key), new.get(key)
        if first is None or second is None:
            told.append(f"{'/'.join(key)}: only {'after' if first is None else 'before'}")
            continue
        parts = [part for part in ("answer", "explanation") if getattr(first, part) != getattr(second, part)]
        if parts:
            told.append(f"{'/'.join(key)}: {' and '.join(parts)}")
    return told


def main() -> int:
    """The command. Ends with 1 when something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.house.answers", description=(__doc__ or "").split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", type=Path, metavar="FILE", help="write the digests")
    what.add_argument("--check", type=Path, metavar="FILE", help="compare with the digests in FILE")
    parser.add_argument("--dump", type=Path, metavar="DIR", help="also write what the digests are of")
    chosen = parser.parse_args()
    before = [Digests(**one) for one in _rows(chosen.check)] if chosen.check else None
    with running_product() as product:
        after = asyncio.run(measure(product, chosen.dump))
    if before is None:
        chosen.write.write_text("\n".join(lines_of(after)) + "\n", encoding="utf-8")
        print(f"{len(after)} questions written to {chosen.write}")
        return 0
    told = differences(before, after)
    for line in told:
        print(line)
    print(f"{len(told)} of {len(after)} questions differ")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
