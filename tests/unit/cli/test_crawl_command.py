"""`rag crawl --estimate`."""

from __future__ import annotations

import json
from types import SimpleNamespace

from tests.unit.cli.product import Product, Terminal

from agentic_rag.ingestion.web.estimate_crawl import CrawlEstimate
from agentic_rag.ingestion.web.frontier import CrawlRequest
from agentic_rag.tenancy.principals import WorkspaceRef

FOUND = CrawlEstimate(12, 3_252_000, 12, 23_700, 0.000474, 0, 9_990)


def terminal() -> tuple[Terminal, list[CrawlRequest]]:
    asked: list[CrawlRequest] = []

    async def run(_: WorkspaceRef, request: CrawlRequest) -> CrawlEstimate:
        asked.append(request)
        return FOUND

    product = Product()
    product.estimate_crawl = SimpleNamespace(run=run)  # type: ignore[attr-defined]
    return Terminal(product), asked


def test_what_a_crawl_would_come_to_is_told_and_nothing_is_queued() -> None:
    shown, asked = terminal()

    told = shown.rag("crawl", "https://docs.example.org/", "--pages", "12", "--estimate").stdout

    assert told == (
        "at most 12 pages, about 3.3 MB in 12 seconds\n"
        "about 23700 tokens to embed  0.000474 USD\n"
        "by the size of pages at large; 9990 pages left today\n"
    )
    assert [(one.seeds, one.max_pages) for one in asked] == [(("https://docs.example.org/",), 12)]


def test_programs_read_the_figures() -> None:
    shown, _ = terminal()

    told = json.loads(shown.rag("crawl", "https://docs.example.org/", "--estimate", "--json").stdout)

    assert (told["pages"], told["costUsd"], told["pagesLeft"]) == (12, 0.000474, 9_990)


def test_a_number_of_pages_out_of_range_is_refused() -> None:
    shown, asked = terminal()

    assert shown.rag("crawl", "https://docs.example.org/", "--pages", "0", "--estimate").exit_code != 0
    assert asked == []
