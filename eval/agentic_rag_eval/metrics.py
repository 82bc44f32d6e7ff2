"""Scores of single answers and their summary over a dataset. Pure functions."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from agentic_rag_eval.records import AskRecord, EmbeddingUsage, EvalQuestion, RetrievedSpan
from agentic_rag_eval.resampling import Interval, interval_of

ABSTAINED = "ABSTAINED"
LIST = "list"
_SPACE = re.compile(r"\s+")


DEPTHS = (5, 10)
"""Ranking depths, in addition to the number of passages of an answer (K)."""

HIGHER_IS_WORSE = frozenset({"false_abstention"})
"""Figures where lower is better; for all others higher is better."""


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one answer. A figure that does not apply (recall of an unanswerable question) is left out.

    - `hit_rate`: a gold document is among the cited ones; `recall@N`, `all_gold@N` (N: 5, 10, K), `ndcg@10`, `mrr`: of
      the first retrieved documents, each counted once;
    - `span@N`: one of the first N retrieved chunks contains a whole gold span;
    - `answer_contained`: a gold answer string is in the answer as whole words; of a list, every one does;
      `exact_match`, `f1`: as SQuAD defines them (Rajpurkar et al., 2016);
    - `citation_coverage`: share of sentences with a citation; `citation_validity`: share of citations whose quote is
      the stored text, where it was looked up;
    - `abstention_recall`: an unanswerable question was abstained on; `abstention_precision`: an abstention was right;
      `false_abstention`: an answerable one was abstained on.
    """

    question: EvalQuestion
    record: AskRecord
    abstained: bool
    figures: Mapping[str, float]

    @property
    def right(self) -> bool:
        """Whether the answer contains a gold answer (cites a gold document where no gold answer is known), or abstains
        on an unanswerable question.
        """
        if not self.question.answerable:
            return self.abstained
        judged = "answer_contained" if self.question.answers else "hit_rate"
        return not self.abstained and self.figures[judged] > 0


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over a dataset with their intervals; figures that no question has are left out. Latency in seconds."""

    questions: int
    k: int
    figures: Mapping[str, Interval]
    by_type: Mapping[str, Mapping[str, Interval]]
    latency: Mapping[str, tuple[float, float]]
    """p50 and p95 by stage; `total` is the whole answer."""
    usage: EmbeddingUsage | None
    """The usage of all questions together; None when it is unknown for any of them."""


def normalise(text: str) -> str:
    """NFKC, case folded, white space folded: the form in which answers are compared."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text)).strip().casefold()


def score(question: EvalQuestion, record: AskRecord, k: int) -> Score:
    """Score one answer."""
    abstained = record.outcome == ABSTAINED
    figures: dict[str, float] = {}
    if question.gold_ids:
        figures |= _ranking_figures(question, record, k)
    if question.gold_spans and record.spans is not None:
        figures |= {f"span@{depth}": _span_at(question, record.spans[:depth]) for depth in _depths(k)}
    if question.answers:
        figures["answer_contained"] = float(holds_answer(question, record.answer))
        figures["exact_match"] = exact_match(record.answer, question.answers)
        figures["f1"] = token_f1(record.answer, question.answers)
    if not abstained and (question.gold_ids or record.citations):
        figures["citation_coverage"] = record.citation_coverage
    looked_up = [float(citation.is_stored) for citation in record.citations if citation.is_stored is not None]
    if not abstained and looked_up:
        figures["citation_validity"] = fmean(looked_up)
    if abstained:
        figures["abstention_precision"] = float(not question.answerable)
    figures["false_abstention" if question.answerable else "abstention_recall"] = float(abstained)
    return Score(question, record, abstained, figures)


def _ranking_figures(question: EvalQuestion, record: AskRecord, k: int) -> dict[str, float]:
    gold, retrieved = question.gold_ids, record.retrieved
    depths = _depths(k)
    return {
        "hit_rate": float(any(citation.source_path in gold for citation in record.citations)),
        **{f"recall@{depth}": recall_at(retrieved, gold, depth) for depth in depths},
        **{f"all_gold@{depth}": all_gold_at(retrieved, gold, depth) for depth in depths},
        "ndcg@10": ndcg_at(retrieved, gold, 10),
        "mrr": reciprocal_rank(retrieved, gold),
    }


def _depths(k: int) -> list[int]:
    return sorted({*DEPTHS, k})


def _span_at(question: EvalQuestion, spans: Sequence[RetrievedSpan | None]) -> float:
    return float(
        any(
            one is not None and one.source_path in question.gold_ids and one.start <= start and end <= one.end
            for one in spans
            for start, end in question.gold_spans
        )
    )


def holds_answer(question: EvalQuestion, text: str) -> bool:
    """Whether the text contains a gold answer as whole words; of a list, every one."""
    said = normalise(text)
    found = [
        re.search(rf"(?<!\w){re.escape(normalise(wanted))}(?!\w)", said) is not None for wanted in question.answers
    ]
    return all(found) if question.kind == LIST else any(found)


def summarise(scores: Sequence[Score], k: int) -> Summary:
    """Summarise single scores into the figures of a report."""
    kinds = sorted({one.question.kind for one in scores})
    return Summary(
        questions=len(scores),
        k=k,
        figures=_intervals(scores),
        by_type={kind: _intervals([one for one in scores if one.question.kind == kind]) for kind in kinds},
        latency=_latency(scores),
        usage=_usage([one.record.usage for one in scores]),
    )


def _usage(given: Sequence[EmbeddingUsage | None]) -> EmbeddingUsage | None:
    known = [one for one in given if one is not None]
    if len(known) < len(given) or not known:
        return None
    prices = [one.usd for one in known if one.usd is not None]
    return EmbeddingUsage(sum(one.tokens for one in known), sum(prices) if len(prices) == len(known) else None)


def _intervals(scores: Sequence[Score]) -> dict[str, Interval]:
    values: dict[str, list[float]] = {}
    for one in scores:
        for name, value in one.figures.items():
            values.setdefault(name, []).append(value)
    intervals = ((name, interval_of(found)) for name, found in values.items())
    return {name: interval for name, interval in intervals if interval is not None}


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


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NOT_WORD = re.compile(r"[^\w\s]")


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 when the answer is one of the gold answers, ignoring case, punctuation and articles."""
    words = _words(answer)
    return float(any(words == _words(one) for one in gold))


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """The best harmonic mean of precision and recall over the answer's words and those of a gold answer."""
    words = _words(answer)
    return max((_f1(words, _words(one)) for one in gold), default=0.0)


def _f1(answer: list[str], gold: list[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    shared = sum((Counter(answer) & Counter(gold)).values())
    return 2 * shared / (len(answer) + len(gold))


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _ARTICLES.sub(" ", _NOT_WORD.sub("", folded)).split()


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the gold documents among the first k. Errors: `ValueError` without gold."""
    return len(_gold_in_top(ranked, gold, k)) / len(set(gold))


def all_gold_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 when every gold document is among the first k, as a multi-hop answer needs; else 0. Errors: as `recall_at`."""
    return float(recall_at(ranked, gold, k) == 1.0)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """One over the rank of the first gold document, 0 when there is none."""
    wanted = set(gold)
    return next((1.0 / rank for rank, one in enumerate(ranked, 1) if one in wanted), 0.0)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain at k (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR
    techniques", 2002), with gains of 1 and the discount log2(rank + 1). Errors: as `recall_at`.
    """
    found = _gold_in_top(ranked, gold, k)
    gain = sum(1.0 / math.log2(rank + 1) for rank, one in enumerate(ranked[:k], 1) if one in found)
    best = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
    return gain / best


def _gold_in_top(ranked: Sequence[str], gold: Collection[str], k: int) -> set[str]:
    """Gold among the first k. The caller removes duplicates: a repeated document would count twice."""
    if not gold:
        raise ValueError("a ranking without gold documents has no such figure")
    first = ranked[:k]
    if len(set(first)) != len(first):
        raise ValueError("a ranking names a document twice")
    return set(gold) & set(first)
