"""Lies about the web that no row of `make gate` is there for, each with the test that has to fail because of it."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from agentic_rag.workspaces.web_profiles import ProfileName
from tests.plants import Patch
from tests.unit.answering import test_profiles_in_runs as profiles
from tests.unit.ingestion import test_hostile_sites as hostile
from tests.unit.ingestion import test_look_outside as looks
from tests.unit.ingestion import test_web_limits as limits
from tests.unit.ingestion import test_web_memory as remembered


@dataclass(frozen=True)
class Fault:
    """A lie, and what is run under it."""

    lie: str
    plant: Any
    """Takes a `Patch`."""
    test: Any
    """Makes the coroutine of the test."""

    def run(self) -> Coroutine[Any, Any, None]:
        made: Coroutine[Any, Any, None] = self.test()
        return made


def _heedless_of_profiles(patch: Patch) -> None:
    from agentic_rag.answering.stages import gate

    run = gate.decide

    def heedless(signs: Any, probe: Any, rules: Any, *more: Any, **named: Any) -> Any:
        return run(signs, probe, replace(rules, profile=0.0), *more, **named)

    patch(gate, "decide", heedless)


def _as_the_engine_names_them(patch: Patch) -> None:
    from agentic_rag.ingestion.web import look_outside

    patch(look_outside, "_first_of", lambda _, pages: list(pages))


def _without_saying_whose(patch: Patch) -> None:
    from agentic_rag.answering.stages import gate

    request = gate.OutsideRequest
    patch(gate, "OutsideRequest", lambda *given, **named: request(*given, **{**named, "first_hosts": ()}))


def _robots_known_for(seconds: float) -> Any:
    def plant(patch: Patch) -> None:
        from agentic_rag.ingestion.web import read_pages

        patch(read_pages, "ROBOTS_SECONDS", seconds)

    return plant


def _wherever_it_moved(patch: Patch) -> None:
    from agentic_rag.ingestion.web.read_pages import ReadPages

    async def anywhere(self: Any, target: Any) -> None:
        pass

    patch(ReadPages, "_admit_redirect", anywhere)


def _without_validator(patch: Patch) -> None:
    from agentic_rag.ingestion.web.read_pages import ReadPages

    ask = ReadPages.ask
    patch(ReadPages, "ask", lambda self, target, validator="", **more: ask(self, target, "", **more))


def _fresh_for(time: timedelta) -> Any:
    def plant(patch: Patch) -> None:
        from agentic_rag.ingestion.web import keep_pages

        patch(keep_pages, "FRESH", time)

    return plant


def _one_original(patch: Patch) -> None:
    from agentic_rag.documents.originals import OriginalKeys

    patch(OriginalKeys, "new", lambda _, workspace, name: f"{workspace.ref.workspace_id}/{name}")


def _none_cancelled(patch: Patch) -> None:
    from tests.memory_store.jobs.jobs import MemoryJobStore

    cancel = MemoryJobStore.cancel_crawls

    async def silent(self: Any, workspace_id: Any) -> int:
        await cancel(self, workspace_id)
        return 0

    patch(MemoryJobStore, "cancel_crawls", silent)


def _refused_in_silence(patch: Patch) -> None:
    from agentic_rag.answering.gate import tell_decision

    patch(tell_decision, "_REFUSALS", {})


def _billed(*, is_billed: bool) -> Any:
    def plant(patch: Patch) -> None:
        from agentic_rag.models.billing.usage import UsageKind
        from agentic_rag.models.billing.web_envelope import WebEnvelope

        share = WebEnvelope.share_left
        billed = frozenset({UsageKind.SEARCH} if is_billed else ())
        patch(WebEnvelope, "share_left", lambda self, workspace, _: share(self, workspace, billed))

    return plant


_ROBOTS = remembered.Answer(b"User-agent: *\nAllow: /\n", media="text/plain")

FAULTS: Mapping[str, Fault] = {
    "preference": Fault(
        "the preference of a profile is not in the score",
        _heedless_of_profiles,
        lambda: profiles.test_the_older_what_is_cited_the_more_a_profile_adds_to_the_score(
            ProfileName.MARKETING, 7, 1.0
        ),
    ),
    "makers": Fault(
        "pages are read as the engine names them",
        _as_the_engine_names_them,
        lambda: remembered.test_pages_of_makers_and_standards_are_read_before_others_that_searches_name(
            ProfileName.CODE, is_read=True
        ),
    ),
    "makers-of-runs": Fault(
        "a run does not say whose pages come first",
        _without_saying_whose,
        lambda: profiles.test_a_run_says_whose_pages_are_read_first(ProfileName.CODE),
    ),
    "robots-forgotten": Fault(
        "robots.txt is asked for before every page",
        _robots_known_for(0.0),
        lambda: remembered.test_a_sites_robots_txt_is_known_for_an_hour_and_then_asked_for_again(_ROBOTS, allowed=True),
    ),
    "robots-for-good": Fault(
        "robots.txt is read once in the life of a process",
        _robots_known_for(1e9),
        remembered.test_what_a_site_asks_is_heard_anew_when_its_robots_txt_is_read_again,
    ),
    "moved": Fault(
        "a page is asked for where it moved, whatever robots.txt says there",
        _wherever_it_moved,
        hostile.test_a_page_that_moved_to_what_robots_txt_forbids_is_not_asked_for_there,
    ),
    "validator": Fault(
        "a crawl asks for whole pages",
        _without_validator,
        remembered.test_a_crawl_asks_for_a_page_that_it_kept_by_its_validator_and_keeps_it_where_that_holds,
    ),
    "never-fresh": Fault(
        "a run fetches what was fetched a moment ago",
        _fresh_for(timedelta()),
        lambda: remembered.test_a_page_that_was_fetched_within_ten_minutes_is_not_fetched_again_for_a_run(9, 0),
    ),
    "ever-fresh": Fault(
        "a page that was fetched once is fresh",
        _fresh_for(timedelta(days=365)),
        lambda: remembered.test_a_page_that_was_fetched_within_ten_minutes_is_not_fetched_again_for_a_run(11, 1),
    ),
    "original": Fault(
        "a page that changed takes the place of what was read",
        _one_original,
        remembered.test_the_response_is_kept_as_it_came_with_its_hash_time_and_headers_after_the_page_changed_too,
    ),
    "purged-of-organisation": Fault(
        "nobody says how many crawls were cancelled",
        _none_cancelled,
        limits.test_that_the_organisation_takes_its_leave_back_cancels_its_crawls_and_says_how_many,
    ),
    "purged-of-workspace": Fault(
        "nobody says how many crawls were cancelled",
        _none_cancelled,
        limits.test_that_a_workspace_takes_its_leave_back_cancels_its_crawls_and_says_how_many,
    ),
    "refusals": Fault(
        "a refusal is told by no event",
        _refused_in_silence,
        lambda: looks.test_a_run_that_may_not_look_outside_tells_who_refused_with_its_id_and_trace(
            "request", looks.CacheMode.DEFAULT
        ),
    ),
    "dollars-unheeded": Fault(
        "a search is made for dollars that are spent",
        _billed(is_billed=False),
        lambda: looks.test_where_the_dollars_are_spent_what_costs_some_stays_at_home_and_the_run_says_why(
            0.005, is_billed=False
        ),
    ),
    "dollars-for-nothing": Fault(
        "spent dollars keep what is free at home",
        _billed(is_billed=True),
        looks.test_where_the_dollars_are_spent_what_costs_none_is_looked_for_all_the_same,
    ),
}
