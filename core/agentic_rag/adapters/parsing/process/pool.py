"""Child processes that read files, started on demand and used again: a hostile file can kill one without harm."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from typing import TypeVar

from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.sandbox import missing_walls
from agentic_rag.adapters.parsing.process.wire import LENGTHS, OUT_OF_MEMORY_STATUS, require_ready
from agentic_rag.kernel.errors import ParseFailed, Retryable

_START_SECONDS = 60.0
"""A child starts in 0.6 s; a busy machine may need much longer."""
_READ_BUFFER = 1 << 20
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


class ChildPool:
    """Processes of one module, each with these limits and arguments.

    A child is replaced after `limits.files_per_child` files and after any failure that may have harmed it. Where the
    system lacks walls, files are read all the same, and `on_missing` is told once which ones.
    """

    def __init__(
        self,
        module: str,
        limits: ParserLimits,
        arguments: Sequence[str] = (),
        *,
        on_missing: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        # -P: no module is taken from the working directory, which may be a folder of documents.
        self._command = (sys.executable, "-P", "-m", module, json.dumps(dataclasses.asdict(limits)), *arguments)
        self._limits = limits
        self._on_missing = on_missing
        self._idle: list[_Child] = []
        self._busy: set[_Child] = set()

    async def end_children(self) -> None:
        """End the children that have read files; the next file starts others. A busy one ends with its file, and is
        waited for.
        """
        busy = list(self._busy)
        for child in busy:
            child.retire()
        while self._idle:
            await self._idle.pop().end()
        await asyncio.gather(*(child.gone() for child in busy))

    async def aclose(self) -> None:
        """End all children."""
        children = [*self._idle, *self._busy]
        self._idle.clear()
        for child in children:
            await child.end()

    async def exchange(self, request: bytes, decode: Callable[[bytes, bytes], Reply], wall_seconds: float) -> Reply:
        """What a child replies to a request. Errors: those of `decode`; `ParseFailed` where the child ends or takes too
        long, `CrashedError` where a native library ended it; `Retryable` where none can be started.
        """
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
        else:
            if child.usable(self._limits):
                self._idle.append(child)
            else:
                await child.end()
        finally:
            self._busy.discard(child)
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
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
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


class CrashedError(ParseFailed):
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
        return (CrashedError if -code in _CRASHES else ParseFailed)(message, code=why)
    return ParseFailed(f"reading the file ended its process (status {code})", code="PARSE_CORRUPT")


class _Child:
    """One child process and how many files it has read."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._files = 0
        self._is_retired = False

    def usable(self, limits: ParserLimits) -> bool:
        is_fresh = self._files < limits.files_per_child and not self._is_retired
        return self._process.returncode is None and is_fresh

    def retire(self) -> None:
        """Read no further file."""
        self._is_retired = True

    async def gone(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()

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
