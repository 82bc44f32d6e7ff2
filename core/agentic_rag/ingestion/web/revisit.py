"""When a page that the web brought is asked for again: the more often it was found changed, the sooner."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from agentic_rag.web.page_paths import FETCHED_AT

EVERY_HOURS = "recrawl_every_hours"
"""The provenance entry with the hours between two looks at a page, as its changes made them."""
ASKED_AT = "recrawl_asked_at"
"""The provenance entry with the time of the last look that brought no page."""
FAILURES = "recrawl_failures"
GONE_LOOKS = "recrawl_gone_looks"

LEAST = timedelta(hours=1)
SPAN = 8
"""A page that always changes is asked for so many times as often as one that never does."""
SOONER, LATER = 0.5, 1.5
"""Factors of the time between two looks, after a change and after none."""
LONGEST = timedelta(days=30)
"""Between two looks at a page that fails."""
LOOKS_UNTIL_GONE = 2
"""Looks in a row that have to find a page gone: a server that is being changed says so for a moment."""


class Look(enum.Enum):
    """What asking for a page again brought."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    FAILED = "failed"
    """No page, and nobody knows whether there is one."""
    GONE = "gone"
    """The server says that there is no such page."""


@dataclass(frozen=True, slots=True)
class Revisit:
    """How often a page was asked for, and with what success."""

    fetched_at: datetime
    every: timedelta | None = None
    """None: it was not asked for again yet."""
    asked_at: datetime | None = None
    failures: int = 0
    """Looks in a row that failed."""
    gone_looks: int = 0
    """Looks in a row that found it gone."""

    def due_at(self, longest: timedelta) -> datetime:
        """When it is asked for next, where pages are asked for after `longest` at the latest."""
        between = self._between(longest)
        if self.asked_at is None:
            return self.fetched_at + between
        if self.gone_looks:
            return self.asked_at + _least(longest)
        return self.asked_at + min(LONGEST, between * 2.0 ** min(self.failures, 16))

    def after(self, look: Look, longest: timedelta, now: datetime) -> Mapping[str, str]:
        """The provenance entries after a look."""
        if look is Look.FAILED:
            return _entries(self.every, now, self.failures + 1, 0)
        if look is Look.GONE:
            return _entries(self.every, now, 0, self.gone_looks + 1)
        factor = SOONER if look is Look.CHANGED else LATER
        every = min(longest, max(_least(longest), self._between(longest) * factor))
        return _entries(every, None, 0, 0)

    def is_gone_after(self, look: Look) -> bool:
        """Whether the page counts as gone with this look."""
        return look is Look.GONE and self.gone_looks + 1 >= LOOKS_UNTIL_GONE

    def _between(self, longest: timedelta) -> timedelta:
        return min(longest, max(_least(longest), self.every or longest))


def read_revisit(provenance: Mapping[str, str]) -> Revisit | None:
    """What the provenance of a document says; None of one that says not when it was fetched. What failed before the
    page was fetched is forgotten.
    """
    if not (fetched := provenance.get(FETCHED_AT)):
        return None
    fetched_at = datetime.fromisoformat(fetched)
    hours = provenance.get(EVERY_HOURS)
    every = timedelta(hours=float(hours)) if hours else None
    asked = provenance.get(ASKED_AT)
    if not asked or (asked_at := datetime.fromisoformat(asked)) < fetched_at:
        return Revisit(fetched_at, every)
    failures, gone = int(provenance.get(FAILURES) or 0), int(provenance.get(GONE_LOOKS) or 0)
    return Revisit(fetched_at, every, asked_at, failures, gone)


def _least(longest: timedelta) -> timedelta:
    return min(longest, max(LEAST, longest / SPAN))


def _entries(every: timedelta | None, asked_at: datetime | None, failures: int, gone_looks: int) -> dict[str, str]:
    return {
        EVERY_HOURS: "" if every is None else f"{every.total_seconds() / 3600:g}",
        ASKED_AT: "" if asked_at is None else asked_at.isoformat(),
        FAILURES: str(failures),
        GONE_LOOKS: str(gone_looks),
    }
