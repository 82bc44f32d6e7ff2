"""What a model that reads units of text beside a question is given, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlacedUnit:
    """The text of a unit with the title and the headings that it stands under, outermost first."""

    text: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """`scores` say of each unit how well it answers, in [-1, 1]; they compare the units of one question. `answered` is
    the probability that one of them answers at all, in [0, 1]; it compares questions.
    """

    scores: tuple[float, ...]
    answered: float
