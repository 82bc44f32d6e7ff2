"""What reads texts beside questions is waited for by an erasure's certificate, and only while it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

from tests.gate.simulated_web import SHELLS
from tests.gate.web_ground import CrawledWorkspace
from tests.memory_store.telemetry import RecordingTelemetry
from tests.unit.cli.product import answered

from agentic_rag.answering.answer import Citation
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.page_image import PageImage, QuotedPlace
from agentic_rag.answering.runs.show_page import ShowCitedPage
from agentic_rag.erasure.process_memory import ProcessMemory
from agentic_rag.ingestion.web.frontier import CrawlRequest
from agentic_rag.operations.graph.projection import DocumentBatch, GraphCursor, GraphPosition, GraphWatermark
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef


class Watched:
    """The readings that a job tells of: how many go on, and of which workspaces they were."""

    def __init__(self) -> None:
        self.going = 0
        self.workspaces: set[WorkspaceRef] = set()
        self.progress_while_reading = 0

    @contextmanager
    def reading(self, workspace: WorkspaceRef) -> Generator[None]:
        self.workspaces.add(workspace)
        self.going += 1
        try:
            yield
        finally:
            self.going -= 1


async def test_a_crawl_reads_each_page_in_a_reading_of_its_own() -> None:
    ground, watched = await CrawledWorkspace().open(), Watched()
    fetched: list[tuple[str, int]] = []

    class Noted(list[str]):
        def append(self, url: str) -> None:
            fetched.append((url, watched.going))
            super().append(url)

    class BetweenPages:
        def advance(self) -> None:
            watched.progress_while_reading += watched.going

    ground.web.requests = Noted()
    object.__setattr__(ground.crawler, "reading", watched.reading)
    ref = await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{SHELLS}/",)), "user:ada")
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "worker", timedelta(seconds=60))
    assert lease is not None
    await ground.crawler.run(lease, BetweenPages())

    pages = [(url, going) for url, going in fetched if not url.endswith("/robots.txt")]
    assert len(pages) >= 3
    assert {going for _, going in pages} == {1}
    assert (watched.workspaces, watched.going, watched.progress_while_reading) == ({ground.workspace}, 0, 0)


class Feed:
    """A workspace with two batches of changes, none of which changes the graph."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.read: list[int] = []
        self.batches = 0

    async def claim(self, *_: object) -> int:
        return 1

    async def position(self, _: WorkspaceRef) -> GraphPosition:
        return GraphPosition(2, 1)

    async def next_changes(self, _: WorkspaceRef, after: GraphCursor, __: int) -> DocumentBatch:
        self.read.append(self.watched.going)
        self.batches += 1
        return DocumentBatch((), 2, is_last=self.batches == 2)

    async def record_watermark(self, *_: object) -> None:
        self.read.append(self.watched.going)

    async def complete_job(self, *_: object) -> bool:
        self.read.append(self.watched.going)
        return True


class Writer:
    """Keeps nothing."""

    async def watermark(self, _: WorkspaceRef) -> GraphWatermark:
        return GraphWatermark(1, 1, 0)

    async def claim(self, *_: object) -> GraphWatermark:
        return GraphWatermark(1, 1, 1)

    async def set_watermark(self, *_: object) -> None:
        return


async def test_the_graph_is_filled_with_one_reading_a_batch() -> None:
    workspace, watched = WorkspaceRef(uuid4(), uuid4()), Watched()
    feed = Feed(watched)
    lease = cast("Any", SimpleNamespace(job=SimpleNamespace(workspace=workspace)))
    progress = cast("Any", SimpleNamespace(advance=lambda: None))
    sync = GraphSync(cast("Any", feed), cast("Any", Writer()), RecordingTelemetry(), reading=watched.reading)

    assert await sync.run(lease, progress)

    # Two batches are read inside, and what is written down between and after them outside.
    assert feed.read == [1, 0, 1, 0]
    assert (watched.workspaces, watched.going) == ({workspace}, 0)


class Page(ShowCitedPage):
    """A document with a page, whatever its run names."""

    async def _original_of(self, workspace: WorkspaceRef, cited: Citation) -> tuple[str, bytes]:
        return "original", b"hash"

    async def _place(self, principal: Principal, workspace: WorkspaceRef, cited: Citation, page: int) -> QuotedPlace:
        return QuotedPlace(page, "quote", "", "", is_recognised=False)


class Renderer:
    """Renders when it may, and counts how often."""

    def __init__(self) -> None:
        self.began, self.may_end, self.times = asyncio.Event(), asyncio.Event(), 0

    async def __call__(self, _: bytes, __: QuotedPlace) -> PageImage:
        self.times += 1
        self.began.set()
        await self.may_end.wait()
        return PageImage(b"png", ())


async def test_a_picture_under_way_is_waited_for_and_not_kept() -> None:
    run, memory, render = _with_pages(), ProcessMemory(), Renderer()

    async def get(*_: object) -> Run:
        return run

    async def nothing(*_: object, **__: object) -> bytes:
        return b""

    runs, access = (cast("Any", SimpleNamespace(get=get)), cast("Any", SimpleNamespace(require=nothing)))
    database, blobs = (cast("Any", SimpleNamespace(record_audit=nothing)), cast("Any", SimpleNamespace(read=nothing)))
    show = Page(runs, access, database, blobs, render, memory.reading, RecordingTelemetry())
    memory.holds(lambda _: show.drop())
    [first, *_] = run.answer.citations
    asker = Principal(run.workspace.org_id, "ada", Role.MEMBER)

    async def look() -> PageImage:
        return await show.run(asker, run.workspace, run.run_id, first.marker)

    looking = asyncio.create_task(look())
    await render.began.wait()
    dropping = asyncio.create_task(memory.drop_for_good(run.workspace, [first.document_id]))
    other = asyncio.create_task(memory.drop_for_good(run.workspace, [UUID(int=1)]))
    await other
    waits = not dropping.done()
    render.may_end.set()
    await asyncio.gather(looking, dropping)
    await look()
    await look()

    assert waits
    assert render.times == 2


def _with_pages() -> Run:
    run = answered()
    return replace(
        run, answer=replace(run.answer, citations=tuple(replace(one, page=1) for one in run.answer.citations))
    )
