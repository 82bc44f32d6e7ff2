"""What follows on yes/no questions and comparisons from the sentences cited.

A verdict is a pure function of the question and of one sentence for each side. The draft looks for sentences that give
one; the self-check works it out again from what is cited, so that none is written that does not follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.verdicts.both import parse_both_questions
from agentic_rag.answering.verdicts.dates import parse_date_questions
from agentic_rag.answering.verdicts.figures import parse_figure_questions
from agentic_rag.answering.verdicts.statements import DecidableQuestion, QuotedSentence, SideFact
from agentic_rag.answering.verdicts.yes_no import parse_propositions


def parse_decidable(question: str) -> tuple[DecidableQuestion, ...]:
    """What the question may ask that a rule decides, likeliest first; none when no rule reads it."""
    for rule in (parse_date_questions, parse_figure_questions, parse_both_questions, parse_propositions):
        found = rule(question)
        if found:
            return found
    return ()


def follows(verdict: str, question: str, sources: Sequence[QuotedSentence]) -> bool:
    """True when the verdict is what the sources, one for each side in order, say on the question."""
    for asked in parse_decidable(question):
        if asked.sides == len(sources):
            stated = [asked.read_side(side, source) for side, source in enumerate(sources)]
            known: list[SideFact] = [one for one in stated if one is not None]
            if len(known) == asked.sides and asked.verdict(known) == verdict:
                return True
    return False
