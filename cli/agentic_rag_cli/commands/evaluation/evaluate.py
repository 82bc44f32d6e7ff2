"""`rag eval`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.operations.evaluation import EvalDataset
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.settings import Settings
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import id_in, node_id
from agentic_rag_cli.commands.documents.ingestion import ingest_directory
from agentic_rag_cli.corpus import sample_corpus
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.options import JsonOption, UrlOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import beside_worker, in_process, on_graphql, wiring_of
from agentic_rag_eval import ablation, comparison, harness
from agentic_rag_eval.ablation import Arm
from agentic_rag_eval.dataset import golden_set, load_corpus, load_dataset
from agentic_rag_eval.harness import EvalReport, Judge
from agentic_rag_eval.records import Ask, EvalDocument, EvalQuestion
from agentic_rag_eval.report_page import page
from agentic_rag_eval.stored_report import load_report, parse_report

DEMO_WORKSPACE = "demo"

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

Threshold = Annotated[
    float | None, typer.Option(min=0.0, max=1.0, help="Exit with 5 when the figure is below (share, 0 to 1).")
]
GateOption = Annotated[
    Path | None,
    typer.Option("--gate", help="Report of an earlier run (--json): exit with 5 when a figure fell significantly."),
]


@dataclass(frozen=True, slots=True)
class _EvalRequest:
    """The questions, and the workspace or documents to ask them of."""

    name: str
    questions: list[EvalQuestion]
    documents: list[EvalDocument] | None
    """Documents to ingest first; None: use the workspace as it is."""
    workspace: str | None
    demo: bool
    ablate: bool


def _eval_request(
    dataset: Path | None, corpus: Path | None, workspace: str | None, *, demo: bool, ablate: bool
) -> _EvalRequest:
    """Read the files that the options name."""
    return _EvalRequest(
        name=dataset.name if dataset else "golden",
        questions=load_dataset(dataset) if dataset else golden_set(),
        documents=load_corpus(corpus) if corpus else None,
        workspace=workspace or (corpus.resolve().parent.name if corpus else None),
        demo=demo,
        ablate=ablate,
    )


@app.callback()
def evaluate_dataset(
    context: typer.Context,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", "-d", help="JSONL file of questions; the golden set when left out.")
    ] = None,
    workspace: WorkspaceOption = None,
    url: UrlOption = None,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", help="JSONL file of documents (id, title, text): ingested first, into --workspace."),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Ingest the sample corpus first, into its workspace.")] = False,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Ask again with each arm off, and tell what each adds (not with --url).")
    ] = False,
    min_hit_rate: Threshold = None,
    min_recall: Threshold = None,
    min_answer_containment: Threshold = None,
    min_citation_coverage: Threshold = None,
    min_citation_validity: Threshold = None,
    min_abstention_recall: Threshold = None,
    gate: GateOption = None,
    background: Annotated[
        bool,
        typer.Option("--background", help="Have a worker do it, and print its job: `rag eval report JOB`."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask every question of a dataset and report retrieval, answers, citations, abstention and latency, each figure
    with its 95 % interval.

    With --corpus the documents of a set are ingested in this process, into a workspace named after the file's folder
    unless --workspace names one; the questions' gold_ids are their ids.

    Example: rag eval --dataset golden.jsonl --workspace handbook --min-hit-rate 0.9 --gate last.json

    Example: rag eval --dataset golden.jsonl --workspace handbook --background

    Example: rag eval --corpus sets/mine/corpus.jsonl --dataset sets/mine/questions.jsonl --ablate --json > mine.json
    """
    if context.invoked_subcommand is not None:
        return
    baseline = None if gate is None else comparison.read_report(gate)
    asked = _eval_request(dataset, corpus, workspace, demo=demo, ablate=ablate)
    if background:
        alone = not (url or corpus or demo or ablate or gate)
        _start(context, EvalDataset(asked.name, tuple(asked.questions)), workspace, alone, as_json)
        return
    report, arms = _run_evaluation(context, asked, url)
    least = {
        "hit_rate": min_hit_rate,
        f"recall@{report.summary.k}": min_recall,
        "answer_contained": min_answer_containment,
        "citation_coverage": min_citation_coverage,
        "citation_validity": min_citation_validity,
        "abstention_recall": min_abstention_recall,
    }
    _show_report(asked.name, report, arms, least, against=(gate, baseline), as_json=as_json)


def _show_report(
    name: str,
    report: EvalReport,
    arms: Mapping[Arm, EvalReport],
    least: dict[str, float | None],
    *,
    against: tuple[Path | None, comparison.ReportFigures | None],
    as_json: bool,
) -> None:
    """Print the report, what each arm adds and the comparison with an earlier report. Errors: `typer.Exit` with
    THRESHOLD when a figure fell short.
    """
    shown = {"dataset": name, **harness.as_json(report)}
    missed, tables = misses(report, least), [harness.as_table(report)]
    added = ablation.compare_arms(report, arms)
    if added:
        shown["ablations"] = ablation.as_json_values(added)
        tables.append(ablation.as_table(added))
    gate, baseline = against
    if baseline is not None:
        compared = comparison.compare(baseline, comparison.read_figures(shown))
        shown["comparison"] = comparison.as_json(compared)
        tables.append(f"  against {gate}\n{comparison.as_table(compared)}")
        missed += [f"{name} fell significantly" for name in compared.losses]
    terminal.show({**shown, "missed": missed}, "\n\n".join(tables), as_json=as_json)
    for line in missed:
        terminal.note(f"threshold missed: {line}")
    if missed:
        raise typer.Exit(ExitCode.THRESHOLD)


def _run_evaluation(
    context: typer.Context, asked: _EvalRequest, url: str | None
) -> tuple[EvalReport, dict[Arm, EvalReport]]:
    """Ask a server or this process. Reports without one arm exist only with `--ablate`."""
    settings = wiring_of(context).settings()
    address = _address(settings, url, asked)
    if not address:
        return in_process(context, lambda system: _evaluate_here(context, system, asked))

    async def evaluate_there(client: GraphQLClient) -> EvalReport:
        from agentic_rag_cli.commands.evaluation.eval_asking import ask_server

        return await _evaluate(asked.questions, await ask_server(client, asked.workspace), settings, "asking")

    return on_graphql(context, evaluate_there, address=address), {}


def _start(context: typer.Context, asked: EvalDataset, workspace: str | None, alone: bool, as_json: bool) -> None:
    """Queue the questions and print the job."""
    if not alone:
        raise InvalidInput(
            "--background takes --dataset and --workspace: a worker asks about what is ingested, and "
            "`rag eval report JOB --json` gives the report that --gate and `rag eval compare` read."
        )

    job = on_graphql(context, lambda client: queue_evaluation(client, workspace, asked))
    if as_json:
        terminal.result_json({"jobId": job, "questions": len(asked.questions)})
        return
    terminal.result(job)
    questions = format_count(len(asked.questions), "question")
    terminal.note(f"A worker asks {questions}: rag job show {job}; rag eval report {job}")


@app.command("compare")
def compare_reports(
    first: Annotated[Path, typer.Argument(help="Report of `rag eval --json`.")],
    second: Annotated[Path, typer.Argument(help="Another one over the same questions.")],
    as_json: JsonOption = False,
) -> None:
    """Compare two reports question by question: differences with 95 % intervals and paired bootstrap p-values.

    Exits with 5 when the second is significantly worse in a figure.

    Example: rag eval compare before.json after.json
    """
    compared = comparison.compare(comparison.read_report(first), comparison.read_report(second))
    terminal.show(comparison.as_json(compared), comparison.as_table(compared), as_json=as_json)
    if compared.losses:
        raise typer.Exit(ExitCode.THRESHOLD)


def _address(settings: Settings, url: str | None, asked: _EvalRequest) -> str:
    """The server to ask; empty: this process. Errors: `InvalidInput` for options that exclude each other."""
    has_corpus = asked.documents is not None
    if has_corpus and (url or asked.demo):
        raise InvalidInput("--corpus is ingested in this process: not together with --url or --demo.")
    address = url or ("" if asked.demo or has_corpus else settings.client.url)
    if address and settings.models.enable_llm_judge:
        raise InvalidInput("AGENTIC_RAG_ENABLE_LLM_JUDGE: answers are judged in this process: not together with --url.")
    if address and asked.ablate:
        raise InvalidInput("--ablate asks in this process: not together with --url or AGENTIC_RAG_URL.")
    return address


def misses(report: EvalReport, least: dict[str, float | None]) -> list[str]:
    """A line for each figure below its threshold; a figure that the report lacks counts as below."""
    lines: list[str] = []
    for name, wanted in least.items():
        found = report.summary.figures.get(name)
        if wanted is not None and (found is None or found.mean < wanted):
            lines.append(f"{name} {'–' if found is None else f'{found.mean:.4f}'} < {wanted:.4f}")
    return lines


async def _evaluate_here(
    context: typer.Context, system: System, asked: _EvalRequest
) -> tuple[EvalReport, dict[Arm, EvalReport]]:
    from agentic_rag_cli.commands.evaluation.eval_asking import ask_here, judge_here

    container, settings, workspace = system.container, system.container.settings, asked.workspace
    if asked.demo:
        workspace = workspace or DEMO_WORKSPACE
        await _ingest_sample(context, system, workspace)
    if asked.documents:
        await _ingest_corpus(system, workspace or DEMO_WORKSPACE, asked.documents)
    chosen = (await system.workspace(workspace)).ref
    judge = judge_here(container) if settings.models.enable_llm_judge else None
    report = await _evaluate(asked.questions, await ask_here(container, chosen), settings, "asking", judge)
    shares = FusionWeights(*settings.retrieval.shares)
    arms: dict[Arm, EvalReport] = {}
    for arm in Arm if asked.ablate else ():
        ask = await ask_here(container, chosen, ablation.without(arm, shares))
        arms[arm] = await _evaluate(asked.questions, ask, settings, f"without {arm.value}")
    return report, arms


async def _evaluate(
    questions: list[EvalQuestion], ask: Ask, settings: Settings, label: str, judge: Judge | None = None
) -> EvalReport:
    with terminal.ProgressLine(label) as bar:
        return await harness.evaluate(questions, ask, settings.answering.top_k, bar.update, judge)


async def _ingest_corpus(system: System, workspace: str, corpus: list[EvalDocument]) -> None:
    from agentic_rag.ingestion.ingest_chunks import PlainTextDocument

    chosen = await system.ensure_workspace(workspace)
    ingest, profile = system.container.ingest_chunks, system.container.settings.ingestion.chunk_profile
    texts = [PlainTextDocument(one.document_id, one.title or one.document_id, one.text) for one in corpus]
    report = await ingest.run(
        chosen.ref,
        [await ingest.cut(text, profile) for text in texts],
        ACTOR,
        lambda chunks: terminal.note(f"  {format_count(chunks, 'chunk')}"),
    )
    terminal.note(
        f"{workspace}: {format_count(report.documents, 'document')}, {format_count(report.chunks, 'chunk')}, "
        f"{report.embedded} of them embedded now"
    )


async def _ingest_sample(context: typer.Context, system: System, workspace: str) -> None:
    with terminal.ProgressLine("ingesting") as bar:
        ingesting = partial(ingest_directory, system, workspace, sample_corpus(), wait=True, progress=bar.update)
        report = await beside_worker(context, system, ingesting)
    terminal.note(report.summary())


async def queue_evaluation(client: GraphQLClient, workspace: str | None, asked: EvalDataset) -> str:
    """Queue an evaluation; returns the public id of its job."""
    questions = [
        {
            "id": one.question_id,
            "question": one.question,
            "answers": list(one.answers),
            "goldIds": list(one.gold_ids),
            "type": one.kind,
            "without": list(one.without),
            "goldSpans": [list(span) for span in one.gold_spans],
        }
        for one in asked.questions
    ]
    chosen = await client.workspace_id(workspace)
    wish = {"workspaceId": chosen, "dataset": asked.name, "questions": questions}
    return (await client.fetch(queries.START_EVAL_RUN, input=wish))["evalRun"]["jobId"]


async def read_report(client: GraphQLClient, job: str, workspace: str | None) -> Mapping[str, Any]:
    """The report of a job. Errors: `NotFound` codes EVALUATION_NOT_FOUND, REPORT_MISSING (not finished yet)."""
    chosen = await client.workspace_id(workspace, job)
    found = await client.fetch(queries.EVAL_RUN, jobId=node_id(chosen, job, NodeKind.JOB))
    if found is None:
        raise NotFound(f"{job} is not an evaluation; `rag job list` shows the jobs.", code="EVALUATION_NOT_FOUND")
    if found["report"] is None:
        raise NotFound(
            f"{found['answered']} of {found['questions']} questions are answered: `rag job show {job}` tells how the "
            "work stands.",
            code="REPORT_MISSING",
        )
    return json.loads(found["report"])


def report(
    context: typer.Context,
    result: Annotated[
        str, typer.Argument(metavar="REPORT", help="What `rag eval --json` printed, or the job of `--background`.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write; beside REPORT, or JOB.html, when left out.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report as one HTML page: figures with intervals, by type, what each arm adds, latency, and every failing
    question with the commands that show and repeat it. --json prints the report of a job instead.

    Example: rag eval report mine.json --out mine.html
    """
    path = Path(result)
    if path.is_file() or id_in(result, NodeKind.JOB) is None:
        found, beside = load_report(path), path.with_suffix(".html")
    else:
        values = on_graphql(context, lambda client: read_report(client, result, workspace))
        if as_json:
            terminal.result_json(values)
            return
        found, beside = parse_report(values), Path(f"{result}.html")
    target = out or beside
    target.write_text(page(found), encoding="utf-8")
    terminal.result(str(target))
