"""The time that a question needs, and how far what was found is of that time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

_AGES: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(rf"(?<![\w/.@-])(?:{words})(?![\w/-]|\.\w)", re.IGNORECASE), days)
    for words, days in (
        (r"breaking|right now|today'?s?|tonight|this morning", 1),
        (r"yesterday|this week(?:'s)?|last week(?:'s)?|news|headlines?", 7),
        (
            r"latest|newest|recent(?:ly)?|lately|up-to-date|current(?:ly)?|now|nowadays|these days|this month(?:'s)?|"
            r"last month(?:'s)?|at (?:present|this time|the moment(?! (?:of|when|that)\b))|"
            r"as (?:things|matters|it) stands?|for the time being",
            30,
        ),
        (r"this quarter|last quarter|upcoming|so far", 92),
        (r"this year(?:'s)?", 366),
    )
)
"""Days that an answer may be old, by the narrowest word that says so: the length of the period that the word names;
30 where it names none. A word inside an address or a name counts for nothing."""

_YEAR = re.compile(r"(?<![\w.,/-])(20\d\d)(?![\w/]|[.,]\d|-\d{3})")


@dataclass(frozen=True, slots=True)
class TimeNeed:
    """What an answer must not be older than. Both None: the question has no time."""

    days: int | None = None
    year: int | None = None
    """The newest year that the question names."""

    @property
    def exists(self) -> bool:
        """Whether the question needs a time at all."""
        return self.days is not None or self.year is not None


def find_time_need(question: str, wanted_days: int | None = None) -> TimeNeed:
    """The time that the words of a question ask for; `wanted_days` where they ask for none."""
    days = next((days for said, days in _AGES if said.search(question)), None)
    years = [int(year) for year in _YEAR.findall(question)]
    found = TimeNeed(days, max(years, default=None))
    return found if found.exists else TimeNeed(wanted_days)


def measure_freshness(need: TimeNeed, found: Sequence[date], today: date) -> float:
    """In [0, 1]: 1 where the question needs no time, or the newest text is of that time; with age it falls as
    days ÷ age, and is 0 for text from before the year that the question names, and where nothing was found.
    """
    if not need.exists:
        return 1.0
    if not found:
        return 0.0
    newest = max(found)
    if need.year is not None and newest.year < need.year <= today.year:
        return 0.0
    if need.days is None:
        return 1.0
    return min(1.0, need.days / max(1, (today - newest).days))
