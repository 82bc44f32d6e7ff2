"""How long a server asks to be left alone."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

LONGEST = 86_400.0
"""Seconds; whoever asks for more is asked again after a day at the soonest."""


def stated_wait(retry_after: str, answered_at: str) -> float | None:
    """Seconds, from 0 to `LONGEST`, that a `Retry-After` of seconds or of a date states (RFC 9110, 10.2.3). A date is
    relative to `answered_at`, the response's own `Date`, so that no clock is needed. None without a valid value.
    """
    if retry_after.isascii() and retry_after.isdigit():
        return min(LONGEST, float(retry_after))
    try:
        wait = parsedate_to_datetime(retry_after) - parsedate_to_datetime(answered_at)
    except (ValueError, TypeError, OverflowError):
        return None
    return min(LONGEST, max(0.0, wait.total_seconds()))
