"""The use case of CRAWL jobs: reads a few pages of some sites, politely, and hands them over to ingestion."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from uuid import UUID

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.ports import Parser
from agentic_rag.ingestion.web.expand import expand
from agentic_rag.ingestion.web.frontier import LISTED, CrawlRequest, FrontierPage, PageState, request_of
from agentic_rag.ingestion.web.keep_pages import KeepPages
from agentic_rag.ingestion.web.near_pages import are_near, signature, text_hash
from agentic_rag.ingestion.web.read_pages import FoundPage, ReadPages, directives_of, read_main_text
from agentic_rag.ingestion.web.renew_pages import RenewPages, is_renewal, renewal_of
from agentic_rag.ingestion.web.search_web import require_web
from agentic_rag.ingestion.web.site_turns import SiteTurns
from agentic_rag.jobs.job import JobKind, JobRef, Lease, NewJob
from agentic_rag.jobs.leases import require_lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.concurrency import run_side_by_side, untold
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import (
    AgenticRagError,
    BudgetExceeded,
    InvalidInput,
    NotFound,
    ParseFailed,
    PolicyRefused,
    Retryable,
)
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.web.fetch_errors import BUSY, StatusRefused, size_before
from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.links import canonical_url, read_links, same_page
from agentic_rag.web.listings import looks_like_listing
from agentic_rag.web.page_paths import ETAG, WebOrigin
from agentic_rag.web.url_policy import parse_target

HOSTS_AT_ONCE = 4
"""Sites that are asked beside each other; each gets one request at a time."""
PAUSE_SECONDS = 1.0
"""Between two requests to a site that asks for no other pause."""
LONGEST_PAUSE = 30.0
"""A site that asks for more is given up to it."""
LEAST_FRONTIER, FRONTIER_SHARE = 1_000, 10
"""Pages that a crawl knows at most, the latter for each that it may fetch: sites without an end name millions."""
BUSY_PAUSES = 10
"""Pauses for which a busy site is left alone that names no time."""


@dataclass(slots=True)
class _Frontier:
    """A crawl under way."""

    request: CrawlRequest
    pages: dict[str, FrontierPage]
    is_renewal: bool = False
    """Its pages have documents, each of its own; others are not read."""
    known: set[str] = field(default_factory=set[str])
    """What the addresses have in common with others of the same page."""
    fetched: int = 0
    size: int = 0
    rests: dict[str, float] = field(default_factory=dict[str, float])
    """Seconds for which a site, by its host, asks to be left alone."""

    def __post_init__(self) -> None:
        self.known = {same_page(url) for url in self.pages}
        self.fetched = sum(one.state.is_fetched for one in self.pages.values())
        self.size = sum(one.size for one in self.pages.values())

    @property
    def has_budget(self) -> bool:
        """Whether one more page may be fetched."""
        return self.fetched < self.request.max_pages and self.size < self.request.max_bytes

    def follows(self, url: str) -> bool:
        """Whether the page is of a host that may be followed to."""
        return self.request.allowed.allows(parse_target(url).host)

    def rest(self, host: str, seconds: float) -> None:
        """Note that a site asks to be left alone; where it asks a second time, for good."""
        self.rests[host] = math.inf if host in self.rests else seconds

    def pending(self) -> list[FrontierPage]:
        """Pages that wait, by depth."""
        waiting = [one for one in self.pages.values() if one.state is PageState.PENDING]
        return sorted(waiting, key=lambda one: one.depth)

    def twin(self, page: FrontierPage) -> bool:
        """Whether another page of the crawl has this text, or nearly."""
        return any(
            one.url != page.url and (one.text_hash == page.text_hash or are_near(one.signature, page.signature))
            for one in self.pages.values()
            if one.text_hash
        )


@dataclass(frozen=True, slots=True)
class CrawlWeb:
    """What a crawl found survives its worker: the next attempt goes on behind the last recorded page."""

    database: Database
    pages: ReadPages
    keep: KeepPages
    parser: Parser
    telemetry: Telemetry
    renew: RenewPages
    pause_seconds: float = PAUSE_SECONDS
    reading: Callable[[WorkspaceRef], AbstractContextManager[None]] = untold
    """Told while a page is held."""
    turns: SiteTurns = field(default_factory=SiteTurns)

    async def start(self, workspace: WorkspaceRef, request: CrawlRequest, actor: str) -> JobRef:
        """Queue a crawl. Errors: `PolicyRefused` code WEB_REFUSED; those of `KeepPages.admit`."""
        await require_web(self.database, self.telemetry, workspace)
        await self.keep.admit(workspace)
        for url in request.seeds:
            self.pages.check(url)
        key = " ".join(sorted(request.seeds))[:400]
        job = NewJob(workspace, JobKind.CRAWL, key, request.arguments(), trace_carrier=self.telemetry.carrier())
        async with self.database.transaction(workspace.org_id) as transaction:
            ref, _ = await transaction.jobs.enqueue(job)
            await transaction.crawls.add(ref, [FrontierPage(url, 0) for url in request.seeds])
            act, seeds = AuditAction.CRAWL, " ".join(request.seeds)[:400]
            await audit(transaction, self.telemetry, act, workspace, ref.job_id, actor, urls=seeds)
        return ref

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Crawl until nothing waits or a budget ends. Errors: `PolicyRefused` code WEB_REFUSED, `LeaseLost`."""
        await require_web(self.database, self.telemetry, lease.job.workspace)
        frontier = await self._begin(lease)
        if frontier is None:
            return
        until = monotonic() + frontier.request.max_seconds
        while (waiting := frontier.pending()) and frontier.has_budget and monotonic() < until:
            by_host: dict[str, list[FrontierPage]] = defaultdict(list)
            depth = waiting[0].depth
            for page in (one for one in waiting if one.depth == depth):
                by_host[_site_of(page.url)].append(page)
            room = asyncio.Semaphore(HOSTS_AT_ONCE)
            await run_side_by_side(
                self._site(lease, progress, frontier, pages, room, until) for pages in by_host.values()
            )
            if frontier.pending() == waiting:
                break  # Their sites rest for longer than there is time.
        self._tell(lease, frontier)

    async def _begin(self, lease: Lease) -> _Frontier | None:
        """How far the crawl is; None where no page is to be renewed."""
        renews = is_renewal(lease.job)
        due = await self.renew.due(lease.job.workspace) if renews else []
        async with self.database.transaction(lease.job.workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            found = await transaction.crawls.pages(lease.ref)
            if renews and not found:
                await transaction.crawls.add(lease.ref, due)
                found = due
        if renews and not found:
            return None
        request = renewal_of(found) if renews else request_of(lease.job.arguments)
        return _Frontier(request, {one.url: one for one in found}, renews)

    @staticmethod
    def is_rejection(error: AgenticRagError) -> bool:
        """Whether no operator can help: somebody switched the web off."""
        return error.code == "WEB_REFUSED"

    async def _site(
        self,
        lease: Lease,
        progress: JobProgress,
        frontier: _Frontier,
        pages: Sequence[FrontierPage],
        room: asyncio.Semaphore,
        until: float,
    ) -> None:
        """One site's pages of one depth, one after the other."""
        for page in pages:
            host = _site_of(page.url)
            # Others have the room while it is another crawl's turn at the site.
            async with self.turns.take(host, until - monotonic()) as turn, room:
                # Counted before it is fetched: sites beside each other share the budget.
                if turn is None or not frontier.has_budget or monotonic() >= until:
                    return
                if frontier.rests.get(host, 0.0) > LONGEST_PAUSE:
                    await self._record(lease, frontier, replace(page, state=PageState.REFUSED, code=BUSY), ())
                    continue
                frontier.fetched += 1
                ended, follows = await self._ask(lease, frontier, page)
                pause = min(LONGEST_PAUSE, await self._pause(frontier, page.url)) if ended.state.is_fetched else 0.0
                turn.rest(pause)
                frontier.fetched -= not ended.state.is_fetched
                frontier.size += ended.size
                await self._record(lease, frontier, ended, follows)
                progress.advance()
                if pause:
                    await asyncio.sleep(max(0.0, min(pause, until - monotonic())))

    async def _ask(
        self, lease: Lease, frontier: _Frontier, page: FrontierPage
    ) -> tuple[FrontierPage, Sequence[FrontierPage]]:
        with self.reading(lease.job.workspace):
            if not frontier.is_renewal:
                return await self._page(lease, frontier, page)
            return await self.renew.run(lease, page, partial(self._note_busy, frontier, _site_of(page.url))), ()

    async def _pause(self, frontier: _Frontier, url: str) -> float:
        target = parse_target(url)
        asked = (await self.pages.rules(target)).delay_seconds
        rest = frontier.rests.get(_site_of(url), 0.0)
        return max(asked or self.pause_seconds, 0.0 if rest > LONGEST_PAUSE else rest)

    async def _page(
        self, lease: Lease, frontier: _Frontier, page: FrontierPage
    ) -> tuple[FrontierPage, Sequence[FrontierPage]]:
        """How a page ended, and the pages that it leads to."""
        workspace = lease.job.workspace
        found = FoundPage(page.url, WebOrigin.CRAWL, depth=page.depth)
        known = await self.keep.find(workspace, parse_target(page.url))
        is_read = known is not None and known.status is DocumentStatus.READY
        validator = known.provenance.get(ETAG, "") if known is not None and is_read else ""
        is_named = page.url in frontier.request.seeds or page.code == LISTED
        try:
            target = await self.pages.admit(workspace, page.url)
        except (PolicyRefused, BudgetExceeded) as error:
            return replace(page, state=PageState.REFUSED, code=error.code), ()
        try:
            fetched = await self.pages.ask(target, validator, takes_listing=is_named)
            if fetched is None:
                return await self._keep_unchanged(frontier, page, known)
            if is_named and looks_like_listing(fetched.media_type, fetched.body):
                return await asyncio.to_thread(expand, page, fetched, frontier.request, frontier.known)
            return await self._read(workspace, frontier, replace(page, code=""), found, fetched)
        except (PolicyRefused, BudgetExceeded, Retryable, InvalidInput, ParseFailed) as error:
            self._note_busy(frontier, _site_of(page.url), error)
            if known is not None and error.code == "PAGE_NOINDEX":
                await self.renew.withdraw(lease, known)
            return replace(page, state=PageState.FAILED, code=error.code, size=size_before(error)), ()

    async def _keep_unchanged(
        self, frontier: _Frontier, page: FrontierPage, known: Document | None
    ) -> tuple[FrontierPage, Sequence[FrontierPage]]:
        """The same for a page that did not change, by its response as it was kept."""
        ended = replace(page, state=PageState.UNCHANGED)
        if known is None:
            return ended, ()
        await self.keep.touch(known)
        stored = await self.keep.response_of(known)
        if stored is None:
            return ended, ()
        with suppress(ParseFailed):
            # Copies of it are found by its text.
            text = await read_main_text(self.parser, stored)
            ended = ended if text is None else await asyncio.to_thread(_sign, ended, text)
        if page.depth >= frontier.request.depth or directives_of(stored).nofollow:
            return ended, ()
        links = await asyncio.to_thread(read_links, stored.url, stored.text)
        return ended, [FrontierPage(url, page.depth + 1) for url in links.urls]

    def _note_busy(self, frontier: _Frontier, host: str, error: AgenticRagError) -> None:
        if isinstance(error, StatusRefused) and error.code == BUSY:
            stated = error.retry_after_seconds
            frontier.rest(host, BUSY_PAUSES * self.pause_seconds if stated is None else stated)

    async def _read(
        self,
        workspace: WorkspaceRef,
        frontier: _Frontier,
        page: FrontierPage,
        found: FoundPage,
        fetched: FetchedPage,
    ) -> tuple[FrontierPage, Sequence[FrontierPage]]:
        size = len(fetched.body)
        # Not between others' steps: pages are made to be slow to read.
        links, own, moved = await asyncio.to_thread(read_links, fetched.url, fetched.text)
        if moved is not None and frontier.follows(moved) and not directives_of(fetched).nofollow:
            return replace(page, state=PageState.EXPANDED, size=size), [FrontierPage(moved, page.depth)]
        final = canonical_url(fetched.url)
        others = [one for one in (final, own) if one is not None and same_page(one) != same_page(page.url)]
        if any(same_page(one) in frontier.known for one in others):
            return replace(page, state=PageState.DUPLICATE, size=size), ()
        text = await read_main_text(self.parser, fetched)
        if text is None:
            return replace(page, state=PageState.NEEDS_SCRIPT, code="NEEDS_SCRIPT", size=size), ()
        ended = await asyncio.to_thread(_sign, replace(page, size=size), text)
        is_last = directives_of(fetched).nofollow or page.depth >= frontier.request.depth
        follows = () if is_last else [FrontierPage(url, page.depth + 1) for url in links]
        if frontier.twin(ended):
            return replace(ended, state=PageState.DUPLICATE, text_hash=b"", signature=()), follows
        # Told before anything waits, so that a page read beside it is not kept as well.
        frontier.pages[page.url] = ended
        kept = await self.keep.run(workspace, found, fetched, own_url(page, own))
        return replace(ended, state=PageState.KEPT, document_id=kept.document_id), follows

    async def _record(
        self, lease: Lease, frontier: _Frontier, page: FrontierPage, follows: Sequence[FrontierPage]
    ) -> None:
        new: list[FrontierPage] = []
        frontier.pages[page.url] = page
        room = max(LEAST_FRONTIER, FRONTIER_SHARE * frontier.request.max_pages) - len(frontier.pages)
        for one in follows:
            if len(new) >= room:
                break
            if same_page(one.url) in frontier.known or not frontier.follows(one.url):
                continue
            frontier.known.add(same_page(one.url))
            new.append(one)
        async with self.database.transaction(lease.job.workspace.org_id) as transaction:
            await require_lease(transaction.jobs, lease)
            await transaction.crawls.record(lease.ref, page)
            await transaction.crawls.add(lease.ref, new)
        frontier.pages |= {one.url: one for one in new}
        self.telemetry.count("rag_crawl_pages_total", outcome=page.code.lower() or page.state.value)

    def _tell(self, lease: Lease, frontier: _Frontier) -> None:
        counted: dict[str, int] = defaultdict(int)
        for one in frontier.pages.values():
            counted[one.state.value] += 1
        self.telemetry.event("rag_crawl_ended", job_id=str(lease.job.job_id), bytes=frontier.size, **counted)


def _site_of(url: str) -> str:
    """The host, with `www.` or without: one server, which is asked for one page at a time."""
    return parse_target(url).host.removeprefix("www.")


def _sign(page: FrontierPage, text: str) -> FrontierPage:
    """A page with what tells its text from others. Takes seconds for one of 2 MB."""
    return replace(page, text_hash=text_hash(text), signature=signature(text))


def own_url(page: FrontierPage, own: str | None) -> str:
    """The address of a page: what it calls its own where that leaves parameters out and is the same otherwise; else how
    it was found. Where many write pages of one site, none takes the place of another's.
    """
    if own is None or parse_target(own).host != parse_target(page.url).host:
        return page.url
    (path, _, given), (own_path, _, own_given) = (same_page(one).partition("?") for one in (page.url, own))
    is_same = path == own_path and set(own_given.split("&")) <= {*given.split("&"), ""}
    return own if is_same else page.url


@dataclass(frozen=True, slots=True)
class CrawlReport:
    """How far a crawl is."""

    job_id: UUID
    pages: Sequence[FrontierPage]


async def report_crawl(database: Database, ref: JobRef) -> CrawlReport:
    """The pages of a crawl; none of a job of another kind. Errors: `NotFound` code JOB_NOT_FOUND."""
    async with database.transaction(ref.workspace.org_id) as transaction:
        if await transaction.jobs.get(ref.workspace, ref.job_id) is None:
            raise NotFound("There is no such job.", code="JOB_NOT_FOUND")
        return CrawlReport(ref.job_id, await transaction.crawls.pages(ref))
