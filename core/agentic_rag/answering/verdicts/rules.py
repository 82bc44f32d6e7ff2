"""Verdicts on yes/no questions and comparisons: a pure function of the question and one sentence for each side.

The draft searches the passages for such sentences. The self-check decides again from the cited sentences, so that no
verdict is written that does not follow from them.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.verdicts.both import parse_both_questions
from agentic_rag.answering.verdicts.dates import parse_date_questions
from agentic_rag.answering.verdicts.figures import parse_figure_questions
from agentic_rag.answering.verdicts.statements import DecidableQuestion, QuotedSentence, SideFact
from agentic_rag.answering.verdicts.yes_no import parse_propositions


def parse_decidable(question: str) -> tuple[DecidableQuestion, ...]:
    """The readings of a question that a rule can decide, likeliest first; none when no rule can read it."""
    for rule in (parse_date_questions, parse_figure_questions, parse_both_questions, parse_propositions):
        found = rule(question)
        if found:
            return found
    return ()


def follows(verdict: str, question: str, sources: Sequence[QuotedSentence]) -> bool:
    """True when the sources, one for each side in order, prove the verdict on the question."""
    for asked in parse_decidable(question):
        if asked.sides == len(sources):
            stated = [asked.read_side(side, source) for side, source in enumerate(sources)]
            known: list[SideFact] = [one for one in stated if one is not None]
            if len(known) == asked.sides and asked.verdict(known) == verdict:
                return True
    return False
