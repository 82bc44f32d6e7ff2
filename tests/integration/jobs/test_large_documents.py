"""Large documents on the real path: blob, parsing child, chunks, vectors, publish; in bounded memory and time."""

from __future__ import annotations

import asyncio
import contextlib
import io
import random
import resource
import time
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.integration.jobs.data_plane import DataPlane, until

from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.documents.document import Document, DocumentStatus

WORDS = (
    "harbour", "office", "letter", "turbine", "policy", "agreement", "section", "payment", "quarter", "result",
    "liability", "schedule", "the", "of", "and", "to", "in", "for", "with", "by", "on", "from", "annual", "winch",
    "engineer", "watch", "master", "log", "visitor", "gate", "crane", "wind", "hook", "supplier", "inspection",
)  # fmt: skip
LINES = 45
MIB = 1 << 20


def report(pages: int) -> bytes:
    """A PDF of dense pages, about 3.9 kB of text each; every page names itself."""
    chosen = random.Random(7)
    made = io.BytesIO()
    canvas = Canvas(made, pageCompression=1, invariant=1)
    for page in range(1, pages + 1):
        text = canvas.beginText(50, 790)
        text.setFont("Helvetica", 10)
        text.textLine(f"Leaf number {page} of the register.")
        for _ in range(LINES):
            text.textLine(" ".join(chosen.choices(WORDS, k=13)) + ".")
        canvas.drawText(text)
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def peaks_of_children() -> list[int]:
    """The most that each child of this process ever had resident, in bytes. A thread that ends meanwhile has none."""
    peaks: list[int] = []
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            for pid in (task / "children").read_text(encoding="ascii").split():
                status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
                peaks += [int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM")]
    return peaks


async def ready(plane: DataPlane, path: str, seconds: float) -> Document:
    async def is_done() -> bool:
        document = await plane.document(path)
        return document is not None and document.status in (DocumentStatus.READY, DocumentStatus.FAILED)

    await until(is_done, f"{path} done", seconds)
    document = await plane.document(path)
    assert document is not None
    assert document.status is DocumentStatus.READY, document.fault
    return document


@pytest.mark.timeout(400)
@pytest.mark.parametrize("pages", [250, pytest.param(2_000, marks=pytest.mark.nightly)])
async def test_a_large_pdf_is_ingested_in_bounded_memory(plane: DataPlane, folder: Path, pages: int) -> None:
    plane.embedder = type(plane.embedder)(batch_size=100)
    plane.parser = ProcessParser(children=1)
    content = report(pages)
    (folder / "register.pdf").write_bytes(content)
    del content
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.monotonic()
    await plane.sync(folder)

    async with plane.worker():
        document = await ready(plane, "register.pdf", 350)
        peaks = peaks_of_children()
    took = time.monotonic() - began
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before

    texts = await plane.chunk_texts("register.pdf")
    print(f"{pages} pages, {len(texts)} chunks: {took:.1f} s, {pages / took:.0f} pages/s")
    print(f"child at most {max(peaks) // MIB} MiB, own growth {grown // MIB} MiB")
    assert document.chunk_count == document.chunks_done == len(texts) >= 500
    assert "Leaf number 1 of" in texts[0]
    assert any(f"Leaf number {pages} of" in text for text in texts[-4:])
    assert max(peaks) < 512 * MIB
    assert grown < 400 * MIB


async def test_the_total_is_known_before_the_first_vector_is_paid_for(plane: DataPlane, folder: Path) -> None:
    hold = plane.hold_embedder()
    (folder / "register.pdf").write_bytes(report(20))
    await plane.sync(folder)

    async with plane.worker():
        async with asyncio.timeout(30):
            await hold.reached.wait()
        early = await plane.document("register.pdf")
        hold.go_on.set()
        plane.embedder.before = None
        document = await ready(plane, "register.pdf", 60)

    assert early is not None
    assert (early.status, early.chunks_done) == (DocumentStatus.PROCESSING, 0)
    assert early.chunk_count == document.chunk_count > 20
