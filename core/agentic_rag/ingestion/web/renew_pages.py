"""Asks for pages again that the web brought: what changed is ingested anew, and what is gone is hidden, then erased."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.ports import DocumentLabel, Parser
from agentic_rag.ingestion.ingest_run import WEB_SOURCE
from agentic_rag.ingestion.missing import DEFAULT_GRACE, hide
from agentic_rag.ingestion.web.frontier import MAX_PAGES, CrawlRequest, FrontierPage, PageState
from agentic_rag.ingestion.web.keep_pages import KeepPages, final_address
from agentic_rag.ingestion.web.read_pages import FoundPage, ReadPages, read_main_text
from agentic_rag.ingestion.web.revisit import Look, read_revisit
from agentic_rag.jobs.job import Job, Lease
from agentic_rag.jobs.leases import require_lease
from agentic_rag.kernel.clock import Clock
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
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.web.fetch_errors import PageGone, size_before
from agentic_rag.web.links import canonical_url
from agentic_rag.web.page_paths import CRAWL_DEPTH, ETAG, ORIGIN, SEARCH_QUERY, WebOrigin
from agentic_rag.web.url_policy import parse_target

RENEWAL_KEY = "recrawl"
"""The key of the CRAWL job that upkeep enqueues: one a workspace and hour."""
PAGES_AT_ONCE = 200
"""Of one job, those that wait longest: others come with the next."""
SECONDS = 1_800


def is_renewal(job: Job) -> bool:
    """Whether a CRAWL job asks for known pages again."""
    return job.key == RENEWAL_KEY and not job.arguments


def renewal_of(pages: list[FrontierPage]) -> CrawlRequest:
    """The bounds of a job that asks for these pages, at least one, and for none that they link to."""
    return CrawlRequest((pages[0].url,), depth=0, max_pages=MAX_PAGES, max_seconds=SECONDS)


def found_before(document: Document) -> FoundPage:
    """The page of a document, as it was found at first."""
    told = document.provenance
    return FoundPage(
        document.url or "",
        WebOrigin(told[ORIGIN]),
        told.get(SEARCH_QUERY, ""),
        int(told.get(CRAWL_DEPTH) or 0),
        is_known=True,
    )


@dataclass(frozen=True, slots=True)
class RenewPages:
    """A workspace says after how many hours its pages are asked for again at the latest
    (`WebAccess.recrawl_hours`).
    """

    database: Database
    pages: ReadPages
    keep: KeepPages
    parser: Parser
    clock: Clock
    telemetry: Telemetry
    grace: timedelta = DEFAULT_GRACE

    async def run(
        self, lease: Lease, page: FrontierPage, tell: Callable[[AgenticRagError], None] = lambda _: None
    ) -> FrontierPage:
        """Ask for a page again, unless it did not change, and store what came of it; `tell` is told why its server sent
        none. Errors: `LeaseLost`, `DependencyUnavailable`.
        """
        document = await self.keep.find(lease.job.workspace, parse_target(page.url))
        if document is None:
            return replace(page, state=PageState.REFUSED, code="DOCUMENT_NOT_FOUND")
        look, refused = Look.FAILED, False
        try:
            ended = await self._ask(document, page)
            changed = ended.state is PageState.KEPT
            look = Look.CHANGED if changed else Look.FAILED if ended.code else Look.UNCHANGED
        except PageGone:
            ended, look = replace(page, state=PageState.FAILED, code="PAGE_GONE"), Look.GONE
        except BudgetExceeded as error:
            # It was not asked for: it is due with the next budget.
            return replace(page, state=PageState.REFUSED, code=error.code)
        except PolicyRefused as error:
            refused = error.code == "PAGE_NOINDEX"
            state = PageState.FAILED if refused else PageState.REFUSED
            ended = replace(page, state=state, code=error.code, size=size_before(error))
        except (Retryable, InvalidInput, NotFound, ParseFailed) as error:
            tell(error)
            ended = replace(page, state=PageState.FAILED, code=error.code, size=size_before(error))
        await self._note(lease, document, look, is_refused=refused)
        return ended

    async def withdraw(self, lease: Lease, document: Document) -> None:
        """Hide a page that asks not to be kept any more, and have it erased after the grace. Errors: `LeaseLost`."""
        await self._note(lease, document, Look.FAILED, is_refused=True)

    async def _ask(self, document: Document, page: FrontierPage) -> FrontierPage:
        validator = document.provenance.get(ETAG, "") if document.status is DocumentStatus.READY else ""
        found = found_before(document)
        last = final_address(document)
        # Not where it was moved to: as its server writes it.
        asked = replace(found, url=last) if canonical_url(last) == canonical_url(found.url) else found
        fetched = await self.pages.fetch(document.workspace, asked, validator)
        if fetched is None:
            await self.keep.touch(document)
            return replace(page, state=PageState.UNCHANGED)
        size = len(fetched.body)
        if await read_main_text(self.parser, fetched) is None:
            return replace(page, state=PageState.NEEDS_SCRIPT, code="NEEDS_SCRIPT", size=size)
        # Wherever the address leads by now: the document is what it shows.
        kept = await self.keep.run(document.workspace, found, fetched, found.url)
        state = PageState.UNCHANGED if kept.job is None else PageState.KEPT
        return replace(page, state=state, size=size, document_id=kept.document_id)

    async def due(self, workspace: WorkspaceRef) -> list[FrontierPage]:
        """The pages that are due, longest first. None where the workspace wants none renewed."""
        longest = await self._longest(workspace)
        if not longest:
            return []
        async with self.database.transaction(workspace.org_id) as transaction:
            documents = await transaction.documents.paths(workspace, WEB_SOURCE)
        waiting: list[tuple[float, str]] = []
        now = self.clock.now()
        for document in documents.values():
            revisit = read_revisit(document.provenance)
            if revisit is None or document.url is None or ORIGIN not in document.provenance or document.is_withdrawn:
                continue
            is_settled = document.status in (DocumentStatus.READY, DocumentStatus.FAILED)
            late = (now - revisit.due_at(longest)).total_seconds()
            if is_settled and late >= 0:
                waiting.append((-late, document.url))
        return [FrontierPage(url, 0) for _, url in sorted(waiting)[:PAGES_AT_ONCE]]

    async def _note(self, lease: Lease, document: Document, look: Look, *, is_refused: bool = False) -> None:
        """Store what asking for a page again brought. One that is gone, or that asks not to be kept (`is_refused`), is
        hidden at once and erased after the grace. Errors: `LeaseLost`.
        """
        longest = await self._longest(document.workspace) or self.grace
        async with self.database.transaction(document.workspace.org_id) as transaction:
            stored = await transaction.documents.get(document.workspace, document.document_id)
            revisit = None if stored is None else read_revisit(stored.provenance)
            if stored is None or revisit is None:
                return
            entries = revisit.after(look, longest, self.clock.now())
            label = DocumentLabel(stored.source_path, stored.file_name, stored.url, entries)
            await transaction.documents.relabel(stored.workspace, stored.document_id, label)
            if is_refused or revisit.is_gone_after(look):
                await hide(transaction, stored, self.grace, self.telemetry.carrier())
                self.telemetry.event("rag_page_gone", document_id=str(stored.document_id), refused=is_refused)
            await require_lease(transaction.jobs, lease)

    async def _longest(self, workspace: WorkspaceRef) -> timedelta | None:
        """Between two looks at a page; None where pages are not renewed."""
        head = await self.database.head(workspace)
        return timedelta(hours=head.web.recrawl_hours) if head is not None and head.web.recrawl_hours else None
