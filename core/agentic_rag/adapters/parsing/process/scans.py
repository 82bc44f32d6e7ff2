"""`ScanReader`: has words recognised on pages that are pictures, one file at a time, each page within limits."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from time import monotonic

from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.pool import ChildPool
from agentic_rag.adapters.parsing.process.wire import (
    decode_count,
    decode_image,
    decode_recognised,
    frame,
    page_request,
)
from agentic_rag.adapters.parsing.scans.recognised import FlatPage
from agentic_rag.answering.runs.page_image import PageImage, QuotedPlace
from agentic_rag.kernel.concurrency import WeightedSemaphore
from agentic_rag.kernel.errors import Misconfigured, ParseFailed

SCAN_LIMITS = ParserLimits(
    memory_bytes=768 << 20,
    cpu_seconds_per_megabyte=60.0,
    most_cpu_seconds=60.0,
    wall_over_most_cpu=4.0,
)
"""Of one page: a dense one takes 3 to 5 s and 300 MB, four times the time where it is turned."""
_MODULE = "agentic_rag.adapters.parsing.process.scan_child"
_RENDER_SECONDS = 30.0
"""Somebody waits for the page."""
_DATA = (Path("/usr/share/tesseract-ocr/5/tessdata"), Path("/usr/share/tessdata"))
"""Where Debian and others put the data of languages."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """`languages` as Tesseract names them (`eng+deu`), and the directory of their data."""

    languages: str
    data: Path
    most_pages: int = 300
    """Of one file: at 4 s a page 20 minutes, in which no other scan of this process is read (`jobs.scan_turns`)."""
    most_seconds: float = 2_400.0
    """Of one file. Pages for which no time is left stay unread, and are told; the job's own limit is an hour."""


def scan_options(languages: str) -> ScanOptions:
    """The options for these languages. Errors: `Misconfigured` where the extra is missing, or data of a language."""
    if find_spec("tesserocr") is None or find_spec("PIL") is None:
        raise Misconfigured("AGENTIC_RAG_PARSER asks for ocr, but the extra is not installed: agentic-rag[ocr]")
    wanted = languages.split("+")
    for place in (Path(sysconfig.get_path("data"), "share", "tessdata"), *_DATA):
        if all((place / f"{one}.traineddata").is_file() for one in wanted):
            return ScanOptions(languages, place)
    raise Misconfigured(
        f"AGENTIC_RAG_PARSER=ocr={languages}: no directory has the data of all these languages; the extra brings eng,"
        " deu and jpn, Debian's packages tesseract-ocr-LANGUAGE bring the others"
    )


@dataclass(slots=True)
class ScanReader:
    """Has one child, which ends with the file it works for: nothing of the engine stays in memory."""

    options: ScanOptions
    limits: ParserLimits = SCAN_LIMITS
    on_missing: Callable[[Sequence[str]], None] | None = None
    module: str = _MODULE
    _lane: WeightedSemaphore = field(init=False)
    _pool: ChildPool = field(init=False)

    def __post_init__(self) -> None:
        self._lane = WeightedSemaphore(1)
        arguments = (self.options.languages, str(self.options.data))
        self._pool = ChildPool(self.module, self.limits, arguments, on_missing=self.on_missing)

    @property
    def version(self) -> str:
        """The engine's version and languages, which make the text."""
        return f"tesserocr-{version_of('tesserocr')}-{self.options.languages}"

    async def read_pages(
        self, content: bytes, numbers: Sequence[int], page_done: Callable[[], None]
    ) -> Mapping[int, FlatPage | None]:
        """What is recognised on pages of a PDF, from 1; None for a page on which it failed, or had no time left.
        `page_done` is called for every page, and while another file is being read.

        Errors: `ParseFailed` code PARSE_TOO_MANY_SCANS; `Retryable` where no child can be started.
        """
        async with self._lane.acquire(1, page_done):
            try:
                return await self._read(content, numbers, page_done)
            finally:
                await self._pool.aclose()

    async def read_pictures(self, content: bytes, page_done: Callable[[], None]) -> Mapping[int, FlatPage | None]:
        """The same for every picture of a picture file. Errors: also those of a damaged file."""
        async with self._lane.acquire(1, page_done):
            try:
                request = frame({"count": True}, content)
                count = await self._pool.exchange(request, decode_count, self.limits.wall_seconds)
                return await self._read(content, range(1, count + 1), page_done, is_all=True)
            finally:
                await self._pool.aclose()

    async def render(self, content: bytes, place: QuotedPlace) -> PageImage:
        """A page with a quote marked in it; without marks where finding it takes too long. Errors: `ParseFailed`,
        `Retryable`.
        """
        async with self._lane.acquire(1, lambda: None):
            try:
                return await self._pool.exchange(page_request(place, content), decode_image, _RENDER_SECONDS)
            except ParseFailed as failure:
                if failure.code != "PARSE_TIMEOUT":
                    raise
                request = frame({"picture": place.page}, content)
                return await self._pool.exchange(request, decode_image, _RENDER_SECONDS)
            finally:
                await self._pool.aclose()

    async def end_children(self) -> None:
        """As of `ProcessParser`."""
        await self._pool.end_children()

    async def aclose(self) -> None:
        """End the child."""
        await self._pool.aclose()

    async def _read(
        self, content: bytes, numbers: Sequence[int], page_done: Callable[[], None], *, is_all: bool = False
    ) -> Mapping[int, FlatPage | None]:
        """`is_all`: the file has no other pages, so that a failure on all of them is the file's."""
        if len(numbers) > self.options.most_pages:
            raise ParseFailed(
                f"{len(numbers)} pages of the file are pictures; words are recognised on {self.options.most_pages} at"
                " most: split the file, or run text recognition over it first",
                code="PARSE_TOO_MANY_SCANS",
            )
        until = monotonic() + self.options.most_seconds
        pages: dict[int, FlatPage | None] = dict.fromkeys(numbers)
        failure: ParseFailed | None = None
        for number in numbers:
            if monotonic() > until:
                break
            try:
                pages[number] = await self._read_page(content, number)
            except ParseFailed as error:
                failure = failure or error
            page_done()
        if is_all and failure is not None and not any(pages.values()):
            raise failure
        return pages

    async def _read_page(self, content: bytes, number: int) -> FlatPage:
        request = frame({"recognise": number}, content)
        return await self._pool.exchange(request, decode_recognised, self.limits.wall_seconds)
