"""Which pages of a sitemap or a feed a crawl goes on to."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from urllib.parse import urljoin

from agentic_rag.ingestion.web.frontier import LISTED, CrawlRequest, FrontierPage, PageState
from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.links import canonical_url, is_worth_following, same_page
from agentic_rag.web.listings import ListingKind, ListingRefused, read_listing
from agentic_rag.web.url_policy import AddressRefused, parse_target


def expand(
    page: FrontierPage, fetched: FetchedPage, request: CrawlRequest, known: Set[str]
) -> tuple[FrontierPage, list[FrontierPage]]:
    """How a sitemap or a feed ended, and its pages, as many as the crawl may fetch. They are as deep as it is: an entry
    is no link.
    """
    size = len(fetched.body)
    try:
        listing = read_listing(fetched.body, fetched.charset)
    except ListingRefused as refused:
        return replace(page, state=PageState.FAILED, code=refused.code, size=size), []
    if listing.kind is ListingKind.INDEX and page.code == LISTED:
        return replace(page, state=PageState.FAILED, code="LISTING_NESTED", size=size), []
    is_index = listing.kind is ListingKind.INDEX
    found: dict[str, FrontierPage] = {}
    may_any = not listing.pages
    for one in listing.pages:
        url = _address(fetched.url, one.address)
        if url is None or not request.allowed.allows((target := parse_target(url)).host):
            continue
        may_any = True
        if same_page(url) not in known and (is_index or is_worth_following(target)):
            found.setdefault(same_page(url), FrontierPage(url, page.depth, code=LISTED if is_index else ""))
        if len(found) == request.max_pages:
            break
    if not may_any:
        return replace(page, state=PageState.FAILED, code="ADDRESS_REFUSED", size=size), []
    return replace(page, state=PageState.EXPANDED, code="", size=size), list(found.values())


def _address(base: str, stated: str) -> str | None:
    """The one form of an address; None where it may not be asked."""
    try:
        return canonical_url(urljoin(base, stated))
    except (AddressRefused, ValueError):
        return None
