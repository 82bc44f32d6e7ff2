"""Fits the weights of an answer's support and of its certainty (answering/evidence). Every question is asked with and
without the documents that answer it. The weights in force are those in the code.

    python -m eval.training.train_support --set handbook=questions.jsonl --set reports=more.jsonl --out support.json
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, astuple, replace
from pathlib import Path

from eval.training.fit_certainty import TrainedCertainty, has_both_sorts, train_certainty
from eval.training.fit_support import Separation, SupportSet, TrainedSupport, train_support
from eval.training.options import print_found, training_parser

from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures, SupportWeights
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.settings import Settings, load_settings
from agentic_rag_cli.commands.evaluation.calibrate import supports
from agentic_rag_cli.in_process import open_system
from agentic_rag_cli.processes.servers import reachable
from agentic_rag_eval.dataset import load_dataset


def main() -> None:
    """Ask, fit, print, and write the file if one is named."""
    sets = "WORKSPACE=QUESTIONS.jsonl; the questions' gold_ids are documents of the workspace"
    options = training_parser(__doc__, sets=sets, most=240).parse_args()
    with reachable(load_settings()) as settings:
        asked = asyncio.run(_ask_sets(settings, options.set, options.questions))
    in_force = astuple(SupportWeights())[: len(AnswerabilityFeatures.__dataclass_fields__)]
    found = train_support(asked, in_force)
    questions = {one.name: len(one.asked) for one in asked}
    values = {"embedder": settings.models.embedder, "questions": questions, **asdict(found)}
    told = _table(found)
    if telling := [one for one in asked if has_both_sorts(one)]:
        certain = train_certainty(telling)
        values["certainty"] = asdict(certain)
        told = f"{told}\n{_certainty_table(certain)}"
    print_found(options, values, told)


async def _ask_sets(settings: Settings, sets: list[str], most: int) -> list[SupportSet]:
    found: list[SupportSet] = []
    async with open_system(settings) as system:
        for given in sets:
            name, _, path = given.partition("=")
            if not path:
                raise InvalidInput(f"--set {given!r}: give WORKSPACE=QUESTIONS.jsonl.")
            questions = load_dataset(Path(path))[:most]
            known = [one for one in questions if one.gold_ids]
            removed = [replace(one, without=one.gold_ids, gold_ids=()) for one in known]
            unanswerable = [one for one in questions if not one.answerable]
            print(f"{name}: {len(known)} questions with and without their documents", file=sys.stderr)
            workspace = (await system.workspace(name)).ref
            found.append(SupportSet(name, tuple(await supports(system, workspace, [*known, *removed, *unanswerable]))))
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


def _certainty_table(found: TrainedCertainty) -> str:
    lines = ["weights of the certainty"]
    lines += [f"  {name:10} {value:8.1f}" for name, value in {**found.weights, "offset": found.offset}.items()]
    lines.append(
        "left out: AUROC of right against wrong answers; at the line: without gold answer, of right, of removed"
    )
    lines += [
        f"  {name:20} {100 * one.auroc:.0f}; {100 * one.lacking:.0f}, {100 * one.right:.0f}, {100 * one.removed:.0f}"
        for name, one in found.left_out.items()
        if one is not None
    ]
    return "\n".join(lines)


def _format_separation(one: Separation | None) -> str:
    return "–" if one is None else f"{100 * one.auroc:.0f} / {100 * one.abstained:.0f}"


if __name__ == "__main__":
    main()
