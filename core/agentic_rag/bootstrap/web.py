"""Searching the web, and reading pages of it."""

from __future__ import annotations

from functools import cached_property

from agentic_rag.bootstrap.ingestion import IngestionParts
from agentic_rag.ingestion.web.search_web import SearchEngine, SearchWeb


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
        from agentic_rag.adapters.web.engines.table import open_engine

        return SearchEngine(address.engine, open_engine(address), address.filters, address.usd)
