"""What servers ask for in `Retry-After` is honoured within a bound, and never raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.web.retry_after import LONGEST, stated_wait

AT = "Sat, 28 Nov 2026 18:00:00 GMT"


@pytest.mark.parametrize(
    ("retry_after", "answered_at", "seconds"),
    [
        ("120", "", 120.0),
        ("0", AT, 0.0),
        ("9" * 400, AT, LONGEST),
        ("Sat, 28 Nov 2026 18:02:00 GMT", AT, 120.0),
        ("Saturday, 28-Nov-26 18:02:00 GMT", AT, 120.0),
        ("Sat, 28 Nov 2026 17:00:00 GMT", AT, 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", AT, LONGEST),
        ("Sat, 28 Nov 2026 18:02:00 GMT", "", None),
        ("soon", AT, None),
        ("-1", AT, None),
        ("", AT, None),
    ],
)
def test_seconds_and_dates_are_read(retry_after: str, answered_at: str, seconds: float | None) -> None:
    assert stated_wait(retry_after, answered_at) == seconds


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,4} [A-Z][a-z]{2} \d{1,6} \d{1,4}:\d{1,3}:\d{1,3} \S{0,6}"))
def test_no_value_raises_or_passes_the_bound(value: str) -> None:
    for wait in (stated_wait(value, AT), stated_wait(AT, value), stated_wait(value, value)):
        assert wait is None or 0 <= wait <= LONGEST
