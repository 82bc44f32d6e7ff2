"""What each family of hand-written rules adds: the same questions asked with the family and without it.

A family is switched off by what the use case is built of; there is no setting for it. Follow-ups are switched off by
leaving the conversation away. The conversations of follow_ups.jsonl were written before the rules were looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.ask import AnswerQuestion
from agentic_rag.answering.build import FINDERS
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.query.standalone import turn_of
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question, Turn
from agentic_rag.answering.run import Run
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.synthesize import SynthesizeStage
from agentic_rag.answering.state_machine import Stage
from agentic_rag.bootstrap import Container
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.settings import Settings
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.commands.evaluation.eval_asking import record_of
from agentic_rag_cli.in_process import System, operator_of
from agentic_rag_eval.metrics import normalise, score
from agentic_rag_eval.records import EvalQuestion
from tests.bench.reports import Row
from tests.quality.filings import FILINGS, amounts, stands_in
from tests.quality.natural import CORPORA, NaturalQuestion, Verdict, judge_natural, natural_questions
from tests.quality.rows import above, not_below, reported
from tests.quality.sets import DATA, ingested, ingested_folder, questions_of

RULES = "rules"
QUESTIONS = {"hotpotqa": 40, "musique": 40, "clapnq": 120, "xquad-en": 120, FILINGS: 58}
"""How many questions of each set are asked, evenly spread."""
FOLLOW_UPS = Path(__file__).parent / "follow_ups.jsonl"
SAME_SUBJECT, NEW_SUBJECT = ("same document", "another document", "filings"), "another subject"

Judge = Callable[[Run], float]


@dataclass(frozen=True, slots=True)
class WithoutPaths:
    """Synthesis that does not see which passages lead to one another."""

    inner: SynthesizeStage

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """The draft of the same passages."""
        return await self.inner.run(replace(state, retrieved=replace(state.retrieved, path=())), reads)


@dataclass(frozen=True, slots=True)
class Family:
    """Rules that can be left away, and the sets on which they must add something."""

    name: str
    without: Callable[[Container], AnswerQuestion]
    needed_by: tuple[str, ...]


FAMILIES = (
    Family("figures of statements", lambda container: container.build_answer(finders=()), (FILINGS,)),
    Family(
        "answers along a path",
        lambda container: container.build_answer(
            replaced={Stage.SYNTHESIZE: WithoutPaths(SynthesizeStage(FINDERS, container.unit_reader))},
        ),
        ("hotpotqa", "musique"),
    ),
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question of a set, and what an answer to it is worth."""

    question: Question
    judge: Judge


async def rule_rows(system: System, settings: Settings) -> list[Row]:
    """Every family on every set, then the follow-ups."""
    container = system.container
    variants = [(family, family.without(container)) for family in FAMILIES]
    rows: list[Row] = []
    for name, asked in (await _questions(system, settings)).items():
        with_all = [await _worth(container.answer, one) for one in asked]
        for family, without in variants:
            compare = above if name in family.needed_by else reported
            values = [await _worth(without, one) for one in asked]
            rows.append(compare(f"{name}: right, {family.name} on against off", with_all, values))
    return rows + await _follow_up_rows(system, settings)


async def _worth(answer: AnswerQuestion, one: _Asked) -> float:
    return one.judge(await answer.ask(operator_of(one.question.workspace.org_id), one.question))


async def _questions(system: System, settings: Settings) -> dict[str, list[_Asked]]:
    found: dict[str, list[_Asked]] = {}
    for name, most in QUESTIONS.items():
        workspace = await _workspace(system, settings, name)
        paths = {one.document_id: one.source_path for one in await system.documents(workspace)}
        ids = {path: document_id for document_id, path in paths.items()}
        every = questions_of(name)
        chosen = every[:: max(1, len(every) // most)][:most]
        found[name] = [_Asked(_question(workspace, one.question), _judge(name, one, paths)) for one in chosen]
        print(f"    {name}: {len(chosen)} questions for the rules", flush=True)
        if name == FILINGS:
            gone = [tuple(ids[path] for path in one.gold_ids) for one in chosen]
            found[f"{name} without the filing"] = [
                _Asked(_question(workspace, one.question, without), _abstained)
                for one, without in zip(chosen, gone, strict=True)
            ]
    natural = natural_questions("dev")
    folders = {
        corpus: await ingested_folder(system, settings, f"natural-{corpus}", CORPORA / corpus)
        for corpus in dict.fromkeys(one.corpus for one in natural)
    }
    asked = [_Asked(_question(folders[one.corpus], one.question), _judge_natural(one)) for one in natural]
    return found | {"natural questions": asked}


def _judge_natural(asked: NaturalQuestion) -> Judge:
    return lambda run: float(judge_natural(asked, run.answer.outcome.value, run.answer.text).verdict is Verdict.RIGHT)


async def _workspace(system: System, settings: Settings, name: str) -> WorkspaceRef:
    if name == FILINGS:
        return await ingested_folder(system, settings, FILINGS, DATA / FILINGS / "docs")
    return await ingested(system, name, [name])


def _question(workspace: WorkspaceRef, text: str, without: tuple[UUID, ...] = ()) -> Question:
    options = AnswerOptions(cache=CacheMode.BYPASS, filter=DocumentFilter(without_ids=without))
    return Question(workspace, text, options=options)


def _judge(name: str, asked: EvalQuestion, paths: dict[UUID, str]) -> Judge:
    figures = amounts(" ".join(asked.answers)) if name == FILINGS else frozenset[str]()
    known = replace(asked, answers=()) if name == FILINGS else asked

    def judge(run: Run) -> float:
        if figures:
            return float(stands_in(figures, "\n".join(one.snippet for one in run.answer.citations)))
        return float(score(known, record_of(run, paths), 5).right)

    return judge


def _abstained(run: Run) -> float:
    return float(run.answer.outcome is Outcome.ABSTAINED)


async def _follow_up_rows(system: System, settings: Settings) -> list[Row]:
    """Follow-ups after their conversation against the same words alone."""
    values: dict[str, tuple[list[float], list[float]]] = {}
    workspaces: dict[str, WorkspaceRef] = {}
    for line in FOLLOW_UPS.read_text("utf-8").splitlines():
        one = json.loads(line)
        if one["set"] not in workspaces:
            workspaces[one["set"]] = await _workspace(system, settings, one["set"])
        question = _question(workspaces[one["set"]], one["question"])
        history: tuple[Turn, ...] = ()
        for earlier in one["earlier"]:
            history += (turn_of(await _ask(system, replace(question, text=earlier, history=history))),)
        after, alone = values.setdefault(one["kind"], ([], []))
        after.append(_states(await _ask(system, replace(question, history=history)), one["answers"]))
        alone.append(_states(await _ask(system, question), one["answers"]))
    rows = [
        (not_below if kind == NEW_SUBJECT else above)(f"follow-ups, {kind}: right, after their conversation", *pair)
        for kind, pair in values.items()
    ]
    for kind, (after, _) in values.items():
        print(f"    follow-ups, {kind}: {sum(after):.0f} of {len(after)} right")
    return rows


async def _ask(system: System, question: Question) -> Run:
    return await system.container.answer.ask(operator_of(question.workspace.org_id), question)


def _states(run: Run, answers: Sequence[str]) -> float:
    if run.answer.outcome is Outcome.ABSTAINED:
        return 0.0
    said = normalise(run.answer.text)
    return float(any(re.search(rf"(?<!\w){re.escape(normalise(one))}", said) for one in answers))
