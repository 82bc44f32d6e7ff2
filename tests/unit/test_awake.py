"""What counts as the time that something took on a machine that does other work."""

from __future__ import annotations

import time

import pytest
from tests import awake
from tests.awake import Awake


def test_what_waits_by_itself_is_awake() -> None:
    with Awake.measured() as waited:
        time.sleep(0.05)

    assert waited.seconds >= 0.05 - 0.005


def test_what_works_is_awake() -> None:
    with Awake.measured() as worked:
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass

    assert worked.seconds >= 0.05 - 0.005


def test_who_is_kept_from_the_processors_is_not_awake(monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([1.0, 1.25])
    monkeypatch.setattr(awake, "_kept_from_processors", lambda: next(told))
    with Awake.measured() as kept:
        time.sleep(0.26)

    assert 0.0 < kept.seconds < 0.26
