"""When a source is looked at again: by its schedule, and ever more rarely while it fails."""

from __future__ import annotations

from datetime import datetime, timedelta

BREAKS_AFTER = 3
"""Failures in a row after which the schedule is no longer kept."""

LONGEST_PAUSE = timedelta(hours=6)


def is_open(failures: int) -> bool:
    """Whether a source failed so often that it is left in peace."""
    return failures >= BREAKS_AFTER


def next_look(every_seconds: int, failures: int, now: datetime) -> datetime | None:
    """When the schedule looks next; None for a source without one. A longer schedule than the longest pause is kept."""
    if not every_seconds:
        return None
    pause = timedelta(seconds=every_seconds)
    if is_open(failures):
        doubled = pause * 2 ** min(failures - BREAKS_AFTER + 1, 30)
        pause = max(pause, min(doubled, LONGEST_PAUSE))
    return now + pause
