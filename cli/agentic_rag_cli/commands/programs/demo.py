"""`rag demo`."""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.ports import SpanRequest
from agentic_rag.embedded.loopback import HOST, free_port
from agentic_rag.kernel.errors import NotFound
from agentic_rag.models.embedding.space import LOCAL_PROVIDERS
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.access import ensure_token, server_url
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import IngestSummary, ingest_directory
from agentic_rag_cli.commands.models.embeddings import begin_switch, wait_for_switch
from agentic_rag_cli.corpus import SAMPLE_QUESTION, is_sample, sample_corpus
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import answer_json, answer_text
from agentic_rag_cli.processes.children import Children, silent
from agentic_rag_cli.wiring import Wiring, run_async, wiring_of


@dataclass(slots=True)
class StepTimer:
    """Prints each step and records its duration in seconds."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the block."""
        began = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - began, 2)
        terminal.note(f"  {name:<30}{self.seconds[name]:6.2f} s")


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The result of the demonstration."""

    report: IngestSummary
    answer: dict[str, Any]
    """The run as GraphQL returns it."""
    made_from: str | None
    """The source document of the question, when no question was given."""
    space: str
    """The active embedding space of the workspace."""


def demo(
    context: typer.Context,
    source: Annotated[
        Path | None, typer.Option("--source", "-s", help="Your own folder instead of the sample.")
    ] = None,
    question: Annotated[str | None, typer.Option("--question", "-q", help="Your own question.")] = None,
    as_json: JsonOption = False,
) -> None:
    """From nothing to a cited answer: start everything, ingest through the queue, ask over HTTP, stop.

    What was ingested stays in AGENTIC_RAG_HOME, so that a second run takes seconds.

    Example: rag demo --source ~/reports --question "What was agreed about the crane?"
    """
    from agentic_rag_cli.processes.servers import migrate

    wiring = wiring_of(context)
    settings = wiring.settings()
    settings = settings.change(
        server={"host": HOST, "port": free_port()},
        jobs={"metrics_port": 0},
        stores={"home": settings.stores.state_home},
        answering={"enabled": True},
    )
    directory = source if source is not None else sample_corpus()
    steps = StepTimer()
    terminal.note(f"agentic-rag demo over {directory}")
    with steps.step("everything"), ExitStack() as running:
        with steps.step("start Postgres and Redis"):
            ready = running.enter_context(wiring.servers(settings))
        with steps.step("migrate"):
            run_async(migrate(ready))
        token = settings.client.token or ensure_token(settings)
        shown = run_async(_demonstrate(wiring, ready, token, directory, question, steps))
    if as_json:
        terminal.result_json(_as_json(shown, steps))
    else:
        _print(shown, workspace_name(directory), directory)


async def _demonstrate(
    wiring: Wiring, settings: Settings, token: str, directory: Path, question: str | None, steps: StepTimer
) -> DemoResult:
    from agentic_rag_cli.processes.local_programs import start_programs

    name = workspace_name(directory)
    async with Children(silent, settings.jobs.drain_seconds) as children, wiring.system(settings) as system:
        with steps.step("start server and worker"):
            await start_programs(children, settings)
        with steps.step("ingest through the queue"), terminal.ProgressLine("  ingesting") as bar:
            report = await children.guard(ingest_directory(system, name, directory, wait=True, progress=bar.update))
        for file in report.files:
            if file.needs_attention:
                terminal.note(f"  {file.outcome} {file.path} [{file.code}] {file.message}")
        space = await _answering_space(system, settings, name, children, steps)
        asked, made_from = (question, None) if question else await _question(system, name, directory)
        with steps.step("ask through GraphQL"):
            async with GraphQLClient(server_url(settings), token, settings.answering.budget_ms[1]) as client:
                answer = await children.guard(_ask(client, name, asked))
        return DemoResult(report, answer, made_from, space)


async def _ask(client: GraphQLClient, workspace: str, question: str) -> dict[str, Any]:
    return await client.ask(question, await client.workspace_id(workspace), options={"cache": "BYPASS"})


async def _answering_space(system: System, settings: Settings, name: str, children: Children, steps: StepTimer) -> str:
    """Switch to the space of the configured model, since an earlier run with another model left the workspace in that
    model's space; returns the space.
    """
    async with system.client() as client:
        workspace_id = await client.workspace_id(name)
        spaces = await client.fetch(queries.SPACES, workspaceId=workspace_id)
        active = next(one for one in spaces if one["state"] == "ACTIVE")
        embedder = settings.models.embedder
        if active["provider"] == embedder:
            return active["name"]
        model, dimensions = settings.models.embedding
        with steps.step(f"switch to {embedder}"):
            to = embedder if embedder in LOCAL_PROVIDERS else f"{embedder}:{model}:{dimensions}"
            begun = await begin_switch(client, workspace_id, to)
            if begun["jobId"] is not None:
                await children.guard(wait_for_switch(client, workspace_id, begun))
        return begun["space"]["name"]


async def _question(system: System, name: str, directory: Path) -> tuple[str, str | None]:

    if is_sample(directory):
        return SAMPLE_QUESTION, None
    item = await make_known_item(system, (await system.workspace(name)).ref)
    return item.question, item.source_path


def workspace_name(directory: Path) -> str:
    """`demo` for the sample; otherwise a name derived from the folder, so that two folders never mix."""
    if is_sample(directory):
        return "demo"
    whole = directory.resolve()
    readable = re.sub(r"[^a-z0-9]+", "-", whole.name.lower()).strip("-") or "folder"
    return f"demo-{readable[:40]}-{hashlib.sha256(str(whole).encode()).hexdigest()[:6]}"


def _print(shown: DemoResult, workspace: str, directory: Path) -> None:
    terminal.note("")
    terminal.result(f"{shown.report.summary()}, embedded by {shown.space}")
    if shown.made_from:
        terminal.result(f"\nNo --question was given, so this one was made from a sentence of {shown.made_from}.")
    terminal.result(f"\nQ: {shown.answer['question']}\n\n{answer_text(shown.answer)}")
    terminal.result(
        f"\nHow to go on:\n{_activation()}"
        "  rag up                                        # everything in one terminal, until Ctrl-C\n"
        f'  rag ask "…" --workspace {workspace}\n'
        f"  rag ingest --source {directory} --workspace {workspace}\n"
        "  rag --help"
    )


def _activation() -> str:
    """How to put `rag` on PATH, for users of `make demo`."""
    if shutil.which("rag") is not None:
        return ""
    script = Path(sys.prefix) / "bin" / "activate"
    return f"  . {script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script}\n"


def _as_json(shown: DemoResult, steps: StepTimer) -> dict[str, object]:
    return {
        "ingest": shown.report.as_json(),
        "answer": answer_json(shown.answer),
        "questionMadeFrom": shown.made_from,
        "embeddingSpace": shown.space,
        "stepSeconds": steps.seconds,
    }


OPENING_CHARACTERS = 20_000
DOCUMENTS_TRIED = 20

_LEAST_WORDS, _MOST_WORDS = 8, 30
_ASKED_WORDS = 14
_LEAST_PROSE = 0.6
"""Least share of lower-case words in a usable sentence: headings, tables of contents and signatures have less."""
_SENTENCE = re.compile(r"[^.!?\n|#]+(?:\n[^.!?\n|#]+)*[.!?](?=\s)")
_TELLING = re.compile(r"\b(?:\d[\d.,]*|[A-Z][a-z]{2,})\b")


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question and its source document."""

    question: str
    source_path: str


async def make_known_item(system: System, workspace: WorkspaceRef) -> KnownItem:
    """A question about the first document with a usable sentence. Errors: `NotFound` code NOTHING_TO_ASK."""
    ready = await system.documents(workspace, (DocumentStatus.READY,), DOCUMENTS_TRIED)
    for document in ready:
        question = question_from(await _opening(system, document))
        if question is not None:
            return KnownItem(question, document.source_path)
    raise NotFound(
        f"None of the first {len(ready)} READY documents holds a sentence to ask about: give one with --question.",
        code="NOTHING_TO_ASK",
    )


async def _opening(system: System, document: Document) -> str:
    """The beginning of the published text; empty when nothing is published."""
    if document.revision_id is None:
        return ""
    async with system.container.database.snapshot(document.workspace) as snapshot:
        spans = await snapshot.documents.revision_spans([SpanRequest(document.revision_id, 0, OPENING_CHARACTERS)])
    return spans[0].text if spans[0] is not None else ""


def question_from(text: str) -> str | None:
    """A question about the sentence with the most figures and names, the first of equals."""
    best = max(_sentences(text), key=lambda sentence: len(_TELLING.findall(sentence)), default=None)
    if best is None:
        return None
    asked = " ".join(best.rstrip(".!?").split()[:_ASKED_WORDS]).rstrip(",;:")
    return f"What is said about: {asked}?"


def _sentences(text: str) -> Iterator[str]:
    for found in _SENTENCE.finditer(text):
        sentence = " ".join(found.group().split())
        words = sentence.split()
        prose = sum(word.islower() for word in words)
        if _LEAST_WORDS <= len(words) <= _MOST_WORDS and sentence[0].isupper() and prose >= _LEAST_PROSE * len(words):
            yield sentence
