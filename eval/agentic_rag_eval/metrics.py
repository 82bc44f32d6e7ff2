"""Scores of single answers and their summary over a dataset. Pure functions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from agentic_rag_eval.records import AskRecord, EvalQuestion

ABSTAINED = "ABSTAINED"
LIST = "list"
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Score:
    """How one answer did. Figures that a question does not have (recall of an unanswerable one) are None."""

    question: EvalQuestion
    record: AskRecord
    hit: bool | None
    """A gold document is among the cited ones."""
    recall: float | None
    """Share of the gold documents among the first k distinct retrieved ones."""
    contains_answer: bool | None
    """A gold answer string stands in the answer as whole words; for a list, every one does."""
    abstained: bool

    @property
    def right(self) -> bool:
        """Answered with a gold answer, or abstained where nothing could be answered."""
        return self.abstained if not self.question.answerable else bool(self.contains_answer) and not self.abstained


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures over a dataset, shares in [0, 1], seconds. None where no question counts towards a figure."""

    questions: int
    hit_rate: float | None
    recall_at_k: float | None
    k: int
    answer_containment: float | None
    citation_coverage: float | None
    citation_validity: float | None
    abstention_recall: float | None
    """Share of the unanswerable questions that were abstained on."""
    abstention_precision: float | None
    """Share of the abstentions that were right."""
    false_abstention: float | None
    """Share of the answerable questions that were abstained on."""
    latency: Mapping[str, tuple[float, float]]
    """p50 and p95 by stage; `total` is the whole answer."""


def normalise(text: str) -> str:
    """NFKC, case folded, white space folded: how answers are compared."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip().casefold()


def score(question: EvalQuestion, record: AskRecord, k: int) -> Score:
    """Judge one answer."""
    gold = set(question.gold_ids)
    abstained = record.outcome == ABSTAINED
    answer = normalise(record.answer)
    return Score(
        question=question,
        record=record,
        hit=bool(gold & {citation.source_path for citation in record.citations}) if gold else None,
        recall=len(gold & set(record.retrieved[:k])) / len(gold) if gold else None,
        contains_answer=_contains(question, answer) if question.answers else None,
        abstained=abstained,
    )


def _contains(question: EvalQuestion, answer: str) -> bool:
    found = [
        re.search(rf"(?<!\w){re.escape(normalise(wanted))}(?!\w)", answer) is not None for wanted in question.answers
    ]
    return all(found) if question.kind == LIST else any(found)


def summarise(scores: Sequence[Score], k: int) -> Summary:
    """Fold single scores into the figures of a report."""
    answered = [s for s in scores if not s.abstained]
    citations = [citation for s in answered for citation in s.record.citations]
    cited_answers = [s for s in answered if s.question.gold_ids or s.record.citations]
    return Summary(
        questions=len(scores),
        hit_rate=_mean([float(s.hit) for s in scores if s.hit is not None]),
        recall_at_k=_mean([s.recall for s in scores if s.recall is not None]),
        k=k,
        answer_containment=_mean([float(s.contains_answer) for s in scores if s.contains_answer is not None]),
        citation_coverage=_mean([s.record.citation_coverage for s in cited_answers]),
        citation_validity=_mean([float(citation.verified) for citation in citations]),
        abstention_recall=_mean([float(s.abstained) for s in scores if not s.question.answerable]),
        abstention_precision=_mean([float(not s.question.answerable) for s in scores if s.abstained]),
        false_abstention=_mean([float(s.abstained) for s in scores if s.question.answerable]),
        latency=_latency(scores),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The value at `share` of the sorted values, nearest rank (at least one value)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 100) * len(ordered) // 100) - 1))]


def _latency(scores: Sequence[Score]) -> dict[str, tuple[float, float]]:
    samples: dict[str, list[float]] = {}
    for one in scores:
        samples.setdefault("total", []).append(one.record.seconds)
        for stage, seconds in one.record.stage_seconds.items():
            samples.setdefault(stage, []).append(seconds)
    return {stage: (percentile(values, 0.5), percentile(values, 0.95)) for stage, values in samples.items()}


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
