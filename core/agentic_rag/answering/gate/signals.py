"""The signals of the gate, each in [0, 1]. `docs/gate.md` has the formulas; they are the functions of this file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.answer import Outcome, Support
from agentic_rag.answering.evidence.answerability import values_by_name
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.gate.intent import AskedIntent, Intent
from agentic_rag.answering.gate_decision import INTENT
from agentic_rag.answering.query.pleasantry import is_pleasantry
from agentic_rag.answering.question import Turn
from agentic_rag.retrieval.candidates import SCORE_DIGITS
from agentic_rag.retrieval.confidence import RankingConfidence

_WEB = re.compile(
    r"\b(?:on|from|search) the (?:web|internet)\b|\bsearch online\b|\bgoogle\b|https?://\S+", re.IGNORECASE
)
_FRESH = re.compile(r"\b(?:latest|breaking|today'?s|current|up-to-date|newest|this week'?s)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")

RECENT_TURNS = 3
"""The last turns that a follow-up may lean on; older ones are seldom meant."""
TURN_CHARACTERS = 2000
"""Of a turn, looked through: an answer by rules is shorter."""
HITS_WANTED = 3
"""As `answerability.LEADING_PASSAGES`: as many passages as an answer rests on at most."""
HIT_SCORE = 0.3
"""The fused score from which a passage counts as found. Set by hand, not measured."""


@dataclass(frozen=True, slots=True)
class QuestionSigns:
    """What the question says by itself, before anything is read."""

    chit_chat: float
    calculation: float
    no_content: float
    corpus_empty: float
    wants_web: float
    recent_turns: float
    """The share of the question's terms with which a word of the recent turns begins."""
    intent: AskedIntent


@dataclass(frozen=True, slots=True)
class ProbeSigns:
    """What the run's own retrieval, and the answer made of it, say of the corpus."""

    hit_rate: float = 0.0
    margin: float = 0.0
    coverage: float = 0.0
    freshness: float = 0.0
    sufficiency: float = 0.0
    support: float = 0.0
    """As in `evidence.answerability`, whatever the threshold; 0 where nothing was weighed."""
    certainty: float = 0.0
    """As in `evidence.certainty`; 0 where no sentence was weighed."""


_NO_INTENT = {f"{INTENT}{one.value}": 0.0 for one in Intent}
NOTHING_FOUND = ProbeSigns()
"""Of a run that reads nothing: nothing speaks for the corpus."""


@dataclass(frozen=True, slots=True)
class OutsideSigns:
    """What the decision depends on beside the question and the corpus."""

    policy: float = 0.0
    """As `WebPolicy.level`."""
    budget_left: float = 1.0
    """The share of the envelope for looking outside that is left; 1 without one."""
    profile: float = 0.0
    """How much the workspace's profile prefers what is new over what it has: its preference times what is missing of
    `ProbeSigns.freshness`.
    """


def read_question(
    question: str, history: Sequence[Turn], intent: AskedIntent, *, follows_up: bool, calculation: bool, empty: bool
) -> QuestionSigns:
    """The signs of a stand-alone question (folded). `follows_up`: as asked, it needs the conversation."""
    terms = frozenset(terms_of(question))
    wants_web = _WEB.search(question) is not None
    wants_outside = wants_web or _FRESH.search(question) is not None
    return QuestionSigns(
        chit_chat=float(is_pleasantry(question) and not wants_web),
        calculation=float(calculation),
        no_content=float(not terms and not follows_up and not wants_outside),
        corpus_empty=float(empty),
        wants_web=float(wants_web),
        recent_turns=_share_in_turns(terms, history),
        intent=intent,
    )


def measure_hits(scores: Sequence[float]) -> float:
    """The share of the `HITS_WANTED` first passages with a score of at least `HIT_SCORE`. `scores`: best first."""
    return _rounded(sum(score >= HIT_SCORE for score in scores[:HITS_WANTED]) / HITS_WANTED)


def measure_margin(searched: Sequence[RankingConfidence]) -> float:
    """The least margin of the searches: a question is as clear as its least clear part."""
    return _rounded(min((one.margin for one in searched), default=0.0))


def measure_coverage(support: Support | None) -> float:
    """The share of the question's terms in the best passage, times the share of its names in the first ones."""
    if support is None:
        return 0.0
    signs = {one.name: one.value for one in support.contributions}
    return _rounded(signs.get("covered", 0.0) * (1.0 - max(signs.get("unnamed", 0.0), signs.get("unheld", 0.0))))


def measure_sufficiency(outcome: Outcome, support: Support | None, certainty: Support | None, missing: int) -> float:
    """How far the corpus answers: 0 for an abstention; else the lesser of support and certainty, each with its
    threshold at ½, not above ½ where the answer is uncertain, divided by one more than the parts without an answer.
    """
    if outcome is Outcome.ABSTAINED:
        return 0.0
    least = min((_above_threshold(one) for one in (support, certainty) if one is not None), default=1.0)
    if outcome is Outcome.UNCERTAIN:
        least = min(least, 0.5)
    return _rounded(least / (1 + missing))


def features_of(question: QuestionSigns, probe: ProbeSigns | None, around: OutsideSigns) -> dict[str, float]:
    """All signals by name, in the order in which they are shown. Without a probe its signals are left out."""
    asked = question.intent
    found = {} if probe is None else values_by_name(probe)
    return {
        "base": 1.0,
        "chit_chat": question.chit_chat,
        "calculation": question.calculation,
        "no_content": question.no_content,
        "corpus_empty": question.corpus_empty,
        "wants_web": question.wants_web,
        "recent_turns": question.recent_turns,
        **_NO_INTENT,
        f"{INTENT}{asked.intent.value}": asked.confidence,
        **found,
        **values_by_name(around),
    }


def _share_in_turns(terms: frozenset[str], history: Sequence[Turn]) -> float:
    if not terms or not history:
        return 0.0
    said = (f"{turn.question} {turn.answer}"[:TURN_CHARACTERS].lower() for turn in history[-RECENT_TURNS:])
    words = " " + " ".join(word for text in said for word in _WORD.findall(text))
    return _rounded(sum(f" {term}" in words for term in terms) / len(terms))


def _above_threshold(support: Support) -> float:
    """The score on a scale with the threshold at ½."""
    score, line = support.score, support.threshold
    if score < line:
        return 0.5 * score / line
    return 1.0 if line >= 1.0 else 0.5 + 0.5 * (score - line) / (1.0 - line)


def _rounded(value: float) -> float:
    return round(min(1.0, max(0.0, value)), SCORE_DIGITS)
