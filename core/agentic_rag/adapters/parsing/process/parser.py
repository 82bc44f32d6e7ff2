"""`ProcessParser`: reads files in child processes that a hostile file can kill without harm."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version as version_of
from typing import TypeVar

from agentic_rag.adapters.parsing.file_types import FileKind, may_hold_pdf
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.sandbox import missing_walls
from agentic_rag.adapters.parsing.process.wire import (
    LENGTHS,
    OUT_OF_MEMORY_STATUS,
    decode_document,
    decode_image,
    frame,
    page_request,
    require_ready,
)
from agentic_rag.answering.runs.page_image import PageImage, QuotedPlace
from agentic_rag.documents.document import ParsedDocument
from agentic_rag.kernel.errors import ParseFailed, Retryable

_PARSER = "parsing"
_OWN_VERSION = 17
"""Raise it when a loader gives another text or other blocks for the same bytes."""
_START_SECONDS = 60.0
"""A child starts in 0.6 s; a busy machine may need much longer."""
_RENDER_SECONDS = 20.0
"""Somebody waits for the page; one that takes longer is shown as text."""
_READ_BUFFER = 1 << 20
_MODULE = "agentic_rag.adapters.parsing.process.child"
_STOPPED_FROM_OUTSIDE = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_FAILURE_BY_SIGNAL = {
    signal.SIGXCPU: ("PARSE_TIMEOUT", "reading the file took too much CPU time"),
    # The kernel's out-of-memory killer, and native libraries that abort when an allocation fails.
    signal.SIGKILL: ("PARSE_TOO_LARGE", "reading the file took too much memory"),
    signal.SIGABRT: ("PARSE_TOO_LARGE", "reading the file took too much memory"),
}
_CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP)
"""How native libraries end: the file may still be read without them."""


Reply = TypeVar("Reply")


class ProcessParser:
    """Implements `documents.ports.Parser` with up to `children` processes, started on demand and used again.

    A child is replaced after `limits.files_per_child` files and after any failure that may have harmed it. Where the
    system lacks walls, files are read all the same, and `on_missing` is told once which ones.
    """

    def __init__(
        self,
        limits: ParserLimits | None = None,
        *,
        children: int = 2,
        on_missing: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        self._limits = limits or ParserLimits()
        self._on_missing = on_missing
        self._free = asyncio.Semaphore(children)
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()
        self._version = "/".join(
            (
                f"{_PARSER}-{_OWN_VERSION}",
                *(f"{name}-{version_of(name)}" for kind in FileKind for name in kind.value.libraries),
            )
        )

    @property
    def version(self) -> str:
        """Own version and those of the libraries that make the text."""
        return self._version

    async def parse(
        self, content: bytes, file_name: str, media_type: str | None, *, is_web_page: bool = False
    ) -> ParsedDocument:
        """Parse `content`. Raises ParseFailed when the file cannot be read, Retryable when no child can be started."""
        if len(content) > self._limits.content_bytes:
            raise ParseFailed(
                f"the file has {len(content)} bytes; {self._limits.content_bytes} can be read", code="PARSE_TOO_LARGE"
            )
        asked = {"file_name": file_name, "media_type": media_type, "is_web_page": is_web_page}
        async with self._free:
            try:
                return await self._read(content, {**asked, "careful": False})
            except _CrashedError:
                if not may_hold_pdf(content, file_name, media_type):
                    raise
                # pypdf reads what ends PDFium's process (forms that draw themselves, say), also inside other files.
                return await self._read(content, {**asked, "careful": True})

    async def aclose(self) -> None:
        """End all children."""
        children = [*self._idle, *self._busy]
        self._idle.clear()
        for child in children:
            await child.end()

    async def render(self, content: bytes, place: QuotedPlace) -> PageImage:
        """A page of a PDF with a quote marked; implements `answering.runs.page_image.RenderPage`.

        Errors: `ParseFailed`, `Retryable`.
        """
        if len(content) > self._limits.content_bytes:
            raise ParseFailed("the file is too large to be drawn", code="PARSE_TOO_LARGE")
        async with self._free:
            return await self._exchange(page_request(place, content), decode_image, _RENDER_SECONDS)

    async def _read(self, content: bytes, asked: Mapping[str, object]) -> ParsedDocument:
        request = frame(asked, content)

        def decode(head: bytes, body: bytes) -> ParsedDocument:
            return decode_document(head, body, _PARSER, self._version)

        return await self._exchange(request, decode, self._limits.wall_seconds)

    async def _exchange(self, request: bytes, decode: Callable[[bytes, bytes], Reply], wall_seconds: float) -> Reply:
        child = await self._child()
        self._busy.add(child)
        try:
            head, body = await self._ask(child, request, wall_seconds)
            reply = decode(head, body)
        except ParseFailed as failure:
            if failure.code in ("PARSE_TOO_LARGE", "PARSE_TIMEOUT") or not child.usable(self._limits):
                await child.end()
            else:
                self._idle.append(child)
            raise
        except BaseException:
            await child.end()
            raise
        finally:
            self._busy.discard(child)
        if child.usable(self._limits):
            self._idle.append(child)
        else:
            await child.end()
        return reply

    async def _ask(self, child: _Child, request: bytes, wall: float) -> tuple[bytes, bytes]:
        try:
            async with asyncio.timeout(wall):
                return await child.ask(request)
        except TimeoutError as error:
            raise ParseFailed(f"reading the file took longer than {wall:.0f} s", code="PARSE_TIMEOUT") from error
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise _death(await child.end(kill=False)) from error

    async def _child(self) -> _Child:
        while self._idle:
            child = self._idle.pop()
            if child.usable(self._limits):
                return child
            await child.end()
        return await self._start()

    async def _start(self) -> _Child:
        arguments = [sys.executable, "-m", _MODULE, json.dumps(dataclasses.asdict(self._limits))]
        try:
            process = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                limit=_READ_BUFFER,
                # Nothing of the parent's environment: no secret is within a hostile file's reach.
                env={"PYTHONPATH": os.pathsep.join(_import_path(sys.path)), "PYTHONUTF8": "1"},
                # A Ctrl-C or SIGTERM for the worker's group must not fail the document that is being read.
                start_new_session=True,
            )
        except OSError as error:
            raise Retryable(f"no process could be started to read the file: {error}") from error
        child = _Child(process)
        try:
            async with asyncio.timeout(_START_SECONDS):
                self._look_at(await child.ready())
        except (TimeoutError, asyncio.IncompleteReadError) as error:
            status = await child.end()
            raise Retryable(f"the process that reads files did not start (status {status})") from error
        except BaseException:
            await child.end()
            raise
        return child

    def _look_at(self, walls: Sequence[str]) -> None:
        tell, missing = self._on_missing, missing_walls(walls)
        if tell is not None and missing:
            self._on_missing = None
            tell(missing)


class _CrashedError(ParseFailed):
    """A native library ended the process that was reading the file."""


def _import_path(path: Sequence[str]) -> list[str]:
    return [entry for entry in path if entry and os.path.exists(entry)]


def _death(code: int) -> ParseFailed | Retryable:
    """What the exit status of a child says about the file that it was reading."""
    if code < 0 and -code in _STOPPED_FROM_OUTSIDE:
        return Retryable("the process that was reading the file was stopped")
    if code == OUT_OF_MEMORY_STATUS:
        code = -signal.SIGKILL
    if code < 0:
        known = _FAILURE_BY_SIGNAL.get(signal.Signals(-code))
        why, message = known or ("PARSE_CORRUPT", f"reading the file ended its process (status {code})")
        return (_CrashedError if -code in _CRASHES else ParseFailed)(message, code=why)
    return ParseFailed(f"reading the file ended its process (status {code})", code="PARSE_CORRUPT")


class _Child:
    """One child process and how many files it has read."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._files = 0

    def usable(self, limits: ParserLimits) -> bool:
        return self._process.returncode is None and self._files < limits.files_per_child

    async def ready(self) -> tuple[str, ...]:
        """Waits for the frame that a child sends once its walls stand, and names them."""
        head, _ = await self._reply()
        return require_ready(head)

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """Send a request and read the reply (header, body)."""
        stdin = self._process.stdin
        if stdin is None:
            raise ConnectionError("the child has no input")
        self._files += 1
        stdin.write(request)
        await stdin.drain()
        return await self._reply()

    async def _reply(self) -> tuple[bytes, bytes]:
        stdout = self._process.stdout
        if stdout is None:
            raise ConnectionError("the child has no output")
        head, body = LENGTHS.unpack(await stdout.readexactly(LENGTHS.size))
        return await stdout.readexactly(head), await stdout.readexactly(body)

    async def end(self, *, kill: bool = True) -> int:
        """Ends the process and gives its exit status, negative for a signal."""
        if kill and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        return await self._process.wait()
