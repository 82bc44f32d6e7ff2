"""Searching the web, and reading pages of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial

from agentic_rag.adapters.web.first_use import FetcherAtFirstUse
from agentic_rag.answering.outside import Outside
from agentic_rag.bootstrap.ingestion import IngestionParts
from agentic_rag.ingestion.web.crawl import CrawlWeb
from agentic_rag.ingestion.web.estimate_crawl import EstimateCrawl
from agentic_rag.ingestion.web.keep_pages import KeepPages
from agentic_rag.ingestion.web.look_outside import LookOutsideForRun
from agentic_rag.ingestion.web.read_pages import LISTING_POLICY, ROBOTS_POLICY, ReadPages
from agentic_rag.ingestion.web.renew_pages import RenewPages
from agentic_rag.ingestion.web.search_web import SearchEngine, SearchWeb
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.search import SearchFilters


class WebParts(IngestionParts):
    """The part of `ingestion` that asks the web."""

    @cached_property
    def search_web(self) -> SearchWeb:
        return SearchWeb(self.database, self.web_envelope, self.telemetry, self._search_engine)

    @cached_property
    def _search_engine(self) -> SearchEngine | None:
        """The engine that AGENTIC_RAG_SEARCH names; None without one."""
        address = self.settings.answering.engine
        if address is None:
            return None
        # The clients are imported where one is configured.
        from agentic_rag.adapters.web.engine_client import EngineClient
        from agentic_rag.adapters.web.engines.table import open_engine

        connect = partial(EngineClient, proxies=self.settings.proxies)
        return SearchEngine(address.engine, open_engine(address, connect), address.filters, address.usd)

    @property
    def _page_filters(self) -> SearchFilters:
        engine = self.settings.answering.engine
        return SearchFilters() if engine is None else engine.filters

    @cached_property
    def read_pages(self) -> ReadPages:
        """Fetches pages through the guarded client."""
        filters = self._page_filters
        pages = FetcherAtFirstUse(FetchPolicy(filters.hosts, without=filters.without))
        listings = FetcherAtFirstUse(replace(LISTING_POLICY, hosts=filters.hosts, without=filters.without))
        robots = FetcherAtFirstUse(replace(ROBOTS_POLICY, without=filters.without))
        return ReadPages(
            pages.fetch_if_new, listings.fetch_if_new, robots.fetch, self.web_envelope, self.clock, filters
        )

    @cached_property
    def keep_pages(self) -> KeepPages:
        return KeepPages(
            self.database,
            self.blobs,
            self.original_keys,
            self.parser,
            self.embedders,
            self.clock,
            self.telemetry,
            self._chunk_profile,
            self._stored_mb,
            self.sync_source.grace,
        )

    @cached_property
    def crawl_web(self) -> CrawlWeb:
        """The body of CRAWL jobs."""
        renew = RenewPages(
            self.database,
            self.read_pages,
            self.keep_pages,
            self.parser,
            self.clock,
            self.telemetry,
            self.sync_source.grace,
        )
        return CrawlWeb(
            self.database,
            self.read_pages,
            self.keep_pages,
            self.parser,
            self.telemetry,
            renew,
            reading=self.memory.reading,
        )

    @cached_property
    def estimate_crawl(self) -> EstimateCrawl:
        """The use case behind `estimateCrawl`."""
        prices = self.settings.models.prices
        return EstimateCrawl(self.database, self.read_pages, self.web_envelope, self.embedders, prices, self.telemetry)

    @cached_property
    def _outside(self) -> Outside | None:
        if self._search_engine is None:
            return None
        look = LookOutsideForRun(
            self.database, self.search_web, self.read_pages, self.keep_pages, self.queue, self.telemetry
        )
        return Outside(look, look.share_left, self.outcomes.rollbacks)
