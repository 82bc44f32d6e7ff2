"""Runs beside each other under one envelope of the day."""

from __future__ import annotations

import asyncio

from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.usage import UsageKind
from tests.bench.reports import Row
from tests.gate.from_the_web import Asked
from tests.gate.simulated_web import fact
from tests.gate.web_ground import CrawledWorkspace

PARALLEL, SEARCHES, PAGES = 32, 5, 3
OVER = 1
"""Calls that the runs together may make beyond a ceiling."""


def envelope(short: bool) -> Row:
    """Thirty-two runs that all want the web; the next one reads the documents alone and says why."""
    searches, pages, is_back = asyncio.run(_envelope())
    shown = f"{searches} of {SEARCHES} searches, {pages} of {PAGES} pages"
    ok = SEARCHES <= searches <= SEARCHES + OVER and PAGES <= pages <= PAGES + OVER and is_back
    return Row(f"{PARALLEL} parallel runs: calls under the day's envelope", shown, f"over by ≤ {OVER}, then none", ok)


async def _envelope() -> tuple[int, int, bool]:
    """Searches and pages that were made, and whether a run behind them is back at the documents."""
    ground = await CrawledWorkspace().open(SpendingLimits(day_searches=SEARCHES, day_pages=PAGES))
    asked = Asked(ground)
    await asyncio.gather(*(asked.ask(fact(number)[0]) for number in range(PARALLEL)))
    pages, searches = len(ground.web.page_requests), asked.searches
    after = (await asked.ask(fact(PARALLEL)[0])).answer
    await asked.recorder.aclose()
    is_back = after.gate.was_lowered_by(DowngradeCause.BUDGET) and not after.gate.directives.use_search
    ceilings = await ground.envelope.ceilings(ground.workspace)
    counted = {one.kind: one.used for one in ceilings if one.scope == "organisation"}
    told = counted[UsageKind.SEARCH] <= SEARCHES and counted[UsageKind.PAGE] <= PAGES
    return searches, pages, is_back and told and asked.searches == searches
