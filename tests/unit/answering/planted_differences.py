"""Runs that differ from another one in a stage that is known: by construction, with what follows from it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentic_rag.answering.answer import AnswerDebug, FetchedText, Outcome, SelfCheckReport, Support
from agentic_rag.answering.plan import AnswerType, Plan, SubQuestion, ToolCall
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.difference import sentences_of
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.dependency import Dependency

Plant = Callable[[Run, random.Random], Run]


def _debug(run: Run, debug: AnswerDebug) -> Run:
    return replace(run, answer=replace(run.answer, debug=debug))


def _gate(run: Run, draw: random.Random) -> Run:
    gate = run.answer.gate
    other = replace(gate, directives=replace(gate.directives, use_retrieval=not gate.directives.use_retrieval))
    return replace(run, answer=replace(run.answer, gate=other))


def _plan(run: Run, draw: random.Random) -> Run:
    plan = Plan((SubQuestion(f"part {draw.random()}"),), draw.choice([*AnswerType]), (), "rules")
    return _debug(run, replace(run.answer.debug, plan=plan))


def _standalone(run: Run, draw: random.Random) -> Run:
    """The same words, put otherwise after their conversation, with the plan and the searches that follow."""
    text = f"When (about: which berth costs {draw.random()})?"
    plan = Plan((SubQuestion(text),), AnswerType.FACT, (), "rules")
    return _debug(run, replace(run.answer.debug, standalone_question=text, plan=plan, rewritten_query=text))


def _rewrite(run: Run, draw: random.Random) -> Run:
    return _debug(run, replace(run.answer.debug, rewritten_query=f"berth {draw.random()}"))


def _hyde(run: Run, draw: random.Random) -> Run:
    return _debug(run, replace(run.answer.debug, hyde_text=f"A berth costs {draw.random()} crowns."))


def _embed(run: Run, draw: random.Random) -> Run:
    if draw.random() < 0.5:
        return replace(run, versions=replace(run.versions, space=f"other-{draw.random()}"))
    degraded = () if Dependency.EMBEDDER in run.answer.degraded else (Dependency.EMBEDDER,)
    return replace(run, answer=replace(run.answer, degraded=degraded))


def _retrieve(run: Run, draw: random.Random) -> Run:
    candidates = [*run.answer.debug.candidates]
    if len(candidates) > 1 and draw.random() < 0.5:
        return _debug(run, replace(run.answer.debug, candidates=(*candidates[1:], candidates[0])))
    first = replace(candidates[0], score=candidates[0].score + 0.01)
    return _debug(run, replace(run.answer.debug, candidates=(first, *candidates[1:])))


def _tools(run: Run, draw: random.Random) -> Run:
    if draw.random() < 0.5:
        page = FetchedText(run.run_id, "https://a.example/", "A page", f"It says {draw.random()}.")
        return _debug(run, replace(run.answer.debug, fetched=(page,)))
    call = ToolCall("calc", "1 + 1", f"{draw.random()}", None, 0.0)
    return _debug(run, replace(run.answer.debug, tool_calls=(call,)))


def _synthesize(run: Run, draw: random.Random) -> Run:
    return replace(run, answer=replace(run.answer, text=f"Another sentence {draw.random()} [1]", citations=()))


def _self_check(run: Run, draw: random.Random) -> Run:
    """Equal drafts, of which this self-check drops the sentences that the other one kept."""
    dropped = sentences_of(run.answer)
    report = SelfCheckReport(0.0, dropped, (), repaired=True)
    other = _debug(run, replace(run.answer.debug, self_check=report))
    return replace(other, answer=replace(other.answer, text="", citations=(), outcome=Outcome.ABSTAINED))


def _certainty(run: Run, draw: random.Random) -> Run:
    return _debug(run, replace(run.answer.debug, certainty=Support(draw.random(), 0.9)))


PUT_OTHERWISE = "another stand-alone question"
KINDS: Mapping[str, tuple[Stage, Plant]] = {
    PUT_OTHERWISE: (Stage.REWRITE, _standalone),
    "the gate reads no documents": (Stage.GATE, _gate),
    "another plan": (Stage.PLAN, _plan),
    "other searches": (Stage.REWRITE, _rewrite),
    "another hypothetical passage": (Stage.HYDE, _hyde),
    "another space, or no embedder": (Stage.EMBED, _embed),
    "other candidates, another order or score": (Stage.RETRIEVE, _retrieve),
    "another result of a tool": (Stage.TOOLS, _tools),
    "other sentences": (Stage.SYNTHESIZE, _synthesize),
    "a sentence that the self-check drops": (Stage.SELF_CHECK, _self_check),
    "another certainty": (Stage.SYNTHESIZE, _certainty),
}
ORDER = [*Stage]


def planted(run: Run, kind: str, draw: random.Random) -> tuple[Stage, Run]:
    """The stage that a kind names, and the run changed there and, half of the time each, in every later stage."""
    stage, plant = KINDS[kind]
    changed = plant(run, draw)
    for other, (_, later) in KINDS.items():
        if _place(other) > _place(kind) and draw.random() < 0.5:
            changed = later(changed, draw)
    return stage, changed


def _place(kind: str) -> int:
    """A question is put so that it stands alone before the first stage: every stage reads it."""
    return -1 if kind == PUT_OTHERWISE else ORDER.index(KINDS[kind][0])
