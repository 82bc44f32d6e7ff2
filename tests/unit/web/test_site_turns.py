"""Turns at a site: one request at a time from all crawls of a process, with the site's pause between two."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from agentic_rag.ingestion.web import site_turns
from agentic_rag.ingestion.web.site_turns import SiteTurns

SITE = "a.example.org"


@dataclass
class Time:
    """A clock that sleeping moves on."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(site_turns, "monotonic", made)
    monkeypatch.setattr(asyncio, "sleep", made.sleep)
    return made


async def test_a_site_rests_between_two_crawls_of_it_and_no_other_does(time: Time) -> None:
    turns = SiteTurns()
    async with turns.take(SITE, 60.0) as turn:
        assert turn is not None
        turn.rest(3.0)

    async with turns.take("b.example.org", 60.0):
        assert time.now == 100.0
    async with turns.take(SITE, 60.0) as turn:
        assert (turn is not None, time.now) == (True, 103.0)


async def test_who_has_less_time_than_the_site_rests_has_no_turn_and_waits_for_none(time: Time) -> None:
    turns = SiteTurns()
    async with turns.take(SITE, 60.0) as turn:
        assert turn is not None
        turn.rest(3.0)

    async with turns.take(SITE, 2.0) as turn:
        assert (turn, time.now) == (None, 100.0)
    # It kept the site from nobody.
    async with turns.take(SITE, 60.0) as turn:
        assert turn is not None


async def test_who_has_no_time_while_another_asks_has_no_turn() -> None:
    turns = SiteTurns()
    async with turns.take(SITE, 60.0), turns.take(SITE, 0.0) as turn:
        assert turn is None
    async with turns.take(SITE, 60.0) as turn:
        assert turn is not None
