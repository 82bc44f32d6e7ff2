"""Reports by profile over GraphQL: of pages that a crawl brought, and of a repository. Every figure has its places."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.ingestion.web.frontier import CrawlRequest
from agentic_rag.operations.profiles.report import ReportProfile
from agentic_rag_cli.client import web_queries
from agentic_rag_cli.output.profile_view import code_text, marketing_text
from tests.api.builders import REF, TOKENS, WORKSPACE_ID, Container, query
from tests.contract.ingestion.source_world import DirectoryOrigin
from tests.gate.simulated_web import page
from tests.gate.web_ground import CrawledWorkspace

NEWS, SHOP = "news.example.com", "shop.example.org"
PAGES = {
    f"{NEWS}/pumps": "Acme pumps are excellent and reliable. Globex pumps are a terrible failure. Acme sells in Oslo.",
    f"{NEWS}/prices": "Globex raised its prices in Bergen this week, as the harbour office reports in its letter.",
    f"{SHOP}/offer": "Buy now: the Acme pump ships on Monday with a filter, a hose and two clamps for the garden.",
    f"{SHOP}/post": "Sponsored. Shop now and get the Globex filter, which fits every pump of the northern harbour.",
    f"{SHOP}/old": "Acme was not good last year, said the harbour office of Tromso in a letter to its members.",
}
OLD = (datetime.now(UTC) - timedelta(days=400)).date().isoformat()
REPOSITORY = {
    "app.py": "def load(path):\n    # TODO read in parts\n    return open(path).read()\n\n\n"
    "class Store:\n    def save(self, row):\n        raise NotImplementedError  # FIXME\n",
    "requirements.txt": "httpx==0.27.0\nredis>=5.0\nTODOIST==1.0\n",
    "uv.lock": '[[package]]\nname = "httpx"\nversion = "0.28.1"\n\n[[package]]\nname = "redis"\nversion = "5.2.0"\n',
    "guide.md": "# Guide\n\nThe service needs redis 6.1 since spring. It was tried with httpx 0.20 before.\n",
    "package.json": '{"dependencies": {"left-pad": ',
    "report.xml": '<testsuites><testsuite name="s" tests="3"><testcase classname="t.A" name="one"/>'
    '<testcase classname="t.A" name="two &lt;b&gt;"><failure message="no">boom</failure></testcase>'
    '<testcase name="three"><skipped/></testcase></testsuite></testsuites>',
}


async def asked(ground: CrawledWorkspace, text: str, **variables: object) -> dict[str, Any]:
    parts = Container(
        database=ground.database,
        telemetry=ground.telemetry,
        report_profile=ReportProfile(ground.database, ground.telemetry),
    )
    found = await query(parts, text, {"workspaceId": WORKSPACE_ID, **variables})
    assert "errors" not in found, found
    [data] = found["data"].values()
    return data


async def crawled() -> CrawledWorkspace:
    ground = await CrawledWorkspace(workspace=REF).open()
    ground.web.pages = {
        address: page(
            address, said, head=f'<meta property="article:published_time" content="{OLD}">' if "old" in address else ""
        )
        for address, said in PAGES.items()
    }
    await ground.crawl(CrawlRequest(tuple(f"http://{one}" for one in PAGES), depth=0))
    await ground.work_pages()
    return ground


async def stored(folder: Path, files: Mapping[str, str]) -> CrawledWorkspace:
    ground = await CrawledWorkspace(workspace=REF).open()
    ground.ingest = ground.ingest_pages
    origin = DirectoryOrigin(folder)
    for path, text in files.items():
        await origin.write(path, text.encode())
    await ground.follow(origin)
    return ground


def check_places(ground: CrawledWorkspace, found: object, texts: Mapping[str, str]) -> int:
    """Every place names the words that stand there; how many places there are."""
    if isinstance(found, list):
        return sum(check_places(ground, one, texts) for one in found)
    if not isinstance(found, dict):
        return 0
    if "sourcePath" in found:
        whole = texts[found["sourcePath"].removeprefix("kept/")]
        assert whole[found["start"] : found["end"]] == found["text"]
        assert whole.count("\n", 0, found["start"]) + 1 == found["line"]
        return 1
    return sum(check_places(ground, one, texts) for one in found.values())


async def test_share_of_voice_tone_channels_and_labels_of_a_crawled_web() -> None:
    ground = await crawled()

    found = await asked(ground, web_queries.MARKETING, brands=["Acme", "Globex", "acme"])

    acme, globex = found["brands"]
    assert (acme["brand"], acme["mentions"], acme["documents"]) == ("acme", 4, 3)
    assert (globex["mentions"], globex["documents"]) == (3, 3)
    assert acme["share"] == pytest.approx(4 / 7)
    assert (acme["positive"], acme["negative"], acme["neutral"]) == (1, 1, 2)
    assert (globex["positive"], globex["negative"], globex["neutral"]) == (0, 1, 2)
    best = acme["sentences"][0]
    assert best["place"]["text"] == "Acme pumps are excellent and reliable."
    assert best["words"] == ["excellent"]
    assert found["channels"] == [{"name": SHOP, "documents": 3}, {"name": NEWS, "documents": 2}]
    assert found["diversity"] == pytest.approx(0.971, abs=0.001)
    assert (found["promotional"], found["undisclosed"]) == (2, 1)
    assert [one["label"] and one["label"]["text"] for one in found["disclosures"]] == [None, "Sponsored"]
    assert "57.1 %" in marketing_text(found)


async def test_a_report_of_the_last_days_leaves_out_what_was_published_before() -> None:
    ground = await crawled()
    since = (datetime.now(UTC) - timedelta(days=30)).isoformat()

    found = await asked(ground, web_queries.MARKETING, brands=["Acme"], since=since)

    assert (found["documents"], found["brands"][0]["mentions"]) == (4, 3)


async def test_staleness_of_a_repository_and_the_places_that_show_it(tmp_path: Path) -> None:
    ground = await stored(tmp_path, REPOSITORY)

    found = await asked(ground, web_queries.CODE)

    assert [(one["place"]["line"], one["symbol"]) for one in found["leftOver"]] == [(2, "load"), (8, "save")]
    assert (found["marks"], found["files"], found["lines"]) == (2, 1, 6)
    assert found["density"] == pytest.approx(1000 * 2 / 6)
    assert sorted((one["kind"], one["package"], one["used"], one["stated"]) for one in found["drift"]) == [
        ("DOCUMENTATION", "redis", "5.2.0", "6.1"),
        ("LOCK", "httpx", "0.28.1", "0.27.0"),
    ]
    assert (found["testCases"], found["failures"]) == (3, 1)
    assert [one["name"] for one in found["failed"]] == ["t.A::two <b>"]
    assert [one.removeprefix("kept/") for one in found["unread"]] == ["package.json"]
    assert check_places(ground, found, REPOSITORY) == 2 + 4 + 1
    assert "0.28.1 (kept/uv.lock:3)" in code_text(found)


async def test_a_report_is_made_of_what_the_caller_may_read_and_of_nothing_that_is_erased(tmp_path: Path) -> None:
    ground = await stored(tmp_path, {"a.md": "# A\n\nAcme is great.", "b.md": "# B\n\nAcme is bad. TODO: tell Acme."})
    async with ground.database.transaction(REF.org_id) as transaction:
        known = await transaction.documents.paths(REF, "source:tested")
    hidden = known["kept/b.md"].document_id
    parts = Container(database=ground.database, report_profile=ReportProfile(ground.database, ground.telemetry))

    async def mentions(token: str) -> int:
        found = await query(parts, web_queries.MARKETING, {"workspaceId": WORKSPACE_ID, "brands": ["Acme"]}, token)
        return found["data"]["marketingReport"]["brands"][0]["mentions"]

    assert await mentions("member-token") == 3
    await parts.document_access.change(TOKENS["admin-token"], REF, hidden, ("group:night",))
    assert [await mentions(token) for token in ("member-token", "night-token")] == [1, 3]

    await ground.delete.run(REF, hidden)
    assert await mentions("night-token") == 1


async def test_brands_are_named() -> None:
    ground = await CrawledWorkspace(workspace=REF).open()
    for brands in ([], [" "], ["x" * 81], [str(number) for number in range(21)]):
        variables = {"workspaceId": WORKSPACE_ID, "brands": brands}
        parts = Container(database=ground.database, report_profile=ReportProfile(ground.database, ground.telemetry))
        found = await query(parts, web_queries.MARKETING, variables)
        assert found["errors"][0]["extensions"]["code"] == "OPTION_OUT_OF_RANGE"
