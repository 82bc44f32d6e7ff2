"""`rag eval init|calibrate`: makes questions from a workspace's own corpus and sets its abstention threshold."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.answering.answer import Outcome, Support
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.jobs.job import JobState
from agentic_rag.kernel.errors import AgenticRagError, InvalidInput, NotFound
from agentic_rag.models.embedding.calibration import CalibrationSource, SupportCalibration
from agentic_rag.operations.calibrate import DEFAULT_ERROR, ERRORS, CalibrationPassages, CalibrationWish
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client import operator_queries, queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.in_process import ACTOR, System, operator_of
from agentic_rag_cli.options import JsonOption, UrlOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process, on_graphql, wiring_of
from agentic_rag_eval.calibration_job import MOST_READ, QUESTIONS, measured, questions_from
from agentic_rag_eval.dataset import load_dataset
from agentic_rag_eval.metrics import holds_answer
from agentic_rag_eval.own_questions import EASIER, KNOWN_ITEM, REMOVED_GOLD, SourcePassage, as_lines, own_questions
from agentic_rag_eval.records import EvalQuestion
from agentic_rag_eval.support_calibration import AskedSupport, Calibration, Rate, fewest_questions
from agentic_rag_eval.support_calibration import calibrate as calibrate_support

FEWEST = 20
"""Made questions of a corpus that is large enough."""
POLL_SECONDS = 0.5

Questions = Annotated[int, typer.Option("--questions", "-n", min=20, max=5000, help="Known-item questions to make.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of the random choice of questions.")]


def init(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    questions: Questions = 400,
    seed: Seed = 1,
    out: Annotated[Path, typer.Option("--out", "-o", help="JSONL file to write.")] = Path("own-questions.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Make a dataset from a workspace's own corpus: questions that one of its passages answers, and the same asked
    without that document, where an abstention is right.

    Example: rag eval init --workspace handbook --questions 400 --out own.jsonl
    """

    async def work(client: GraphQLClient) -> list[dict[str, str]]:
        chosen = await client.workspace_id(workspace)
        return await client.fetch_long(operator_queries.SAMPLE_PASSAGES, workspaceId=chosen, most=MOST_READ, seed=seed)

    passages = [SourcePassage(one["sourcePath"], one["text"], one["title"]) for one in on_graphql(context, work)]
    made = require_enough(own_questions(passages, questions, seed), len(passages))
    out.write_text(as_lines(made), encoding="utf-8")
    known = sum(one.kind == KNOWN_ITEM for one in made)
    if as_json:
        terminal.result_json({"path": str(out), "known_item": known, "removed_gold": len(made) - known})
    else:
        terminal.result(f"{out}: {known} known-item questions, {len(made) - known} without their document.")
        terminal.note("Next: rag eval calibrate --dataset " + str(out))


def calibrate(
    context: typer.Context,
    error: Annotated[
        float,
        typer.Option(
            "--error", min=ERRORS[0], max=ERRORS[1], help="Share of answerable questions that may be abstained on."
        ),
    ] = DEFAULT_ERROR,
    dataset: Annotated[
        Path | None,
        typer.Option("--dataset", "-d", help="Questions to calibrate on; made from the corpus when left out."),
    ] = None,
    workspace: WorkspaceOption = None,
    questions: Questions = 400,
    seed: Seed = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure only.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to AGENTIC_RAG_MIN_SUPPORT, and keep to it.")] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set the support below which a workspace abstains, so that at most --error of the questions it could answer are
    abstained on; for each kind of question with enough of them, and for the others together. Questions of your own with
    gold_ids say more about your users than those made from the corpus.

    The threshold holds for the workspace's embedding space; a switch to another one leaves it behind. With --url a
    worker of the server does it on questions made from the corpus.

    Example: rag eval calibrate --workspace handbook --error 0.05
    """
    address = url or wiring_of(context).settings().client.url
    if reset:
        _show_reset(on_graphql(context, lambda client: _reset_there(client, workspace), address=address), as_json)
        return
    if address:
        if dataset is not None:
            raise InvalidInput("--dataset is asked in this process: not together with --url or AGENTIC_RAG_URL.")
        shown = on_graphql(
            context, lambda client: calibrate_there(client, workspace, error, dry_run=dry_run), address=address
        )
        terminal.show(shown, _table(shown), as_json=as_json)
        return
    given = None if dataset is None else load_dataset(dataset)
    wish = CalibrationWish(error, is_trial=dry_run)

    async def measure(system: System) -> tuple[Calibration, SupportCalibration, str]:
        container = system.container
        ref = (await system.workspace(workspace)).ref
        passages = await container.calibrate_support.passages(ref, MOST_READ, seed)
        asked = await supports(system, ref, given or made_set(passages, questions, seed))
        default = container.settings.answering.min_support
        found = calibrate_on(asked, given, error, default)
        made = _is_made(given)
        source = CalibrationSource.CORPUS if made else CalibrationSource.GIVEN
        stored = measured(asked, error, default if made else 0.0, passages, source, container.clock.now())
        return found, stored, (await container.calibrate_support.keep(ref, stored, wish, ACTOR)).name

    found, stored, space = in_process(context, measure)
    shown = _json(found, stored, space, kept=not dry_run)
    terminal.show(shown, _table(shown), as_json=as_json)


def made_set(passages: CalibrationPassages, wanted: int, seed: int) -> list[EvalQuestion]:
    """Questions made from passages. Errors: `InvalidInput` when there are too few."""
    return require_enough(questions_from(passages, wanted, seed), len(passages.sampled))


def require_enough(made: list[EvalQuestion], passages: int) -> list[EvalQuestion]:
    """The questions. Errors: `InvalidInput` when there are too few."""
    if len(made) < 2 * FEWEST:
        raise InvalidInput(
            f"The workspace has {passages} passages, too few to make {FEWEST} questions from.", code="CORPUS_TOO_SMALL"
        )
    return made


def calibrate_on(
    asked: Sequence[AskedSupport], given: Sequence[EvalQuestion] | None, error: float, default: float
) -> Calibration:
    """The line for all questions. Made ones do not know what users ask, so they only raise it above the default."""
    made = _is_made(given)
    drawn_at = error / EASIER if made else error
    answerable, needed = sum(one.answerable for one in asked), fewest_questions(drawn_at)
    if answerable < needed:
        kind = "made from the corpus" if made else "with gold_ids"
        raise InvalidInput(
            f"An error of {error:g} needs {needed} questions {kind}, and there are {answerable}: ask more, or allow a "
            "larger --error.",
            code="DATASET_INVALID",
        )
    return calibrate_support(asked, drawn_at, least=default if made else 0.0)


def _is_made(given: Sequence[EvalQuestion] | None) -> bool:
    return given is None or all(one.kind in (KNOWN_ITEM, REMOVED_GOLD) for one in given)


async def supports(system: System, workspace: WorkspaceRef, questions: Sequence[EvalQuestion]) -> list[AskedSupport]:
    """The support of every question that is answered from passages."""
    from agentic_rag.answering.shapes.kind_threshold import kind_name

    ids = {}
    if any(one.without for one in questions):
        documents = await system.documents(workspace)
        ids = {document.source_path: document.document_id for document in documents}
    found: list[AskedSupport] = []
    with terminal.ProgressLine("asking") as bar:
        for done, one in enumerate(questions, 1):
            without = tuple(ids[path] for path in one.without if path in ids)
            options = AnswerOptions(cache=CacheMode.BYPASS, filter=DocumentFilter(without_ids=without))
            run = await system.container.answer.ask(
                operator_of(workspace.org_id), Question(workspace, one.question, options=options)
            )
            support, certainty = run.answer.debug.support, run.answer.debug.certainty
            if support is not None:
                answerable = bool(one.gold_ids) and not one.without
                found.append(
                    AskedSupport(
                        support.score,
                        answerable,
                        signs=_values(support),
                        abstained=run.answer.outcome is Outcome.ABSTAINED,
                        certainty=() if certainty is None else _values(certainty),
                        right=answerable and bool(one.answers) and holds_answer(one, run.answer.text),
                        kind=kind_name(one.question),
                    )
                )
            bar.update(done, len(questions))
    return found


def _values(support: Support) -> tuple[float, ...]:
    return tuple(sign.value for sign in support.contributions)


async def calibrate_there(
    client: GraphQLClient, workspace: str | None, error: float, *, dry_run: bool
) -> dict[str, Any]:
    """Have a server's worker calibrate, and wait for it. Errors: the error code of its job, `NotFound` code
    CALIBRATION_MISSING.
    """
    chosen = await client.workspace_id(workspace)
    begun = await client.fetch(queries.CALIBRATE, workspaceId=chosen, error=error, dryRun=dry_run)
    with terminal.ProgressLine("asking") as bar:
        while True:
            job = await client.fetch(queries.JOB_STATE, id=begun["job"]["id"])
            if job["state"] == JobState.DONE.value:
                break
            if job["state"] not in (JobState.QUEUED.value, JobState.RUNNING.value):
                raise AgenticRagError(job["errorMessage"] or "The calibration gave up.", code=job["errorCode"])
            bar.update(job["progress"], QUESTIONS)
            await asyncio.sleep(POLL_SECONDS)
    found = await client.fetch(queries.CALIBRATION, id=chosen)
    shown = found["calibrationTrial" if dry_run else "calibration"]
    if shown is None:
        raise NotFound("The calibration was reset meanwhile.", code="CALIBRATION_MISSING")
    pooled = shown["pooled"]
    return {
        "threshold": pooled["threshold"],
        "error": shown["error"],
        "bound": pooled["bound"],
        "false_abstention": _rate_json(Rate(pooled["abstained"], pooled["questions"], pooled["low"], pooled["high"])),
        "abstained_without_answer": None,
        "kinds": shown["kinds"],
        "space": shown["space"],
        "kept": shown["inForce"],
    }


async def _reset_there(client: GraphQLClient, workspace: str | None) -> str:
    chosen = await client.workspace_id(workspace)
    return (await client.fetch(queries.RESET_CALIBRATION, workspaceId=chosen))["space"]


def _show_reset(space: str, as_json: bool) -> None:
    terminal.show(
        {"space": space, "kept": True},
        "AGENTIC_RAG_MIN_SUPPORT holds again; nothing calibrates this workspace by itself from now on.",
        as_json=as_json,
    )


def _json(found: Calibration, stored: SupportCalibration, space: str, *, kept: bool) -> dict[str, Any]:
    return {
        "threshold": round(found.threshold, 6),
        "error": stored.error,
        "bound": found.bound,
        "false_abstention": _rate_json(found.false_abstention),
        "abstained_without_answer": _rate_json(found.abstained),
        "kinds": [{"kind": kind, **asdict(line)} for kind, line in sorted(stored.kinds.items())],
        "space": space,
        "kept": kept,
    }


def _rate_json(rate: Rate | None) -> dict[str, float] | None:
    if rate is None:
        return None
    return {"share": rate.hits / rate.of, "low": rate.low, "high": rate.high, "questions": rate.of}


def _table(shown: Mapping[str, Any]) -> str:
    kept = f"kept for {shown['space']}" if shown["kept"] else "not kept (--dry-run)"
    lines = [
        f"threshold                   {shown['threshold']:.3f}  ({kept})",
        f"a further question          abstained on with a probability of at most {100 * shown['bound']:.1f} %  "
        f"({100 * shown['error']:g} % wanted)",
        f"abstained though answerable {_format_rate(shown['false_abstention'])}",
        f"abstained without answer    {_format_rate(shown['abstained_without_answer'])}",
    ]
    lines += [
        f"  {one['kind']:<26}{one['threshold']:.3f}  ({one['questions']} questions, at most {100 * one['bound']:.1f} %)"
        for one in shown["kinds"]
    ]
    return "\n".join(lines)


def _format_rate(rate: Mapping[str, float] | None) -> str:
    if rate is None:
        return "–"
    return f"{100 * rate['share']:.1f} % [{100 * rate['low']:.1f}, {100 * rate['high']:.1f}] of {rate['questions']}"
