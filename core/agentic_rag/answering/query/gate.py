"""The gate decides whether a run may retrieve, from signals of the question and versioned weights.

The score is a linear sum; thresholds split it into skip, retrieve, search and full loop. Weights and thresholds are set
by hand (`gate-heuristic-1`); a learned set may replace them under another version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agentic_rag.answering.gate_decision import Directives, Downgrade, FeatureContribution, GateDecision

_PLEASANTRY = (
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|thanks?(?: you)?(?: (?:so|very) much)?|thx|cheers|bye|"
    r"goodbye|ok(?:ay)?|great|nice|cool|how are you(?: (?:doing|today))*|who are you|what can you do|tell me a joke)"
)
_GREETING = re.compile(
    rf"^{_PLEASANTRY}(?:[ ,!.?]+(?:{_PLEASANTRY}|there|all|everyone|again|you|for .{{0,30}}))*[ !.?]*$", re.IGNORECASE
)
_QUESTION_FORM = re.compile(
    r"^(?:who|whom|whose|what|when|where|why|which|how|is|are|was|were|do|does|did|can|could|should|must|may|will|would|"
    r"has|have|had|name|list|explain|describe|show|find|give|tell|summari[sz]e|compare|define|calculate)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,;:)] )[A-Z][\w'’-]+(?: [A-Z0-9][\w'’-]*)*|\b[A-Z]{1,6}-?\d{1,8}\b|\b[A-Z]{2,}\b")
_WEB = re.compile(
    r"\b(?:on|from|search) the (?:web|internet)\b|\bsearch online\b|\bgoogle\b|https?://\S+", re.IGNORECASE
)
_FRESH = re.compile(r"\b(?:latest|breaking|today'?s|current|up-to-date|newest|this week'?s)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GateSignals:
    """The inputs of the gate. Counts are of the stand-alone question."""

    content_terms: int
    entities: int
    question_form: bool
    refers_to_history: bool
    chit_chat: bool
    calculation: bool
    corpus_empty: bool
    wants_recent: bool
    wants_web: bool


@dataclass(frozen=True, slots=True)
class GateWeights:
    """A versioned set of weights by feature name, and the thresholds by plan type, in rising order."""

    version: str
    weights: Mapping[str, float]
    thresholds: Mapping[str, float]


HEURISTIC_WEIGHTS = GateWeights(
    version="gate-heuristic-1",
    weights=MappingProxyType(
        {
            "content_terms": 0.6,
            "entities": 0.3,
            "question_form": 0.3,
            "refers_to_history": 0.2,
            "no_content": -1.0,
            "chit_chat": -2.0,
            "calculation": -3.0,
            "corpus_empty": -5.0,
            "wants_fresh": 1.2,
            "wants_web": 1.5,
        }
    ),
    thresholds=MappingProxyType({"retrieve": 0.1, "search": 2.0, "full_loop": 3.5}),
)
"""Retrieval is cheap and an unanswered question is not, so only clear reasons push the score below its threshold.
Search needs a well-formed question that wants something newer than the corpus."""

TERMS_FOR_FULL_SIGNAL = 6
ENTITIES_FOR_FULL_SIGNAL = 2


def extract_signals(
    question: str, *, content_terms: int, follows_up: bool, calculation: bool, corpus_empty: bool
) -> GateSignals:
    """The signals of a stand-alone question (folded). `content_terms` is the tokenizer's count; `follows_up` is true
    when the question as asked needs the conversation.
    """
    return GateSignals(
        content_terms=content_terms,
        entities=sum(1 for _ in _NAME.finditer(question)),
        question_form=question.endswith(("?", "？")) or _QUESTION_FORM.match(question) is not None,
        refers_to_history=follows_up,
        chit_chat=is_pleasantry(question),
        calculation=calculation,
        corpus_empty=corpus_empty,
        wants_recent=_FRESH.search(question) is not None,
        wants_web=_WEB.search(question) is not None,
    )


def is_pleasantry(question: str) -> bool:
    """True for a greeting, thanks and the like."""
    return _GREETING.match(question) is not None


def decide(signals: GateSignals, weights: GateWeights = HEURISTIC_WEIGHTS) -> GateDecision:
    """The decision with its justification. Search and crawl are not part of this release: a score that asks for them is
    downgraded to retrieval, with the reason.
    """
    contributions = tuple(
        FeatureContribution(name, value, weights.weights[name], round(value * weights.weights[name], 6))
        for name, value in _features(signals)
    )
    score = round(sum(one.contribution for one in contributions), 6)
    wanted = "skip"
    for plan_type, threshold in weights.thresholds.items():
        if score >= threshold:
            wanted = plan_type
    downgrades: tuple[Downgrade, ...] = ()
    allowed = wanted
    if wanted in ("search", "full_loop"):
        allowed = "retrieve"
        downgrades = (Downgrade(wanted, allowed, "web search and crawling are switched off"),)
    return GateDecision(
        directives=Directives(use_retrieval=allowed != "skip"),
        plan_type=allowed,
        score=score,
        thresholds=weights.thresholds,
        contributions=contributions,
        downgrades=downgrades,
        weights_version=weights.version,
        mode="on",
    )


def _features(signals: GateSignals) -> list[tuple[str, float]]:
    return [
        ("content_terms", round(min(1.0, signals.content_terms / TERMS_FOR_FULL_SIGNAL), 6)),
        ("entities", round(min(1.0, signals.entities / ENTITIES_FOR_FULL_SIGNAL), 6)),
        ("question_form", float(signals.question_form)),
        ("refers_to_history", float(signals.refers_to_history)),
        ("no_content", float(signals.content_terms == 0 and not signals.refers_to_history)),
        ("chit_chat", float(signals.chit_chat)),
        ("calculation", float(signals.calculation)),
        ("corpus_empty", float(signals.corpus_empty)),
        ("wants_fresh", float(signals.wants_recent)),
        ("wants_web", float(signals.wants_web)),
    ]
