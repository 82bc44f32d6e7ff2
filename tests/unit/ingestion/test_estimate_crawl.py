"""Estimates of crawls: what bounds them, and that no site is asked."""

from __future__ import annotations

import pytest
from tests.gate.simulated_web import SITE, TWINS
from tests.gate.web_ground import CrawledWorkspace
from tests.unit.ingestion.test_crawl_web import forbid

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.ingestion.web.estimate_crawl import PAGE_BYTES, PAGE_TOKENS, CrawlEstimate, EstimateCrawl
from agentic_rag.ingestion.web.frontier import CrawlRequest
from agentic_rag.kernel.errors import PolicyRefused
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.providers.embedder_registry import only


async def estimate(ground: CrawledWorkspace, request: CrawlRequest) -> CrawlEstimate:
    embedders, telemetry = only(DeterministicEmbedder()), ground.telemetry
    found = EstimateCrawl(ground.database, ground.pages, ground.envelope, embedders, PriceTable(), telemetry)
    return await found.run(ground.workspace, request)


async def test_pages_of_an_unknown_site_are_expected_to_be_as_pages_are() -> None:
    ground = await CrawledWorkspace().open()

    found = await estimate(ground, CrawlRequest((f"http://{SITE}/",), max_pages=20))

    assert (found.pages, found.size, found.tokens) == (20, 20 * PAGE_BYTES, 20 * PAGE_TOKENS)
    assert (found.seconds, found.known_pages, found.pages_left, found.cost_usd) == (20, 0, 10_000, 0.0)


async def test_an_estimate_asks_no_site_and_counts_nothing() -> None:
    ground = await CrawledWorkspace().open()
    request = CrawlRequest((f"http://{SITE}/",))

    assert await estimate(ground, request) == await estimate(ground, request)
    assert ground.web.requests == []


async def test_every_limit_of_the_crawl_and_of_the_day_bounds_it() -> None:
    ground = await CrawledWorkspace().open(SpendingLimits(day_pages=7))
    seeds = (f"http://{SITE}/",)

    assert (await estimate(ground, CrawlRequest(seeds, max_pages=50))).pages == 7
    small = await estimate(ground, CrawlRequest(seeds, max_pages=5, max_bytes=PAGE_BYTES, max_seconds=1))
    assert (small.size, small.tokens, small.seconds) == (PAGE_BYTES, PAGE_TOKENS, 1)


async def test_sites_that_are_named_share_the_time() -> None:
    ground = await CrawledWorkspace().open()

    both = await estimate(ground, CrawlRequest((f"http://{SITE}/", f"http://{TWINS}/"), max_pages=20))

    assert both.seconds == 10


async def test_pages_that_the_workspace_holds_of_a_site_say_what_others_of_it_come_to() -> None:
    ground = await CrawledWorkspace().open()
    request = CrawlRequest((f"http://{TWINS}/",), depth=1, max_pages=20)
    await ground.crawl(request)
    await ground.work_pages()
    held = await ground.documents()

    found = await estimate(ground, request)

    assert found.known_pages == len(held) > 0
    assert found.size == round(20 * sum(one.size for one in held.values()) / len(held)) < 20 * PAGE_BYTES
    assert 0 < found.tokens < 20 * PAGE_TOKENS


async def test_without_leave_nothing_is_estimated() -> None:
    ground = await CrawledWorkspace().open()
    await forbid(ground)

    with pytest.raises(PolicyRefused):
        await estimate(ground, CrawlRequest((f"http://{SITE}/",)))
