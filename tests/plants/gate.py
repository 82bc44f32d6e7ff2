"""The lies of `make gate`, by row."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tests.plants import Mutant, Patch, Where


def _by_hash(patch: Patch) -> None:
    from agentic_rag.answering.gate import decide

    whole = decide.sum_up
    patch(decide, "sum_up", lambda contributions: whole(contributions) + hash("score") % 1000 / 1e6)


def _without_the_last(patch: Patch) -> None:
    from agentic_rag.answering.gate import decide

    whole = decide.sum_up
    patch(decide, "sum_up", lambda contributions: whole(tuple(contributions)[:-1]))


def _deaf_to_requests(patch: Patch) -> None:
    from agentic_rag.answering import options

    patch(options, "_with_request", lambda gate, allow_web: replace(gate, policy=replace(gate.policy, request=None)))


def _never(patch: Patch) -> None:
    from agentic_rag_eval import gate_cases

    patch(gate_cases, "plan_for", lambda *_: "retrieve")


def _always(patch: Patch) -> None:
    from agentic_rag_eval import gate_cases

    patch(gate_cases, "plan_for", lambda *_: "full_loop")


def _promoting(patch: Patch, *, always: bool) -> None:
    from agentic_rag_eval import gate_learning

    told = "promoted: " if always else "refused: "
    patch(gate_learning, "judge_promotion", lambda *_: gate_learning.Promotion(is_promoted=always, reason=told))


def _slowly(patch: Patch) -> None:
    from agentic_rag.answering.stages import gate

    run = gate.decide

    def late(*arguments: Any, **named: Any) -> Any:
        until = time.perf_counter() + 0.002
        while time.perf_counter() < until:
            pass
        return run(*arguments, **named)

    patch(gate, "decide", late)


def _late_probe(patch: Patch) -> None:
    from agentic_rag.answering.stages import gate

    read = gate.probe_signs

    def late(*arguments: Any, **named: Any) -> Any:
        until = time.perf_counter() + 0.05
        while time.perf_counter() < until:
            pass
        return read(*arguments, **named)

    patch(gate, "probe_signs", late)


def _all_supported(patch: Patch) -> None:
    from agentic_rag.answering.answer import Support
    from agentic_rag.answering.stages import synthesize

    patch(synthesize, "_support_of_question", lambda *_: Support(1.0, 0.5))


def _content_with_all(patch: Patch) -> None:
    from agentic_rag.answering.gate import windows

    patch(windows, "LEAST_SATISFACTION", 0.0)


def _for_good(patch: Patch) -> None:
    from agentic_rag.answering.gate.rollback import Rollback

    patch(Rollback, "holds", lambda *_: True)


def _patient(patch: Patch) -> None:
    from agentic_rag.answering.gate import watch_outcomes

    patch(watch_outcomes, "SLOW_SHARE", 1.0)


def _deaf_to_robots(patch: Patch) -> None:
    from agentic_rag.web.robots import RobotsRules

    patch(RobotsRules, "allows", lambda *_: True)


def _without_twins(patch: Patch) -> None:
    from agentic_rag.ingestion.web import crawl

    patch(crawl._Frontier, "twin", lambda *_: False)


def _without_ceilings(patch: Patch) -> None:
    from agentic_rag.models.billing import web_envelope

    patch(web_envelope, "_check", lambda *_: None)


def _ever_deeper(patch: Patch) -> None:
    from agentic_rag.ingestion.web import crawl

    read = crawl.request_of

    def deeper(arguments: Mapping[str, str]) -> Any:
        request = read(arguments)
        object.__setattr__(request, "depth", 50)
        return request

    patch(crawl, "request_of", deeper)


def _forgetful(patch: Patch) -> None:
    from agentic_rag.ingestion.web import crawl
    from agentic_rag.ingestion.web.frontier import PageState

    begin = crawl._Frontier.__post_init__

    def anew(self: Any) -> None:
        self.pages = {url: replace(one, state=PageState.PENDING) for url, one in self.pages.items()}
        begin(self)

    patch(crawl._Frontier, "__post_init__", anew)


def _without_reading_again(patch: Patch) -> None:
    from agentic_rag.ingestion.web.look_outside import LookOutsideForRun

    wait = LookOutsideForRun._wait

    async def late(self: Any, workspace: Any, tally: Any, until: float) -> None:
        await wait(self, workspace, tally, until)
        tally.version = None

    patch(LookOutsideForRun, "_wait", late)


def _following_all(patch: Patch) -> None:
    from agentic_rag.ingestion.web import look_outside
    from agentic_rag.web.links import read_links

    def follow(page: Any, *_: Any) -> list[tuple[float, str]]:
        return [(1.0, url) for url in read_links(page.url, page.body.decode())[0]]

    patch(look_outside, "choose_links", follow)


def _without_votes(patch: Patch) -> None:
    from agentic_rag.answering.evidence.outvoted import Outvoted
    from agentic_rag.answering.stages import leave_out

    patch(leave_out, "find_outvoted", lambda *_: Outvoted())


def _heedless_of_age(patch: Patch) -> None:
    from agentic_rag.answering.evidence.outvoted import PassageAges
    from agentic_rag.answering.stages import leave_out

    async def read(*_: Any) -> PassageAges:
        return PassageAges()

    patch(leave_out, "_read_ages", read)


def _against_all(patch: Patch) -> None:
    from agentic_rag.answering.evidence import outvoted

    patch(outvoted, "_covers", lambda *_: True)


def _without_policy(patch: Patch) -> None:
    from agentic_rag.answering.gate.policy import WebPolicy

    patch(WebPolicy, "refused_by", property(lambda _: None))


def _in_place(patch: Patch) -> None:
    from agentic_rag.documents.document import derive_uuid
    from agentic_rag.ingestion import ingest, submit

    def same(document_id: Any, *_: Any) -> Any:
        return derive_uuid(b"revision", document_id.bytes)

    patch(ingest, "revision_id_for", same)
    patch(submit, "revision_id_for", same)


def _dawdling(patch: Patch) -> None:
    from agentic_rag.retrieval.rerank import Rerank

    score = Rerank._score

    async def late(rerank: Rerank, *asked: Any) -> Any:
        until = time.process_time() + 0.05
        while time.process_time() < until:
            pass
        return await score(rerank, *asked)

    patch(Rerank, "_score", late)


MUTANTS: Mapping[str, Mutant] = {
    "identical": Mutant("the score hangs on the order of a set", _by_hash, "different decisions", where=Where.CHILDREN),
    "summed": Mutant("a signal is left out of the score", _without_the_last, "are not their score"),
    "dials": Mutant("a request that forbids the web is not heard", _deaf_to_requests, "dial with one of them off"),
    "answered": Mutant("nothing is looked for outside", _never, "answered questions"),
    "calls": Mutant("everything is looked for outside", _always, "calls"),
    "refused": Mutant("every model is promoted", partial(_promoting, always=True), "a worse model"),
    "promoted": Mutant("no model is promoted", partial(_promoting, always=False), "a better model"),
    "dropped": Mutant("callers are always content", _content_with_all, "back to the documents"),
    "recovered": Mutant("what rests does so for good", _for_good, "tried again"),
    "slowed": Mutant("no deploy is slow before its runs are cut off", _patient, "slow deploys"),
    "rules": Mutant("robots.txt is not heard", _deaf_to_robots, "robots and noindex"),
    "duplicates": Mutant("pages of one text are kept twice", _without_twins, "kept or fetched twice"),
    "budgets": Mutant("a spent envelope refuses nothing", _without_ceilings, "under a crawl's and a day's budget"),
    "envelope": Mutant("a spent envelope refuses nothing", _without_ceilings, "calls under the day's envelope"),
    "maze": Mutant("links are followed at any depth", _ever_deeper, "a maze without an end"),
    "resumed": Mutant("a crawl begins anew", _forgetful, "a resumed crawl"),
    "found": Mutant("nobody reads what came", _without_reading_again, "answered with a citation of its page"),
    "linked": Mutant("every link is followed", _following_all, "to which a page found links"),
    "poisoned": Mutant("no page is outvoted", _without_votes, "a third lies about"),
    "disguised": Mutant("no page is outvoted", _without_votes, "such lies in"),
    "alone": Mutant("pages that name something else outvote one", _against_all, "speak of something else"),
    "unsupported": Mutant("everything is supported", _all_supported, "that nothing supports"),
    "slower": Mutant("what the probe found is read late", _late_probe, "over retrieval only"),
    "reranked": Mutant("a reranker takes 200 ms more", _dawdling, "the reader as reranker"),
    "aged": Mutant("no text is too old", _heedless_of_age, "median age of citations"),
    "withheld": Mutant("no policy is heard", _without_policy, "with the web forbidden"),
    "verified": Mutant("a page is changed in place", _in_place, "changed or went"),
    "cost": Mutant("each decision takes two milliseconds more", _slowly, "beyond the probe"),
}
