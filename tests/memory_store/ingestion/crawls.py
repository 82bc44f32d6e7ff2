"""`ingestion.web.frontier.CrawlStore` in memory."""

from __future__ import annotations

from collections.abc import Sequence

from tests.memory_store.session.store import Working

from agentic_rag.ingestion.web.frontier import FrontierPage
from agentic_rag.jobs.job import JobRef


class MemoryCrawlStore:
    """Inside a transaction."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def add(self, crawl: JobRef, pages: Sequence[FrontierPage]) -> None:
        """Add pages that are not there."""
        known = self._working.write(crawl.workspace).crawls.setdefault(crawl.job_id, {})
        for page in pages:
            known.setdefault(page.url, page)

    async def pages(self, crawl: JobRef) -> list[FrontierPage]:
        """All pages, by depth."""
        state = self._working.read(crawl.workspace)
        known = {} if state is None else state.crawls.get(crawl.job_id, {})
        return sorted(known.values(), key=lambda one: one.depth)

    async def record(self, crawl: JobRef, page: FrontierPage) -> None:
        """Store how a page ended."""
        self._working.write(crawl.workspace).crawls[crawl.job_id][page.url] = page
