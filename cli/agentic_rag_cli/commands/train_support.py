"""`rag eval train-support`."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_cli import output
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.wiring import run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag.settings import Settings
    from agentic_rag_cli.wiring import Wiring
    from agentic_rag_eval.support_training import Separation, SupportSet, TrainedSupport


def train_support(
    context: typer.Context,
    sets: Annotated[
        list[str],
        typer.Option(
            "--set", help="WORKSPACE=QUESTIONS.jsonl; the questions' gold_ids are documents of the workspace."
        ),
    ],
    most: Annotated[int, typer.Option("--questions", min=10, help="Of each set, from its beginning.")] = 240,
    out: Annotated[Path | None, typer.Option("--out", help="Write weights and figures to this file.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Fit the weights that say how far passages support an answer (answering/evidence/answerability.py): every
    question is asked with and without the documents that answer it. The weights in force are those in the code.

    Example: rag eval train-support --set handbook=questions.jsonl --set reports=more.jsonl --out eval/support.json
    """
    from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures, SupportWeights
    from agentic_rag_eval.support_training import train_support as train

    wiring = wiring_of(context)
    with wiring.servers(wiring.settings()) as settings:
        asked = run_async(_ask_sets(wiring, settings, sets, most))
    in_force = astuple(SupportWeights())[: len(AnswerabilityFeatures.__dataclass_fields__)]
    found = train(asked, in_force)
    shown = {
        "embedder": settings.embedder,
        "questions": {one.name: len(one.asked) for one in asked},
        **asdict(found),
    }
    if out is not None:
        out.write_text(json.dumps(shown, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    output.result_json(shown) if as_json else output.result(_table(found))


async def _ask_sets(wiring: Wiring, settings: Settings, sets: list[str], most: int) -> list[SupportSet]:
    from agentic_rag_cli.commands.calibrate import supports
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_eval.dataset import load_dataset
    from agentic_rag_eval.support_training import SupportSet

    found: list[SupportSet] = []
    async with wiring.session(settings) as session:
        for given in sets:
            name, _, path = given.partition("=")
            if not path:
                raise InvalidInput(f"--set {given!r}: give WORKSPACE=QUESTIONS.jsonl.")
            workspace = (await the_workspace(session, name)).ref
            questions = load_dataset(Path(path))[:most]
            known = [one for one in questions if one.gold_ids]
            removed = [replace(one, without=one.gold_ids, gold_ids=()) for one in known]
            unanswerable = [one for one in questions if not one.answerable]
            output.note(f"{name}: {len(known)} questions with and without their documents")
            asked = await supports(session, workspace, [*known, *removed, *unanswerable])
            found.append(SupportSet(name, tuple(asked)))
    return found


def _table(found: TrainedSupport) -> str:
    lines = ["weights"]
    lines += [f"  {name:10} {value:8.1f}" for name, value in {**found.weights, "offset": found.offset}.items()]
    lines.append(
        "AUROC / abstained without answer at 5 % false abstention, in percent: in force, fitted, left out; then "
        "abstained at the default threshold, answerable / without answer"
    )
    lines += [
        f"  {name:20} {_format_separation(found.in_force[name])}   {_format_separation(found.fitted[name])}   "
        f"{_format_separation(found.left_out[name])}   "
        f"{100 * found.by_default[name].answerable:.0f} / {100 * found.by_default[name].others:.0f}"
        for name in found.fitted
    ]
    return "\n".join(lines)


def _format_separation(one: Separation | None) -> str:
    return "–" if one is None else f"{100 * one.auroc:.0f} / {100 * one.abstained:.0f}"
