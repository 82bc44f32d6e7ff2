"""Stored decisions of which it is known what a search was worth: cases to learn the gate's weights from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from agentic_rag.answering.feedback.feedback import Feedback, by_run, satisfaction_of
from agentic_rag.answering.gate.stored_decision import StoredDecision
from agentic_rag.answering.gate.windows import OUTSIDE_PLANS

_CONTENT = 0.5
"""Satisfaction above which a caller was content."""


@dataclass(frozen=True, slots=True)
class CapturedCase:
    """A decision with what came of it."""

    run_id: UUID
    at: datetime
    signals: Mapping[str, float]
    answered: bool
    """The documents alone answered."""
    answered_outside: bool
    """They did, or a search did."""


def captured_cases(
    decisions: Sequence[StoredDecision], feedback: Iterable[Feedback], names: Collection[str]
) -> list[CapturedCase]:
    """In the order of the decisions. Left out are decisions with other signals than `names`, and those of which nobody
    knows: a run that read the documents alone says nothing of a search, unless its caller was content.
    """
    return list(_captured(decisions, by_run(feedback), frozenset(names)))


def _captured(
    decisions: Sequence[StoredDecision], said: Mapping[UUID, Sequence[Feedback]], names: frozenset[str]
) -> Iterator[CapturedCase]:
    for one in decisions:
        signals = {signal.name: signal.value for signal in one.contributions}
        outcome = _outcome(one, satisfaction_of(said.get(one.run_id, ())))
        if signals.keys() == names and outcome is not None:
            yield CapturedCase(one.run_id, one.decided_at, MappingProxyType(signals), *outcome)


def _outcome(one: StoredDecision, satisfaction: float | None) -> tuple[bool, bool] | None:
    """Whether the documents alone answered, and whether a search did; None where that is not known."""
    is_content = satisfaction is not None and satisfaction > _CONTENT
    if one.plan_type not in OUTSIDE_PLANS:
        return (True, True) if is_content else None
    if one.gained is None:
        return None
    if one.gained:
        helped = satisfaction is None or is_content
        return (False, helped)
    # The search brought nothing that is cited: the documents answered as well as they could.
    return (is_content, is_content)
