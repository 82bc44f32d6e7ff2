"""Chooses links of pages that a run read: those about its question on the page's own site."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.ingestion.web.read_pages import directives_of
from agentic_rag.language.tokenizer import query_terms, tokenize
from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.links import read_link_texts, same_page
from agentic_rag.web.url_policy import parse_target

MAX_LINKED = 3
"""Pages that one run reads because a page links to them."""
MIN_SHARE = 0.5
"""Of a search's words in those of a link or its address."""
_WORD_BREAKS = re.compile(r"[^\w]+|_")


def choose_links(page: FetchedPage, searches: Sequence[str], known: frozenset[str]) -> list[tuple[float, str]]:
    """The addresses on the page's own site whose link says at least half of the words of a search, each with its share.

    What a page says otherwise chooses nothing, and links to other sites are not followed. `known` are addresses
    (`same_page`) that the run reads anyway. None of a page that asks not to be followed.
    """
    if directives_of(page).nofollow:
        return []
    wanted = [frozenset(query_terms(one)) for one in searches]
    site = _site(page.url)
    found: dict[str, float] = {}
    for link in read_link_texts(page.url, page.text):
        if _site(link.url) != site or same_page(link.url) in known:
            continue
        target = parse_target(link.url)
        said = frozenset(tokenize(f"{link.text} {_WORD_BREAKS.sub(' ', target.request)}"))
        share = max((len(one & said) / len(one) for one in wanted if one), default=0.0)
        if share >= MIN_SHARE:
            found[link.url] = max(share, found.get(link.url, 0.0))
    return [(share, url) for url, share in found.items()]


def _site(url: str) -> str:
    return parse_target(url).host.removeprefix("www.")
