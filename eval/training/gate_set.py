"""Builds the labelled set of the gate: every question is asked with the documents that answer it, without them, and
with words that need something new, over documents read today and over the same ones a year later.

    RAG_EMBEDDER=onnx AGENTIC_RAG_HOME=/tmp/training python -m eval.training.gate_set \\
        --set sets/clapnq --set xquad-en=xquad/corpus.en.jsonl,xquad/queries.en.jsonl --out build/gate/cases

Each set leaves a file in the folder; one that is there is not asked again. Nothing goes out: a search stands for the
documents that were left out, and for readings of today of those that are too old.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from eval.training.support_sets import QuestionsToAsk, read_set

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.answering.answer import Answer, Outcome
from agentic_rag.answering.options import TIMEOUT_MS
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.stages.gate import DirectStage
from agentic_rag.answering.state_machine import Stage
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.settings import Settings, load_settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.in_process import ACTOR, System, open_system, operator_of
from agentic_rag_cli.processes.servers import reachable
from agentic_rag_eval.gate_cases import CaseKind, GateCase, load_cases, save_cases
from agentic_rag_eval.records import EvalQuestion

TOO_OLD = timedelta(days=400)
"""More than every time that words of a question ask for."""
TIMES = (
    "currently", "right now", "as of today", "at the moment", "at present",
    "these days", "nowadays", "as of now", "as things stand", "according to the latest reports",
)  # fmt: skip
"""How people say that an answer has to be new: in turn, one for each question. Not taken from what the gate knows."""


class MovableClock(SystemClock):
    """The time of day, and as many days more as are set."""

    ahead = timedelta()

    def now(self) -> datetime:
        """The time that the gate holds readings against."""
        return super().now() + self.ahead


def main() -> None:
    """Ask each set, and write its cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", required=True, help="a folder, or NAME=CORPUS.jsonl,QUERIES.jsonl")
    parser.add_argument("--questions", type=int, default=120, help="questions of each set; default: 120")
    parser.add_argument("--out", type=Path, required=True, help="folder of the cases, a file for each set")
    options = parser.parse_args()
    sets = [read_set(one, options.questions) for one in options.set]
    unasked = [one for one in sets if not _file(options.out, one).is_file()]
    if unasked:
        with reachable(load_settings()) as settings:
            asyncio.run(_build(settings, unasked, options.out))
    found = {one.name: load_cases(_file(options.out, one)) for one in sets}
    told = {
        name: {"cases": len(ones), "need_search": sum(one.needs_search for one in ones)} for name, ones in found.items()
    }
    print(json.dumps(told, indent=2))


async def _build(settings: Settings, sets: Sequence[QuestionsToAsk], out: Path) -> None:
    async with open_system(settings) as system:
        for one in sets:
            cases = await labelled_cases(system, one)
            save_cases(_file(out, one), cases)


def _file(out: Path, given: QuestionsToAsk) -> Path:
    return out / f"{given.name}.jsonl"


async def labelled_cases(system: System, given: QuestionsToAsk) -> list[GateCase]:
    """The cases of a set. Errors: those of a run."""
    clock = MovableClock()
    # By rules, and the gate by a clock that the conditions move.
    answer = system.container.build_answer(
        replaced={Stage.SEARCH: DirectStage(clock, system.container.telemetry)}, unrecorded=True
    )
    workspace = (await system.ensure_workspace(f"gate-{given.name}")).ref
    await _ingest(system, workspace, given)
    ids = {one.source_path: one.document_id for one in await system.documents(workspace)}

    async def ask(text: str, one: EvalQuestion, *, without_gold: bool = False) -> Answer:
        left_out = tuple(ids[path] for path in one.gold_ids) if without_gold else ()
        # A busy machine must not turn a question into one that nothing answers.
        options = AnswerOptions(
            cache=CacheMode.BYPASS, timeout_ms=TIMEOUT_MS[1], filter=DocumentFilter(without_ids=left_out)
        )
        asked = Question(workspace, text, options=options)
        return (await answer.ask(operator_of(workspace.org_id), asked)).answer

    def case(kind: CaseKind, question: EvalQuestion, answer: Answer, *, answered: bool, outside: bool) -> GateCase:
        signals = {one.name: one.value for one in answer.gate.contributions}
        return GateCase(given.name, f"{question.question_id}:{kind.value}", kind, signals, answered, outside)

    cases: list[GateCase] = []
    for place, question in enumerate(given.known):
        timed = f"{TIMES[place % len(TIMES)].capitalize()}: {question.question}"
        held = await ask(question.question, question)
        removed = await ask(question.question, question, without_gold=True)
        new = await ask(timed, question)
        clock.ahead = TOO_OLD
        old = await ask(timed, question)
        clock.ahead = timedelta()
        right, right_in_time = is_answered(question, held), is_answered(question, new)
        cases += [
            case(CaseKind.INSIDE, question, held, answered=right, outside=right),
            case(CaseKind.MISSING, question, removed, answered=False, outside=right),
            case(CaseKind.IN_TIME, question, new, answered=right_in_time, outside=right_in_time),
            case(CaseKind.STALE, question, old, answered=False, outside=right_in_time),
        ]
        if place % 20 == 19:
            print(f"  {given.name}: {place + 1} of {len(given.known)}", file=sys.stderr, flush=True)
    for question in given.unanswerable:
        # Nobody's documents answer these, so a search is a call for nothing.
        cases.append(
            case(CaseKind.MISSING, question, await ask(question.question, question), answered=False, outside=False)
        )
    return cases


def is_answered(question: EvalQuestion, answer: Answer) -> bool:
    """It states something, and cites a document that is known to answer the question."""
    cited = {one.source_path for one in answer.citations}
    return answer.outcome is not Outcome.ABSTAINED and not cited.isdisjoint(question.gold_ids)


async def _ingest(system: System, workspace: WorkspaceRef, given: QuestionsToAsk) -> None:
    """Embed what is not there yet."""
    ingest, profile = system.container.ingest_chunks, system.container.settings.ingestion.chunk_profile
    texts = (PlainTextDocument(one.document_id, one.title or one.document_id, one.text) for one in given.documents)
    await ingest.run(workspace, [await ingest.cut(text, profile) for text in texts], ACTOR)


if __name__ == "__main__":
    main()
