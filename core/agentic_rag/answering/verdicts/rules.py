"""What follows on yes/no questions and comparisons from the sentences cited.

A verdict is a pure function of the question and of one sentence for each side. The draft looks for sentences that give
one; the self-check works it out again from what is cited, so that none is written that does not follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.verdicts.both import shared_questions
from agentic_rag.answering.verdicts.dates import date_questions
from agentic_rag.answering.verdicts.figures import figure_questions
from agentic_rag.answering.verdicts.statements import Decidable, Source, Stated
from agentic_rag.answering.verdicts.yes_no import propositions


def decidable(question: str) -> tuple[Decidable, ...]:
    """What the question may ask that a rule decides, likeliest first; none when no rule reads it."""
    for rule in (date_questions, figure_questions, shared_questions, propositions):
        found = rule(question)
        if found:
            return found
    return ()


def follows(verdict: str, question: str, sources: Sequence[Source]) -> bool:
    """True when the verdict is what the sources, one for each side in order, say on the question."""
    for asked in decidable(question):
        if asked.sides == len(sources):
            stated = [asked.stated(side, source) for side, source in enumerate(sources)]
            known: list[Stated] = [one for one in stated if one is not None]
            if len(known) == asked.sides and asked.verdict(known) == verdict:
                return True
    return False
