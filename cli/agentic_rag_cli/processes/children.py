"""Child processes in one terminal: prefixes each line of output with a name and stops all children in order."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, Never, Self, TypeVar

from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.settings import child_environment

T = TypeVar("T")

TAIL_LINES = 30
"""Log lines that are shown when a child dies."""

_PIECE = 64 * 1024


class ChildDied(DependencyUnavailable):
    """A required process ended unexpectedly; the message contains the tail of its log."""

    code = "CHILD_DIED"


class Child:
    """A running `rag` process and its last lines of output."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, emit: Callable[[str, str], None]) -> None:
        self.name = name
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._process = process
        self._emit = emit
        self._reading = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    async def wait(self) -> int:
        """Wait for the process and the rest of its output; returns its exit code."""
        code = await self._process.wait()
        await self._reading
        return code

    async def stop(self, grace_seconds: float) -> None:
        """Send SIGTERM, then SIGKILL after `grace_seconds`."""
        if self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), grace_seconds)
            except TimeoutError:
                self._process.kill()
        await self.wait()

    async def _read(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - we asked for the pipe
        async for line in _lines(self._process.stdout):
            self.tail.append(line)
            self._emit(self.name, line)


class Children:
    """`rag` processes that live as long as the block and stop together at its end.

    A child watches its standard input, a pipe from this process: when this process dies in any way, the child stops
    too.
    """

    def __init__(self, emit: Callable[[str, str], None], grace_seconds: float) -> None:
        self._emit = emit
        self._grace_seconds = grace_seconds
        self._children: list[Child] = []

    async def start(
        self, name: str, arguments: Sequence[str], variables: Mapping[str, str], descriptors: Sequence[int] = ()
    ) -> Child:
        """Start `rag ARGUMENTS --with-parent` in this process's environment plus `variables`, with the descriptors."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            # -P: no module is taken from the working directory, which may be a folder of documents.
            *("-P", "-m", "agentic_rag_cli", *arguments, "--with-parent"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=child_environment({"PYTHONUNBUFFERED": "1", **variables}),
            pass_fds=descriptors,
            start_new_session=True,  # Ctrl-C is for us alone; we then stop the children in order.
        )
        child = Child(name, process, self._emit)
        self._children.append(child)
        return child

    def forget(self, child: Child) -> None:
        """Remove a child that ended and is replaced."""
        self._children.remove(child)

    async def guard(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of `work`, which is cancelled when a child ends. Errors: `ChildDied`, those of `work`."""
        return await race(work, *map(_until_death, self._children))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(child.stop(self._grace_seconds) for child in self._children))


async def race(*works: Coroutine[Any, Any, T]) -> T:
    """The result of the work that ends first; the others are cancelled. Of two that end at once the first counts."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task in done).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def silent(name: str, line: str) -> None:
    """Discards the output of a child; its tail is still shown when it dies."""


def death(child: Child, code: int) -> ChildDied:
    """The error for a child that ended, with its last lines of output."""
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    tail = "\n".join(f"  {line}" for line in child.tail) or "  (it wrote nothing)"
    return ChildDied(f"The {child.name} {how}. Its last lines:\n{tail}", dependency=child.name)


async def _until_death(child: Child) -> Never:
    raise death(child, await child.wait())


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Decoded lines of any length, including a last line without a newline."""
    rest = b""
    while piece := await stream.read(_PIECE):
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace").rstrip("\r")
    if rest:
        yield rest.decode("utf-8", "replace")


def stop_with_parent() -> None:
    """Send SIGTERM to this process when its standard input closes, which means that its parent is gone."""

    def watch() -> None:
        with suppress(OSError):
            while os.read(0, 1024):
                pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()


async def wait_for_signal() -> None:
    """Return at the first SIGINT or SIGTERM."""
    loop = asyncio.get_running_loop()
    signalled = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, signalled.set)
    try:
        await signalled.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
