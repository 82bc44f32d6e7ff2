"""What a workspace's profile does to a run: how much the gate prefers what is new, and whose pages are read first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_looking_outside import OPEN, Web

from agentic_rag.answering.gate.weights import IN_FORCE
from agentic_rag.answering.outside import Outside, OutsideReport
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.web_profiles import PROFILES, ProfileName

ANSWERED = "How many days of annual leave do employees receive?"
OUTSIDE = "Which harbour serves the Brannvik pilot boat?"


def world(web: Web, profile: ProfileName, read_at: datetime) -> World:
    corpus = Corpus()
    corpus.add("handbook.md", "Handbook", "Employees receive 28 days of annual leave. It is carried over until March.")
    corpus.read_at = read_at
    corpus.organisation_allows_web, corpus.web = True, WebAccess(allow=True, profile=profile)
    return World(corpus, OPEN, outside=Outside(web.look, web.share_left))


@pytest.mark.parametrize(
    ("profile", "newest_days", "preference"),
    [(ProfileName.GENERAL, None, 0.0), (ProfileName.CODE, 30, 0.5), (ProfileName.MARKETING, 7, 1.0)],
)
async def test_the_older_what_is_cited_the_more_a_profile_adds_to_the_score(
    profile: ProfileName, newest_days: int | None, preference: float
) -> None:
    # The clock of these worlds stands at 1 March 2026.
    made = world(Web(lambda: OutsideReport(searches=1)), profile, datetime(2026, 1, 1, 12, tzinfo=UTC))

    run = await made.ask(ANSWERED)

    added = {one.name: one for one in run.answer.gate.contributions}
    freshness = 1.0 if newest_days is None else newest_days / 59
    assert added["freshness"].value == pytest.approx(freshness, abs=1e-6)
    assert added["profile"].value == pytest.approx(preference * (1 - freshness), abs=1e-6)
    assert added["profile"].contribution == pytest.approx(
        IN_FORCE.weights["profile"] * added["profile"].value, abs=1e-6
    )


async def test_what_is_as_new_as_a_profile_wants_adds_nothing() -> None:
    made = world(Web(lambda: OutsideReport(searches=1)), ProfileName.MARKETING, datetime(2026, 2, 27, tzinfo=UTC))

    run = await made.ask(ANSWERED)

    assert {one.name: one.value for one in run.answer.gate.contributions}["profile"] == 0.0


@pytest.mark.parametrize("profile", list(ProfileName))
async def test_a_run_says_whose_pages_are_read_first(profile: ProfileName) -> None:
    web = Web(lambda: OutsideReport(searches=1))

    await world(web, profile, datetime(2026, 2, 27, tzinfo=UTC)).ask(OUTSIDE)

    assert [one.first_hosts for one in web.asked] == [PROFILES[profile].first_hosts]
    assert bool(PROFILES[profile].first_hosts) is (profile is ProfileName.CODE)
