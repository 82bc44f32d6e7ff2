"""Fits the weights of an answer's support and of its certainty (answering/evidence). Every question is asked with and
without the documents that answer it. The weights in force are those in the code.

    RAG_EMBEDDER=onnx AGENTIC_RAG_HOME=/tmp/training python -m eval.training.train_support \\
        --set sets/clapnq --set xquad-en=xquad/corpus.en.jsonl,xquad/queries.en.jsonl --keep /tmp/training/asked \\
        --out build/support.json

A set is some of its questions over the documents that they need and those nearest to them by words. It goes into a
workspace of AGENTIC_RAG_HOME. With --keep a run that broke off goes on after the sets that it asked. With --asked the
folders that eval.training.train_certainty asked are sets too: what they do not state stands beside what they do.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, astuple
from pathlib import Path

from eval.training.fit_certainty import TrainedCertainty, has_both_sorts, train_certainty
from eval.training.fit_support import Separation, SupportSet, TrainedSupport, train_support
from eval.training.options import print_found, training_parser
from eval.training.support_sets import KeptAnswers, QuestionsToAsk, read_set
from eval.training.train_certainty import supported_sets_of

from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures, SupportWeights
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.settings import Settings, load_settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.commands.evaluation.calibrate import supports
from agentic_rag_cli.in_process import ACTOR, System, open_system
from agentic_rag_cli.processes.servers import reachable


def main() -> None:
    """Ask, fit, print, and write the file if one is named."""
    parser = training_parser(
        __doc__, sets="a folder with corpus.jsonl and queries*.jsonl, or NAME=CORPUS.jsonl,QUERIES.jsonl", most=60
    )
    parser.add_argument("--keep", type=Path, help="folder that keeps what was asked, a file for each set")
    parser.add_argument("--asked", type=Path, help="what train_certainty kept of folders")
    options = parser.parse_args()
    read = [read_set(one, options.questions) for one in options.set]
    with reachable(load_settings()) as settings:
        asked = asyncio.run(_ask_sets(settings, read, options.questions, options.keep))
    folders = [] if options.asked is None else supported_sets_of(options.asked.read_text(encoding="utf-8"))
    sets = [*asked, *folders]
    in_force = astuple(SupportWeights())[: len(AnswerabilityFeatures.__dataclass_fields__)]
    found = train_support(sets, in_force)
    questions = {one.name: len(one.asked) for one in sets}
    values = {"embedder": settings.models.embedder, "questions": questions, **asdict(found)}
    told = _table(found)
    if telling := [one for one in asked if has_both_sorts(one)]:
        certain = train_certainty(telling)
        values["certainty"] = asdict(certain)
        told = f"{told}\n{_certainty_table(certain)}"
    print_found(options, values, told)


async def _ask_sets(settings: Settings, sets: list[QuestionsToAsk], most: int, keep: Path | None) -> list[SupportSet]:
    found: list[SupportSet] = []
    async with open_system(settings) as system:
        for one in sets:
            kept = (
                None if keep is None else KeptAnswers(keep / f"{one.name}.json", f"{settings.models.embedder} {most}")
            )
            known = None if kept is None else kept.load(one.name)
            if known is None:
                known = await _ask(system, one, f"support-{one.name}-{most}")
                if kept is not None:
                    kept.save(known)
            found.append(known)
    return found


async def _ask(system: System, given: QuestionsToAsk, workspace_name: str) -> SupportSet:
    workspace = (await system.ensure_workspace(workspace_name)).ref
    print(
        f"{given.name}: {len(given.documents)} documents; {len(given.known)} questions with and without theirs, "
        f"{len(given.unanswerable)} that none answers",
        file=sys.stderr,
    )
    await _ingest(system, workspace, given)
    return SupportSet(given.name, tuple(await supports(system, workspace, given.all)))


async def _ingest(system: System, workspace: WorkspaceRef, given: QuestionsToAsk) -> None:
    """Embed what is not there yet."""
    ingest, profile = system.container.ingest_chunks, system.container.settings.ingestion.chunk_profile
    texts = (PlainTextDocument(one.document_id, one.title or one.document_id, one.text) for one in given.documents)
    prepared = [await ingest.cut(text, profile) for text in texts]
    await ingest.run(workspace, prepared, ACTOR)


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
    lines += [f"  {name:10} {value:8.2f}" for name, value in {**found.weights, "offset": found.offset}.items()]
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
