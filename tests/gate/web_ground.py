"""A workspace in memory that may ask the simulated web, with a worker that works when told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.documents.document import Document
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.web.crawl import CrawlWeb
from agentic_rag.ingestion.web.frontier import CrawlRequest, FrontierPage
from agentic_rag.ingestion.web.keep_pages import KeepPages
from agentic_rag.ingestion.web.read_pages import ReadPages
from agentic_rag.ingestion.web.renew_pages import RenewPages
from agentic_rag.jobs.job import JobRef
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.web_envelope import WebEnvelope
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.web.search import SearchFilters
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.web_access import WebAccess
from tests.contract.ingestion.source_world import FollowingWorkspace, Steps
from tests.gate.simulated_web import SimulatedWeb, build_web
from tests.inline_parser import InlineParser
from tests.memory_store.compute import InlineCompute
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.workspaces.organisations import MemoryOrganisations


class Stopped(Exception):
    """The worker is gone."""


@dataclass
class StopAfter:
    """Progress of a worker that ends after so many steps."""

    steps: int

    def advance(self) -> None:
        self.steps -= 1
        if self.steps <= 0:
            raise Stopped


@dataclass
class MovedClock(SystemClock):
    """The system's clock, moved by hand."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        return super().now() + self.ahead

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead.total_seconds()


@dataclass
class CrawledWorkspace(FollowingWorkspace):
    """The use cases of the web over it."""

    web: SimulatedWeb = field(default_factory=build_web)

    def __post_init__(self) -> None:
        super().__post_init__()
        clock, parser, embedders = self.store.clock, InlineParser(), only(DeterministicEmbedder())
        self.envelope = WebEnvelope(self.database, clock, self.telemetry)
        self.pages = ReadPages(
            self.web.fetcher().fetch_if_new,
            self.web.listings().fetch_if_new,
            self.web.robots().fetch,
            self.envelope,
            clock,
            SearchFilters(),
        )
        keys = OriginalKeys(clock, RandomIds())
        self.keep = KeepPages(self.database, self.blobs, keys, parser, embedders, clock, self.telemetry, "small")
        analysis = TextAnalysis(estimate_tokens, InlineCompute())
        publisher = GroupCommitPublisher(self.database)
        self.ingest_pages = IngestDocument(
            self.database, self.blobs, parser, embedders, analysis, publisher, self.telemetry, "small"
        )
        self.renew = RenewPages(self.database, self.pages, self.keep, parser, clock, self.telemetry)
        self.crawler = CrawlWeb(
            self.database, self.pages, self.keep, parser, self.telemetry, self.renew, pause_seconds=0.0
        )

    async def open(self, limits: SpendingLimits | None = None) -> CrawledWorkspace:
        """Make the workspace and allow the web."""
        await MemoryOrganisations(self.store).ensure_organisation(self.workspace.org_id, "ours")
        await self.create()
        async with self.database.transaction(self.workspace.org_id) as transaction:
            await transaction.organisations.change(
                lambda before: replace(
                    before.with_flag(FeatureFlag.WEB_ACCESS, on=True), budget=limits or SpendingLimits()
                )
            )
            await transaction.workspaces.change_settings(
                self.workspace.workspace_id, lambda before: replace(before, web=WebAccess(allow=True))
            )
        return self

    async def crawl(self, request: CrawlRequest, stop_after: int | None = None) -> JobRef:
        """Queue a crawl and run it, to its end or to that of its worker."""
        ref = await self.crawler.start(self.workspace, request, "user:ada")
        await self.attempt(ref, stop_after)
        return ref

    async def attempt(self, ref: JobRef, stop_after: int | None = None) -> None:
        """One attempt of a worker; one that ends on the way gives its lease up."""
        async with self.database.transaction(ref.workspace.org_id) as transaction:
            lease = await transaction.jobs.lease(ref, "worker", timedelta(seconds=0 if stop_after else 60))
        assert lease is not None
        try:
            await self.crawler.run(lease, Steps() if stop_after is None else StopAfter(stop_after))
        except* Stopped:
            await MemoryJobBoard(self.store).expire_leases()
        if stop_after is not None:
            return
        async with self.database.transaction(ref.workspace.org_id) as transaction:
            await transaction.jobs.finish(ref, lease.fence)

    async def work_pages(self) -> None:
        """Ingest what waits."""
        self.ingest = self.ingest_pages
        await self.work()

    async def frontier(self, ref: JobRef) -> dict[str, FrontierPage]:
        """The pages of a crawl, by address."""
        async with self.database.transaction(ref.workspace.org_id) as transaction:
            return {one.url: one for one in await transaction.crawls.pages(ref)}

    async def documents(self) -> dict[str, Document]:
        """Documents that the web brought, by address."""
        async with self.database.transaction(self.workspace.org_id) as transaction:
            found = await transaction.documents.paths(self.workspace, "web")
        return {one.url: one for one in found.values() if one.url is not None}
