"""How two runs differ: the first stage whose result differs, and what became of the sentences and their citations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.answer import Answer, Citation, SearchSettings, Support
from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.answering.plan import NO_DURATION
from agentic_rag.answering.run import Run
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.text import fold_text

_MARKERS = re.compile(r"\s*(?:\[\d{1,4}\])+\s*$")
_MOST_SHOWN = 300
_POLICIES = frozenset(
    {DowngradeCause.MODE, DowngradeCause.ORGANISATION, DowngradeCause.WORKSPACE, DowngradeCause.REQUEST}
)


@dataclass(frozen=True, slots=True)
class StageDifference:
    """One thing that a stage made in both runs, and made differently."""

    stage: Stage
    what: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AnswerDifference:
    """What became of the answer. Sentences stand without their markers; citations are compared by source and quote."""

    kept: tuple[str, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]
    citations_removed: tuple[Citation, ...]
    citations_added: tuple[Citation, ...]


Reading = Callable[[Run], str]


def find_differences(before: Run, after: Run) -> tuple[StageDifference, ...]:
    """All of them, in the order of the stages: the first tells where the runs part. A question that was put otherwise
    after its conversation stands before all of them, since every stage reads it. What a run was made with (weights,
    pipeline, models) stands in its versions and is no result of a stage.
    """
    found: list[StageDifference] = []
    for stage, what, reading in (
        *_question_readings(before, after),
        *_BEFORE_THE_DRAFT,
        *_draft_readings(before, after),
        *_AFTER_THE_DRAFT,
    ):
        one, other = reading(before), reading(after)
        if one != other:
            found.append(StageDifference(stage, what, *_shown(one, other)))
    return tuple(found)


def compare_answers(before: Answer, after: Answer) -> AnswerDifference:
    """What became of the sentences and citations of an answer."""
    old, new = sentences_of(before), sentences_of(after)
    old_cited, new_cited = (
        {(one.document_id, one.snippet): one for one in answer.citations} for answer in (before, after)
    )
    return AnswerDifference(
        kept=tuple(one for one in new if one in old),
        removed=tuple(one for one in old if one not in new),
        added=tuple(one for one in new if one not in old),
        citations_removed=tuple(one for key, one in old_cited.items() if key not in new_cited),
        citations_added=tuple(one for key, one in new_cited.items() if key not in old_cited),
    )


def sentences_of(answer: Answer) -> tuple[str, ...]:
    """The sentences of an answer that carry citations, in its order; a text without any is one sentence."""
    spans = sorted({(span.start, span.end) for one in answer.citations for span in one.answer_spans})
    texts = [answer.text[start:end] for start, end in spans] or [answer.text]
    return tuple(text for one in texts if (text := _MARKERS.sub("", one).strip("- \n")))


def _question_readings(before: Run, after: Run) -> Sequence[tuple[Stage, str, Reading]]:
    """Who made the stand-alone questions differ: of the same words, the rewrite; else two questions were planned."""
    writer = Stage.REWRITE if fold_text(before.question) == fold_text(after.question) else Stage.PLAN
    return ((writer, "stand-alone question", _standalone),)


def _draft_readings(before: Run, after: Run) -> Sequence[tuple[Stage, str, Reading]]:
    """Who made the sentences differ: where both drafts held the same ones, the self-check chose others of them."""
    same_draft = _draft(before.answer) == _draft(after.answer)
    writer = Stage.SELF_CHECK if same_draft else Stage.SYNTHESIZE
    return (
        (Stage.SYNTHESIZE, "support", lambda run: _support(run.answer.debug.support)),
        (Stage.SYNTHESIZE, "certainty", lambda run: _support(run.answer.debug.certainty)),
        (writer, "sentences", lambda run: "\n".join(sentences_of(run.answer))),
        (
            writer,
            "citations",
            lambda run: "\n".join(f"{one.source_path}: {one.snippet}" for one in run.answer.citations),
        ),
    )


def _draft(answer: Answer) -> frozenset[str]:
    """The sentences that were written: those that stand, and those that the self-check dropped."""
    report = answer.debug.self_check
    return frozenset([*sentences_of(answer), *(report.unsupported_claims if report else ())])


def _gate(run: Run) -> str:
    gate = run.answer.gate
    policies = sorted(one.cause.value for one in gate.downgrades if one.cause in _POLICIES)
    reads = "reads documents" if gate.directives.use_retrieval else "reads no documents"
    return f"{reads}; mode {gate.mode}, care {gate.care:g}; held back by {', '.join(policies) or 'nothing'}"


def _standalone(run: Run) -> str:
    return run.answer.debug.standalone_question or fold_text(run.question)


def _plan(run: Run) -> str:
    plan = run.answer.debug.plan
    if plan is None:
        return "no plan"
    parts = " | ".join(f"{part.text} {part.depends_on or ''}".strip() for part in plan.sub_questions)
    tools = ", ".join(f"{one.tool}({one.argument})" for one in plan.tools)
    return f"{plan.answer_type.value} by {plan.planner}: {parts}{f'; tools {tools}' if tools else ''}"


def _missing(*dependencies: Dependency) -> Reading:
    def reading(run: Run) -> str:
        return ", ".join(one.value for one in run.answer.degraded if one in dependencies) or "nothing"

    return reading


def _candidates(run: Run) -> str:
    return "\n".join(
        f"{place}. {one.title} [{one.chunk_id}] {one.score:.6f} {one.dropped_because or ''}".rstrip()
        for place, one in enumerate(run.answer.debug.candidates, 1)
    )


def _settings(run: Run) -> str:
    held: SearchSettings | None = run.answer.debug.search
    return "not kept" if held is None else str(held)


def _tools(run: Run) -> str:
    calls = [replace(one, seconds=NO_DURATION) for one in run.answer.debug.tool_calls]
    return "\n".join(f"{one.tool}({one.argument}) = {one.result or one.error_code}" for one in calls)


def _pages(run: Run) -> str:
    return "\n".join(f"{one.url}: {one.text}" for one in run.answer.debug.fetched)


def _support(found: Support | None) -> str:
    return "not weighed" if found is None else f"{found.score:.6f} of {found.threshold:.6f}"


def _self_check(run: Run) -> str:
    report = run.answer.debug.self_check
    if report is None:
        return "none"
    dropped = " | ".join(report.unsupported_claims) or "nothing"
    return (
        f"coverage {report.citation_coverage:.4f}; dropped {dropped}; {', '.join(report.guardrails) or 'no guardrail'}"
    )


def _ending(run: Run) -> str:
    abstention = run.answer.abstention
    return run.answer.outcome.value + (f", {abstention.reason.value}" if abstention else "")


def _outside(run: Run) -> str:
    gate = run.answer.gate
    return f"{gate.plan_type}, score {gate.score:.6f}"


_BEFORE_THE_DRAFT: Sequence[tuple[Stage, str, Reading]] = (
    (Stage.GATE, "leave", _gate),
    (Stage.PLAN, "plan", _plan),
    (Stage.REWRITE, "searches", lambda run: run.answer.debug.rewritten_query or ""),
    (Stage.HYDE, "hypothetical passage", lambda run: run.answer.debug.hyde_text or ""),
    (Stage.EMBED, "space", lambda run: run.versions.space or "none"),
    (Stage.EMBED, "missing", _missing(Dependency.EMBEDDER)),
    (Stage.RETRIEVE, "settings", _settings),
    (Stage.RETRIEVE, "missing", _missing(Dependency.GRAPH, Dependency.RERANKER)),
    (Stage.RETRIEVE, "candidates", _candidates),
    (Stage.TOOLS, "calls", _tools),
    (Stage.TOOLS, "pages", _pages),
)
_AFTER_THE_DRAFT: Sequence[tuple[Stage, str, Reading]] = (
    (Stage.SELF_CHECK, "report", _self_check),
    (Stage.SELF_CHECK, "outcome", _ending),
    (Stage.SEARCH, "decision", _outside),
)


def _shown(one: str, other: str) -> tuple[str, str]:
    """Both from the first line on in which they differ, cut to what a reader takes in."""
    lines = one.split("\n"), other.split("\n")
    same = next((at for at, pair in enumerate(zip(*lines, strict=False)) if pair[0] != pair[1]), min(map(len, lines)))
    return _cut(lines[0][same:]), _cut(lines[1][same:])


def _cut(lines: Iterable[str]) -> str:
    text = "\n".join(lines)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]} …"
