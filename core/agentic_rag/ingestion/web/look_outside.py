"""Looks outside for a run: search, fetch, ingest through the ordinary path, and wait as long as the run can."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from time import monotonic

from agentic_rag.answering.outside import OutsideReport, OutsideRequest
from agentic_rag.documents.document import DocumentFault, DocumentStatus
from agentic_rag.ingestion.web.choose_links import MAX_LINKED, choose_links
from agentic_rag.ingestion.web.keep_pages import KeepPages, KeptPage
from agentic_rag.ingestion.web.read_pages import FoundPage, ReadPages
from agentic_rag.ingestion.web.search_web import SearchWeb, require_web
from agentic_rag.jobs.job import QueueName
from agentic_rag.jobs.ports import JobQueue
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.links import canonical_url, same_page
from agentic_rag.web.page_paths import WebOrigin, host_of
from agentic_rag.web.search import SearchRequest
from agentic_rag.web.url_policy import AddressRefused, HostList, parse_target

MAX_PAGES = 6
"""Pages that one run reads of those that were found or named."""
RESULTS_PER_SEARCH = 4
FETCH_SHARE = 0.6
"""Share of the time by which pages have to be fetched, so that what came can still be ingested."""
POLL_SECONDS = 0.1
LONGEST_PAUSE = 1.0
"""Seconds between two pages of a site that a run waits."""
_PAGES = "rag_run_pages_total"
_REFUSED = "robots_refused"


@dataclass(slots=True)
class _Tally:
    """What happened so far; a run that is cut off reports it."""

    searches: int = 0
    fetched: int = 0
    kept: list[KeptPage] = field(default_factory=list[KeptPage])
    ready: int = 0
    known: int = 0
    pending: int = 0
    refusals: dict[str, None] = field(default_factory=dict[str, None])
    version: int | None = None

    def report(self) -> OutsideReport:
        """The report so far."""
        return OutsideReport(
            self.searches, self.fetched, self.ready, self.known, self.pending, tuple(self.refusals), self.version
        )


@dataclass(frozen=True, slots=True)
class _Read:
    """What came of a page that a run wanted."""

    page: FetchedPage | None = None
    is_asked: bool = False
    """Whether its site was asked for it."""


@dataclass(frozen=True, slots=True)
class LookOutsideForRun:
    """Implements `answering.outside.LookOutside`."""

    database: Database
    search: SearchWeb
    pages: ReadPages
    keep: KeepPages
    queue: JobQueue
    telemetry: Telemetry

    async def __call__(self, request: OutsideRequest) -> OutsideReport:
        """Look. What fails is in the report."""
        tally, until = _Tally(), monotonic() + request.seconds
        try:
            async with asyncio.timeout(request.seconds * FETCH_SHARE):
                await self._bring(request, tally)
        except TimeoutError:
            tally.refusals["BUDGET"] = None
        except AgenticRagError as error:
            tally.refusals[error.code] = None
        try:
            await self._wait(request.workspace, tally, until)
        except AgenticRagError as error:
            tally.refusals[error.code] = None
        return tally.report()

    async def share_left(self, workspace: WorkspaceRef) -> float:
        """The least share that is left of a ceiling on what looking outside takes, 0 to 1. Dollars count where a search
        has a price, or what it brings is embedded for one; without those of chat models rules answer from it. Errors:
        `NotFound`, those of the embedder's choice.
        """
        billed: set[UsageKind] = set()
        if self.search.engine is not None and self.search.engine.usd > 0:
            billed.add(UsageKind.SEARCH)
        if await self.keep.embedders.is_billed(workspace):
            billed.add(UsageKind.EMBEDDING)
        return await self.search.envelope.share_left(workspace, frozenset(billed))

    async def _bring(self, request: OutsideRequest, tally: _Tally) -> None:
        """Search and fetch; pages are handed over as they come."""
        await require_web(self.database, self.telemetry, request.workspace)
        await self.keep.admit(request.workspace)
        found = await asyncio.gather(*(self._search(request.workspace, text, tally) for text in request.searches))
        named = [FoundPage(url, WebOrigin.CRAWL) for url in request.addresses]
        ranked = _first_of(HostList(request.first_hosts), _in_turn(found))
        chosen = _each_once([*named, *ranked])[:MAX_PAGES]
        read = await asyncio.gather(*(self._read_site(request.workspace, site, tally) for site in _by_site(chosen)))
        if request.follows_links:
            await self._follow(request, chosen, [page for site in read for page in site], tally)

    async def _follow(
        self, request: OutsideRequest, chosen: Sequence[FoundPage], read: Sequence[FetchedPage], tally: _Tally
    ) -> None:
        """Read the pages about the question that these link to; whose links are not followed any more."""
        known = frozenset(same_page(_form(url)) for url in (*(one.url for one in chosen), *(one.url for one in read)))
        # Not between the steps of other runs: pages are made to be slow to read.
        chosen_of = [await asyncio.to_thread(choose_links, page, request.searches, known) for page in read]
        links = [link for found in chosen_of for link in found]
        best = dict.fromkeys(url for _, url in sorted(links, key=lambda one: (-one[0], one[1])))
        for url in list(best)[:MAX_LINKED]:
            if await self._rest(url, tally):
                await self._read(request.workspace, FoundPage(url, WebOrigin.CRAWL, depth=1), tally)
            else:
                self.telemetry.count(_PAGES, outcome=_REFUSED)

    async def _search(self, workspace: WorkspaceRef, text: str, tally: _Tally) -> list[FoundPage]:
        try:
            answer = await self.search.run(workspace, SearchRequest(text, top_k=RESULTS_PER_SEARCH))
        except AgenticRagError as error:
            tally.refusals[error.code] = None
            return []
        tally.searches += 1
        return [FoundPage(one.url, WebOrigin.WEB_SEARCH, text, published=one.published) for one in answer.results]

    async def _read_site(
        self, workspace: WorkspaceRef, site: Sequence[FoundPage], tally: _Tally
    ) -> Sequence[FetchedPage]:
        """The pages of one site, one after the other."""
        read: list[_Read] = []
        for place, page in enumerate(site):
            if any(one.is_asked for one in read) and not await self._rest(page.url, tally):
                self.telemetry.count(_PAGES, len(site) - place, outcome=_REFUSED)
                break
            read.append(await self._read(workspace, page, tally))
        return [one.page for one in read if one.page is not None]

    async def _rest(self, url: str, tally: _Tally) -> bool:
        """Wait as long as the robots.txt of a page's site asks between two pages; False where that is longer than a run
        waits.
        """
        pause = (await self.pages.rules(parse_target(url))).delay_seconds
        if pause > LONGEST_PAUSE:
            tally.refusals["ROBOTS_REFUSED"] = None
            return False
        await asyncio.sleep(pause)
        return True

    async def _read(self, workspace: WorkspaceRef, page: FoundPage, tally: _Tally) -> _Read:
        """The page as it was fetched, or none, also where it is not kept."""
        outcome, is_asked = "late", False
        try:
            if await self.keep.is_fresh(workspace, self.pages.check(_form(page.url))):
                tally.known += 1
                outcome = "fresh"
                return _Read()
            is_asked = True
            fetched = await self.pages.fetch(workspace, page)
            if fetched is None:
                return _Read(is_asked=is_asked)
            tally.fetched += 1
            kept = await self.keep.run(workspace, page, fetched, _form(fetched.url), QueueName.INTERACTIVE)
            outcome = "unchanged" if kept.job is None else "kept"
        except AgenticRagError as error:
            tally.refusals[error.code] = None
            outcome = error.code.lower()
            if error.code == "PAGE_NOINDEX":
                await self.keep.withdraw(workspace, _form(page.url))
            return _Read(is_asked=is_asked)
        finally:
            self.telemetry.count(_PAGES, outcome=outcome)
        if kept.job is None:
            tally.known += 1
            return _Read(fetched, is_asked)
        tally.kept.append(kept)
        # The dispatcher would offer it too, at its next poll.
        await self.queue.offer(QueueName.INTERACTIVE, [kept.job])
        return _Read(fetched, is_asked)

    async def _wait(self, workspace: WorkspaceRef, tally: _Tally, until: float) -> None:
        """Until every page that was handed over is done, or the time is up."""
        waiting = {one.document_id for one in tally.kept}
        while waiting:
            async with self.database.transaction(workspace.org_id) as transaction:
                found = [await transaction.documents.get(workspace, one) for one in sorted(waiting)]
            for document_id, document in zip(sorted(waiting), found, strict=True):
                if document is None:
                    waiting.discard(document_id)
                elif document.status in (DocumentStatus.READY, DocumentStatus.FAILED):
                    waiting.discard(document_id)
                    _count_done(document.status, document.fault, tally)
            if not waiting or monotonic() + POLL_SECONDS >= until:
                break
            await asyncio.sleep(POLL_SECONDS)
        tally.pending = len(waiting)
        if tally.ready:
            tally.version = await self.database.corpus_version(workspace)


def _count_done(status: DocumentStatus, fault: DocumentFault | None, tally: _Tally) -> None:
    if status is DocumentStatus.READY:
        tally.ready += 1
    elif fault is not None:
        tally.refusals[fault.code] = None


def _form(url: str) -> str:
    """The one form of an address, by which a page is known, not asked; one that may not be asked as it is, for who
    refuses it.
    """
    try:
        return canonical_url(url)
    except AddressRefused:
        return url


def _each_once(pages: Iterable[FoundPage]) -> list[FoundPage]:
    """The first of those that are one page."""
    first: dict[str, FoundPage] = {}
    for page in pages:
        first.setdefault(same_page(_form(page.url)), page)
    return list(first.values())


def _first_of(hosts: HostList, pages: Sequence[FoundPage]) -> list[FoundPage]:
    """Pages of these hosts first, else in their order."""
    return sorted(pages, key=lambda page: (host := host_of(page.url)) is None or not hosts.allows(host))


def _by_site(pages: Sequence[FoundPage]) -> Sequence[Sequence[FoundPage]]:
    """Those of one host together."""
    sites: dict[str | None, list[FoundPage]] = {}
    for page in pages:
        sites.setdefault(host_of(page.url), []).append(page)
    return tuple(sites.values())


def _in_turn(found: Sequence[Sequence[FoundPage]]) -> list[FoundPage]:
    """The best of each search first, then the second ones."""
    return [page for row in zip_longest(*found) for page in row if page is not None]
