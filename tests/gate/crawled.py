"""What a crawl of the simulated web may and may not do."""

from __future__ import annotations

import asyncio

from agentic_rag.ingestion.web.frontier import CrawlRequest, PageState
from agentic_rag.models.billing.limits import SpendingLimits
from tests.bench.reports import Row
from tests.gate.simulated_web import FORBIDDEN, MAZE, NOINDEX, RULES, SEEDS, SITE, TWINS
from tests.gate.web_ground import CrawledWorkspace

SHORT_SEEDS = tuple(one for one in SEEDS if SITE not in one)
"""Without the large site."""
PAGE_BUDGET, DAY_BUDGET = 17, 11
STOP_AFTER = 7
DEEPEST = 3


def rules(short: bool) -> Row:
    """No page that robots.txt, its header or its head forbids is fetched or kept."""
    return asyncio.run(_rules(short))


async def _rules(short: bool) -> Row:
    ground = await CrawledWorkspace().open()
    await ground.crawl(_request(short))
    kept = await ground.documents()
    hidden = {f"{RULES}/behind"}
    broken = [one for one in FORBIDDEN if one in ground.web.requests]
    broken += [one for one in (*NOINDEX, *FORBIDDEN, *hidden) if any(one in url for url in kept)]
    name = f"crawl of {len(ground.web.pages)} pages: robots and noindex violations"
    return Row(name, f"{len(broken)} ({len(kept)} kept)", "0", not broken and len(kept) > 5)


def duplicates(short: bool) -> Row:
    """A page is fetched once and kept once, however many addresses and copies it has."""
    return asyncio.run(_duplicates(short))


async def _duplicates(short: bool) -> Row:
    ground = await CrawledWorkspace().open()
    await ground.crawl(_request(short))
    kept = [url for url in await ground.documents() if TWINS in url]
    twins = [one for one in kept if one.partition(TWINS)[2] not in ("/", "/other")]
    wrong = len(twins) - 1 + len(ground.web.asked_twice)
    return Row(
        "pages kept or fetched twice, of 14 duplicate addresses", f"{wrong} ({', '.join(twins)})", "0", not wrong
    )


def budgets(short: bool) -> Row:
    """A crawl fetches exactly as many pages as its budget, and all crawls as the day's envelope."""
    return asyncio.run(_budgets(short))


async def _budgets(short: bool) -> Row:
    ground = await CrawledWorkspace().open()
    await ground.crawl(CrawlRequest((f"http://{SITE}/",), depth=1, max_pages=PAGE_BUDGET))
    first = len(ground.web.page_requests)
    other = await CrawledWorkspace().open(SpendingLimits(day_pages=DAY_BUDGET))
    await other.crawl(CrawlRequest((f"http://{SITE}/", f"http://{MAZE}/"), depth=1, max_pages=PAGE_BUDGET * 2))
    second = len(other.web.page_requests)
    shown = f"{first} of {PAGE_BUDGET}, {second} of {DAY_BUDGET}"
    return Row(
        "pages fetched under a crawl's and a day's budget", shown, "equal", (first, second) == (PAGE_BUDGET, DAY_BUDGET)
    )


def maze(short: bool) -> Row:
    """A site without an end is left at the deepest depth."""
    return asyncio.run(_maze(short))


async def _maze(short: bool) -> Row:
    ground = await CrawledWorkspace().open()
    ref = await ground.crawl(CrawlRequest((f"http://{MAZE}/",), depth=DEEPEST, max_pages=200))
    found = await ground.frontier(ref)
    deepest = max(one.depth for one in found.values())
    left = [one for one in found.values() if one.state is PageState.PENDING]
    shown = f"{len(ground.web.page_requests)} pages, depth {deepest}"
    ok = not left and deepest == DEEPEST and len(ground.web.page_requests) <= 8
    return Row("a maze without an end stops", shown, f"depth {DEEPEST}, ≤ 8 pages", ok)


def resumed(short: bool) -> Row:
    """A crawl whose worker ends goes on behind the last page that was recorded."""
    return asyncio.run(_resumed(short))


async def _resumed(short: bool) -> Row:
    ground = await CrawledWorkspace().open()
    request = CrawlRequest((f"http://{TWINS}/", f"http://{RULES}/"), depth=1)
    ref = await ground.crawl(request, stop_after=STOP_AFTER)
    done = {url for url, one in (await ground.frontier(ref)).items() if one.state is not PageState.PENDING}
    before = len(ground.web.page_requests)
    await ground.attempt(ref)
    again = ground.web.page_requests[before:]
    repeated = [url for url in done if url.partition("://")[2] in again]
    left = [one for one in (await ground.frontier(ref)).values() if one.state is PageState.PENDING]
    shown = f"{len(repeated)} ({before} before, {len(again)} after)"
    return Row(
        "pages that a resumed crawl fetches again", shown, "0", not repeated and not left and before > 3 < len(again)
    )


def _request(short: bool) -> CrawlRequest:
    return CrawlRequest(SHORT_SEEDS if short else SEEDS, depth=2, max_pages=500)
