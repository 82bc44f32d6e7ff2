"""What a crawl would fetch, take and cost, found out without asking any site."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from agentic_rag.documents.document import Document
from agentic_rag.ingestion.ingest_run import WEB_SOURCE
from agentic_rag.ingestion.web.crawl import HOSTS_AT_ONCE, PAUSE_SECONDS
from agentic_rag.ingestion.web.frontier import CrawlRequest
from agentic_rag.ingestion.web.read_pages import ReadPages
from agentic_rag.ingestion.web.search_web import require_web
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.embedding_cost import read_cost
from agentic_rag.models.billing.prices import PriceTable
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.billing.web_envelope import WebEnvelope, calls_left
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.web.page_paths import host_of
from agentic_rag.web.url_policy import parse_target

PAGE_BYTES, PAGE_TOKENS = 271_000, 1_975
"""Of a page of a site of which the workspace holds none: the mean bytes, and estimated tokens of the main text, of 488
pages of seven kinds (a third of WCXB's dev split).
"""


@dataclass(frozen=True, slots=True)
class CrawlEstimate:
    """`pages` is a ceiling; the others are what so many pages are expected to come to."""

    pages: int
    """Fetched at most: by the request, and by what is left of the day's envelope."""
    size: int
    """Bytes."""
    seconds: int
    """By the pauses between requests to a site; answers that are slow come on top, up to the request's limit."""
    tokens: int
    """To embed. Pages that have not changed take none."""
    cost_usd: float | None
    """None without a known price."""
    known_pages: int
    """Pages of these sites that the workspace holds, by which the others are expected; 0: by pages at large."""
    pages_left: int
    """Of the day's envelope."""


@dataclass(frozen=True, slots=True)
class EstimateCrawl:
    """Reads the request, the envelope and the pages that the workspace holds."""

    database: Database
    pages: ReadPages
    envelope: WebEnvelope
    embedders: EmbedderSource
    prices: PriceTable
    telemetry: Telemetry

    async def run(self, workspace: WorkspaceRef, request: CrawlRequest) -> CrawlEstimate:
        """The estimate; nothing is dialled, counted or stored. Errors: `PolicyRefused` codes WEB_REFUSED,
        ADDRESS_REFUSED; `NotFound`, as `CrawlWeb.start`.
        """
        await require_web(self.database, self.telemetry, workspace)
        for url in request.seeds:
            self.pages.check(url)
        left = calls_left(await self.envelope.ceilings(workspace), UsageKind.PAGE)
        space = (await self.embedders.of(workspace)).default.space
        async with self.database.transaction(workspace.org_id) as transaction:
            held = await transaction.documents.paths(workspace, WEB_SOURCE)
            active = await transaction.workspaces.active_space(workspace)
        known = [one for one in held.values() if _is_of(one, request)]
        price = self.prices.of_space(space if active is None else active.space)
        mean_size = fmean([one.size for one in known]) if known else PAGE_BYTES
        # A page of the mean size that passes the limit is the last one.
        pages = min(request.max_pages, left, math.ceil(request.max_bytes / max(1.0, mean_size)))
        tokens = round(pages * _mean_tokens(known))
        return CrawlEstimate(
            pages=min(request.max_pages, left),
            size=min(request.max_bytes, round(pages * mean_size)),
            seconds=min(request.max_seconds, _seconds(pages, request)),
            tokens=tokens,
            cost_usd=None if price is None else price.of(tokens),
            known_pages=len(known),
            pages_left=left,
        )


def _is_of(page: Document, request: CrawlRequest) -> bool:
    host = None if page.url is None else host_of(page.url)
    return host is not None and request.allowed.allows(host)


def _mean_tokens(known: list[Document]) -> float:
    """Of the pages that were embedded."""
    costs = [cost for one in known if (cost := read_cost(one.provenance)) is not None]
    return fmean([one.tokens + one.reused_tokens for one in costs]) if costs else PAGE_TOKENS


def _seconds(pages: int, request: CrawlRequest) -> int:
    """The sites that are named are asked beside each other, each with a pause between two requests."""
    sites = len({parse_target(url).host for url in request.seeds})
    return math.ceil(pages / min(HOSTS_AT_ONCE, sites) * PAUSE_SECONDS)
