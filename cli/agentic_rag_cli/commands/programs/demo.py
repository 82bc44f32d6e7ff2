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

from agentic_rag.embedded.loopback import HOST, free_port
from agentic_rag.models.embedding.space import LOCAL_PROVIDERS
from agentic_rag.settings import Settings
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.access import ensure_token, server_url
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import IngestSummary, ingest_directory
from agentic_rag_cli.commands.models.embeddings import begin_switch, wait_for_switch
from agentic_rag_cli.commands.programs.proposed_questions import ProposedQuestion, propose_questions
from agentic_rag_cli.corpus import SAMPLE_QUESTION, is_sample, sample_corpus
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption, read_folder
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
    proposed: tuple[ProposedQuestion, ...]
    """Made from the folder, where no question was given."""
    space: str
    """The active embedding space of the workspace."""


def demo(
    context: typer.Context,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source", "-s", help="Your own folder instead of the sample.", parser=read_folder, metavar="FOLDER"
        ),
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
                terminal.note(f"  {file.line()}")
        async with GraphQLClient(server_url(settings), token, settings.answering.budget_ms[1]) as client:
            space = await _answering_space(client, settings, name, children, steps)
            asked, proposed = await _questions(system, name, directory, question)
            with steps.step("ask through GraphQL"):
                answer = await children.guard(_ask(client, name, asked))
        return DemoResult(report, answer, proposed, space)


async def _ask(client: GraphQLClient, workspace: str, question: str) -> dict[str, Any]:
    return await client.ask(question, await client.workspace_id(workspace), options={"cache": "BYPASS"})


async def _answering_space(
    client: GraphQLClient, settings: Settings, name: str, children: Children, steps: StepTimer
) -> str:
    """Switch to the space of the configured model, since an earlier run with another model left the workspace in that
    model's space; returns the space.
    """
    workspace_id = await client.workspace_id(name)
    spaces = await client.fetch(queries.SPACES, workspaceId=workspace_id)
    active = next(one for one in spaces if one["state"] == "ACTIVE")
    embedder = settings.models.embedder
    provider, _, named = embedder.partition(":")
    if active["provider"] == provider and (not named or active["model"] == settings.models.local_model.name):
        return active["name"]
    model, dimensions = settings.models.embedding
    with steps.step(f"switch to {embedder}"):
        to = embedder if provider in LOCAL_PROVIDERS else f"{embedder}:{model}:{dimensions}"
        begun = await begin_switch(client, workspace_id, to)
        if begun["jobId"] is not None:
            await children.guard(wait_for_switch(client, workspace_id, begun))
    return begun["space"]["name"]


async def _questions(
    system: System, name: str, directory: Path, question: str | None
) -> tuple[str, tuple[ProposedQuestion, ...]]:
    """The question to ask, and the questions that the documents propose: the first of them where nobody gave one."""
    if question is not None:
        return question, ()
    proposed = tuple(await propose_questions(system, (await system.workspace(name)).ref))
    return SAMPLE_QUESTION if is_sample(directory) else proposed[0].question, proposed


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
    if shown.proposed:
        terminal.result("\nQuestions that your documents propose:")
    for one in shown.proposed:
        terminal.result(terminal.one_line(f"  {one.question}  ({one.source_path})"))
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
        "proposedQuestions": [{"question": one.question, "from": one.source_path} for one in shown.proposed],
        "embeddingSpace": shown.space,
        "stepSeconds": steps.seconds,
    }
