"""`ProcessParser`: reads files in child processes that a hostile file can kill without harm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version as version_of

from agentic_rag.adapters.parsing.file_types import FileKind, kind_by_name, may_hold_pdf
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.pool import ChildPool, CrashedError
from agentic_rag.adapters.parsing.process.scans import ScanReader
from agentic_rag.adapters.parsing.process.wire import decode_document, decode_image, frame, page_request
from agentic_rag.adapters.parsing.scans.picture_types import picture_type
from agentic_rag.adapters.parsing.scans.recognised_pages import DrawnPages
from agentic_rag.answering.runs.page_image import PageImage, QuotedPlace
from agentic_rag.documents.document import ParsedDocument
from agentic_rag.documents.unread_pages import Recognising
from agentic_rag.kernel.errors import ParseFailed

_PARSER = "parsing"
_OWN_VERSION = 31
"""Raise it when a loader gives another text or other blocks for the same bytes."""
_RENDER_SECONDS = 20.0
"""Somebody waits for the page; one that takes longer is shown as text."""
_MODULE = "agentic_rag.adapters.parsing.process.child"


@cache
def _libraries() -> tuple[str, ...]:
    """Names and versions of the libraries; to find them reads the metadata of a dozen packages, which takes 5 ms."""
    return tuple(f"{name}-{version_of(name)}" for kind in FileKind for name in kind.value.libraries)


class ProcessParser:
    """Implements `documents.ports.Parser` with up to `children` processes, started on demand and used again. `scans`
    has words recognised on pages that are pictures; without it such pages are told as unread.
    """

    def __init__(
        self,
        limits: ParserLimits | None = None,
        *,
        children: int = 2,
        on_missing: Callable[[Sequence[str]], None] | None = None,
        scans: ScanReader | None = None,
    ) -> None:
        self._limits = limits or ParserLimits()
        self._free = asyncio.Semaphore(children)
        self._pool = ChildPool(_MODULE, self._limits, on_missing=on_missing)
        self._scans = scans
        engine = () if scans is None else (scans.version,)
        self._version = "/".join((f"{_PARSER}-{_OWN_VERSION}", *_libraries(), *engine))

    @property
    def version(self) -> str:
        """Own version and those of the libraries that make the text."""
        return self._version

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
        """Parse `content`. Raises ParseFailed when the file cannot be read, Retryable when no child can be started."""
        self._require_size(content)
        asked = {"file_name": file_name, "media_type": media_type, "is_web_page": is_web_page, "charset": charset}
        if self._scans is None or recognising is None:
            return await self._read(content, asked)
        picture = picture_type(content)
        if picture is not None and kind_by_name(file_name, media_type) is None:
            async with recognising() as page_done:
                pages = await self._scans.read_pictures(content, page_done)
            return await self._read(b"", {"pictures": picture, "recognised": pages})
        try:
            return await self._read(content, {**asked, "recognised": {}})
        except DrawnPages as drawn:
            numbers = drawn.numbers
        try:
            async with recognising() as page_done:
                pages = await self._scans.read_pages(content, numbers, page_done)
        except ParseFailed as refusal:
            return await self._read_without(content, asked, refusal)
        return await self._read(content, {**asked, "recognised": pages})

    async def end_children(self) -> None:
        """As of `ChildPool`."""
        await self._pool.end_children()
        if self._scans is not None:
            await self._scans.end_children()

    async def aclose(self) -> None:
        """End all children."""
        await self._pool.aclose()
        if self._scans is not None:
            await self._scans.aclose()

    async def render(self, content: bytes, place: QuotedPlace) -> PageImage:
        """A page of a PDF or a picture with a quote marked; implements `answering.runs.page_image.RenderPage`.

        Errors: `ParseFailed`, `Retryable`.
        """
        self._require_size(content)
        if self._scans is not None and (place.is_recognised or picture_type(content) is not None):
            return await self._scans.render(content, place)
        async with self._free:
            return await self._pool.exchange(page_request(place, content), decode_image, _RENDER_SECONDS)

    def _require_size(self, content: bytes) -> None:
        if len(content) > self._limits.content_bytes:
            raise ParseFailed(
                f"the file has {len(content)} bytes; {self._limits.content_bytes} can be read", code="PARSE_TOO_LARGE"
            )

    async def _read_without(self, content: bytes, asked: Mapping[str, object], refusal: ParseFailed) -> ParsedDocument:
        """The pages that have words of their own. Errors: `refusal` where none has."""
        try:
            return await self._read(content, asked)
        except ParseFailed:
            raise refusal from None

    async def _read(self, content: bytes, asked: Mapping[str, object]) -> ParsedDocument:
        """A file's text, read again without PDFium where that ended its process: pypdf reads what does (forms that draw
        themselves, say), also inside other files.
        """
        async with self._free:
            try:
                return await self._ask(content, {**asked, "careful": False})
            except CrashedError:
                if "pictures" in asked or not _may_hold_pdf(content, asked):
                    raise
                return await self._ask(content, {**asked, "careful": True})

    async def _ask(self, content: bytes, asked: Mapping[str, object]) -> ParsedDocument:
        def decode(head: bytes, body: bytes) -> ParsedDocument:
            return decode_document(head, body, _PARSER, self._version)

        return await self._pool.exchange(frame(asked, content), decode, self._limits.wall_seconds)


def _may_hold_pdf(content: bytes, asked: Mapping[str, object]) -> bool:
    media_type = asked["media_type"]
    return may_hold_pdf(content, str(asked["file_name"]), None if media_type is None else str(media_type))
