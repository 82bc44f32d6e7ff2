"""Scans take minutes: meanwhile small texts of the same worker become READY, and no scan is lost or blamed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.inline_parser import InlineParser
from tests.integration.jobs.data_plane import DataPlane, until

from agentic_rag.documents.document import DocumentStatus, ParsedDocument
from agentic_rag.documents.unread_pages import Recognising
from agentic_rag.ingestion.ingest import LARGE, ORIGINALS_AT_ONCE
from agentic_rag.jobs import scan_turns
from agentic_rag.jobs.job import JobState

pytestmark = [pytest.mark.integration, pytest.mark.network]

SCANS = 5


class ParserOfScans(InlineParser):
    """Takes files named scan for pictures, and recognises one when the test lets it."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = asyncio.Event()
        self.reached = asyncio.Event()
        self.asked = 0

    async def parse(
        self,
        content: bytes,
        file_name: str,
        media_type: str | None,
        *,
        is_web_page: bool = False,
        charset: str = "",
        recognising: Recognising | None = None,
    ) -> ParsedDocument:
        read = await super().parse(content.rstrip(), file_name, media_type, is_web_page=is_web_page)
        if "scan" not in file_name or recognising is None:
            return read
        self.asked += 1
        async with recognising() as page_done:
            self.reached.set()
            await self.go_on.wait()
            page_done()
        return replace(read, recognised_pages=(1,))


async def test_texts_small_and_large_become_ready_while_scans_fill_every_slot(
    plane: DataPlane, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_turns, "SPACING_SECONDS", 0.02)
    parser = ParserOfScans()
    plane.__dict__["parser"] = parser
    # Of originals as large as the first scan one is read at a time.
    for n in range(SCANS):
        (folder / f"a scan {n}.txt").write_text(f"Scan {n}." + " " * (ORIGINALS_AT_ONCE if n == 0 else 0))
    await plane.sync(folder)
    async with plane.worker(slots=2):
        await until(parser.reached.is_set, "a scan is being read")
        await until(lambda: parser.asked == SCANS, "others ask for their turn")
        for n in range(3):
            (folder / f"text {n}.md").write_text(f"Water flows in pipe {n}.")
        (folder / "text large.txt").write_text("Water flows in the main." + " " * LARGE)
        await plane.sync(folder)

        await until(lambda: _are(plane, "text", DocumentStatus.READY, 4), "texts are ready")

        assert await _are(plane, "scan", DocumentStatus.READY, 0)
        assert await _are(plane, "scan", DocumentStatus.FAILED, 0)
        parser.go_on.set()
        await until(lambda: _are(plane, "scan", DocumentStatus.READY, SCANS), "scans are ready")
        await plane.until_idle()

    assert {(job.state, job.attempts) for job in await plane.jobs()} == {(JobState.DONE, 1)}


async def _are(plane: DataPlane, named: str, status: DocumentStatus, number: int) -> bool:
    names = [f"a scan {n}.txt" for n in range(SCANS)] if named == "scan" else [
        *(f"text {n}.md" for n in range(3)), "text large.txt",
    ]  # fmt: skip
    found = [await plane.document(name) for name in names]
    return sum(one is not None and one.status is status for one in found) == number
