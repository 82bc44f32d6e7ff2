"""`rag eval init|calibrate`: makes questions from a workspace's own corpus and sets its abstention threshold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from agentic_rag.answering.answer import Outcome, Support
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import ACTOR, System, operator_of
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process
from agentic_rag_eval.dataset import load_dataset
from agentic_rag_eval.metrics import holds_answer
from agentic_rag_eval.own_questions import EASIER, KNOWN_ITEM, REMOVED_GOLD, SourcePassage, as_lines, own_questions
from agentic_rag_eval.records import EvalQuestion
from agentic_rag_eval.support_calibration import AskedSupport, Calibration, Rate, fewest_questions
from agentic_rag_eval.support_calibration import calibrate as calibrate_support

SPARE = 2
"""Passages read per requested question, since some have too little text to ask for."""
FEWEST = 20
"""Made questions of a corpus that is large enough."""

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

    async def work(system: System) -> list[EvalQuestion]:
        return await own_set(system, (await system.workspace(workspace)).ref, questions, seed)

    made = in_process(context, work)
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
        typer.Option("--error", min=0.001, max=0.5, help="Share of answerable questions that may be abstained on."),
    ] = 0.05,
    dataset: Annotated[
        Path | None,
        typer.Option("--dataset", "-d", help="Questions to calibrate on; made from the corpus when left out."),
    ] = None,
    workspace: WorkspaceOption = None,
    questions: Questions = 400,
    seed: Seed = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure only.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to AGENTIC_RAG_MIN_SUPPORT.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Set the support below which a workspace abstains, so that at most --error of the questions it could answer are
    abstained on. Questions of your own with gold_ids say more about your users than those made from the corpus.

    The threshold holds for the workspace's embedding space; a switch to another one leaves it behind.

    Example: rag eval calibrate --workspace handbook --error 0.05
    """
    if reset:
        _go_back(context, workspace, as_json=as_json)
        return
    given = None if dataset is None else load_dataset(dataset)

    async def measure(system: System) -> tuple[Calibration, str | None]:
        ref = (await system.workspace(workspace)).ref
        asked = await supports(system, ref, given or await own_set(system, ref, questions, seed))
        found = calibrate_on(asked, given, error, system.container.settings.answering.min_support)
        return found, None if dry_run else await _keep_threshold(system, ref, found.threshold)

    found, space = in_process(context, measure)
    terminal.show(_json(found, space), _table(found, space), as_json=as_json)


async def own_set(system: System, workspace: WorkspaceRef, wanted: int, seed: int) -> list[EvalQuestion]:
    """Questions made from a workspace's passages. Errors: `InvalidInput` when there are too few."""
    chunks = await system.container.calibrate_support.passages(workspace, SPARE * wanted, seed)
    passages = [SourcePassage(chunk.source_path, chunk.text) for chunk in chunks]
    made = own_questions(passages, wanted, seed)
    if len(made) < 2 * FEWEST:
        raise InvalidInput(
            f"The workspace has {len(chunks)} passages, too few to make {FEWEST} questions from.",
            code="CORPUS_TOO_SMALL",
        )
    return made


def calibrate_on(
    asked: Sequence[AskedSupport], given: Sequence[EvalQuestion] | None, error: float, default: float
) -> Calibration:
    """Made questions are easier than those of people, so they only raise the threshold above the default."""
    made = given is None or all(one.kind in (KNOWN_ITEM, REMOVED_GOLD) for one in given)
    easier = EASIER if made else 1.0
    answerable, needed = sum(one.answerable for one in asked), fewest_questions(error, easier)
    if answerable < needed:
        kind = "made from the corpus" if made else "with gold_ids"
        raise InvalidInput(
            f"An error of {error:g} needs {needed} questions {kind}, and there are {answerable}: ask more, or allow a "
            "larger --error.",
            code="DATASET_INVALID",
        )
    return calibrate_support(asked, error, easier, default if made else 0.0)


async def supports(system: System, workspace: WorkspaceRef, questions: Sequence[EvalQuestion]) -> list[AskedSupport]:
    """The support of every question that is answered from passages."""
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
                    )
                )
            bar.update(done, len(questions))
    return found


def _values(support: Support) -> tuple[float, ...]:
    return tuple(sign.value for sign in support.contributions)


async def _keep_threshold(system: System, workspace: WorkspaceRef, threshold: float | None) -> str:
    return (await system.container.calibrate_support.keep(workspace, threshold, ACTOR)).name


def _go_back(context: typer.Context, workspace: str | None, *, as_json: bool) -> None:
    """Forget the workspace's own threshold."""

    async def work(system: System) -> tuple[str, float]:
        space = await _keep_threshold(system, (await system.workspace(workspace)).ref, None)
        return space, system.container.settings.answering.min_support

    space, threshold = in_process(context, work)
    terminal.show(
        {"threshold": threshold, "space": space, "kept": True},
        f"The default holds again: {threshold}.",
        as_json=as_json,
    )


def _json(found: Calibration, space: str | None) -> dict[str, object]:
    return {
        "threshold": round(found.threshold, 6),
        "error": found.error,
        "false_abstention": _rate_json(found.false_abstention),
        "abstained_without_answer": _rate_json(found.abstained),
        "space": space,
        "kept": space is not None,
    }


def _rate_json(rate: Rate | None) -> dict[str, float] | None:
    if rate is None:
        return None
    return {"share": rate.hits / rate.of, "low": rate.low, "high": rate.high, "questions": rate.of}


def _table(found: Calibration, space: str | None) -> str:
    kept = "not kept (--dry-run)" if space is None else f"kept for {space}"
    return (
        f"threshold                   {found.threshold:.3f}  ({kept})\n"
        f"abstained though answerable {_format_rate(found.false_abstention)}  (at most {100 * found.error:g} % "
        f"wanted)\n"
        f"abstained without answer    {_format_rate(found.abstained)}"
    )


def _format_rate(rate: Rate | None) -> str:
    if rate is None:
        return "–"
    return f"{100 * rate.hits / rate.of:.1f} % [{100 * rate.low:.1f}, {100 * rate.high:.1f}] of {rate.of}"
