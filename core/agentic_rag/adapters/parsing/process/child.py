"""The child process that reads files: `python -m agentic_rag.adapters.parsing.process.child LIMITS-AS-JSON`.

Sends a frame that names its walls when it is ready. Reads request frames from standard input and answers each on
standard output until its input ends. Before the first file it imports all it will ever need, limits its own memory and
CPU time, and gives up files, sockets and processes for good (`sandbox`).
"""

from __future__ import annotations

import encodings
import importlib
import json
import logging
import os
import pkgutil
import resource
import sys
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO, cast

from agentic_rag.adapters.parsing.dispatch import failure_of, load
from agentic_rag.adapters.parsing.file_types import FileKind
from agentic_rag.adapters.parsing.pdf.render import render
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.sandbox import raise_walls
from agentic_rag.adapters.parsing.process.wire import (
    LENGTHS,
    OUT_OF_MEMORY_STATUS,
    broken_frame,
    failure_frame,
    frame,
    image_frame,
    place_of,
    reading_frame,
    recognised_of,
)
from agentic_rag.adapters.parsing.scans.recognised_pages import read_pictures
from agentic_rag.answering.runs.page_image import QuotedPlace
from agentic_rag.kernel.errors import ParseFailed

_FORBIDDEN = (
    "open",
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "ctypes.dlopen",
)
"""Audit events (PEP 578) that no loader needs: the last line where the operating system has no wall."""
_LEAST_MEMORY = 16 << 20
"""Bytes left to a file whatever the interpreter itself already holds."""
_PLATFORM_CODECS = frozenset({"mbcs", "oem"})
"""Windows only."""
_IMPORTED_WHEN_USED = ("subprocess", "xml.sax.expatreader", "pypdf.filters", "pypdf._crypt_providers._fallback")
"""Modules that the libraries, or the tables of their codecs, import at first use."""


Answer = Callable[[bytes, dict[str, Any], ParserLimits, "CpuLimit"], bytes]
"""The reply to a request of a body and a header."""


def main() -> None:
    """Serve requests until standard input ends."""
    run(_ready)


def run(ready: Callable[[], Answer]) -> None:
    """Serve requests with what `ready` gives until standard input ends. `ready` is called while files may be read.

    Errors: `ImportError` and `ParseFailed` of `ready` are told as a broken installation.
    """
    limits = ParserLimits(**json.loads(sys.argv[1]))
    replies = _private_output()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    try:
        answer = ready()
    except (ImportError, ParseFailed) as error:
        replies.write(broken_frame(error))
        replies.flush()
        return
    walls = confine(limits)
    try:
        _serve(sys.stdin.buffer, replies, limits, walls, answer)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_STATUS)


def confine(limits: ParserLimits) -> tuple[str, ...]:
    """Limit this process's memory, and refuse it files, sockets and processes for good. Gives the walls that stand."""
    _limit_memory(limits)
    walls = raise_walls()
    sys.addaudithook(_refuse)
    return (*walls, "audit")


def _serve(requests: BinaryIO, replies: BinaryIO, limits: ParserLimits, walls: tuple[str, ...], answer: Answer) -> None:
    replies.write(frame({"walls": walls}, b""))
    replies.flush()
    while (lengths := requests.read(LENGTHS.size)) and len(lengths) == LENGTHS.size:
        head_length, body_length = LENGTHS.unpack(lengths)
        header = cast(dict[str, Any], json.loads(requests.read(head_length)))
        content = requests.read(body_length)
        allowance = CpuLimit(limits, body_length)
        replies.write(answered(answer, content, header, limits, allowance))
        replies.flush()


def answered(
    answer: Answer, content: bytes, header: dict[str, Any], limits: ParserLimits, allowance: CpuLimit
) -> bytes:
    """The reply, or that which says why there is none."""
    try:
        return answer(content, header, limits, allowance)
    except MemoryError:
        return failure_frame(ParseFailed("the file needs more memory than is allowed", code="PARSE_TOO_LARGE"))
    except ImportError as error:
        return broken_frame(error)
    except Exception as error:  # noqa: BLE001 - libraries raise anything on damaged files; each becomes a typed outcome
        return failure_frame(failure_of(error))


def _private_output() -> BinaryIO:
    """The reply stream, moved where no library's print can reach it."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _limit_memory(limits: ParserLimits) -> None:
    """Bounds what is resident: of the address space (which holds libraries too) only as much more as memory is left."""
    if sys.platform != "linux":
        # Elsewhere the kernel does not enforce this limit, and there is no /proc.
        return
    with open("/proc/self/statm", encoding="ascii") as statm:
        space, resident = (int(pages) * resource.getpagesize() for pages in statm.read().split()[:2])
    memory = space + max(limits.memory_bytes - resident, _LEAST_MEMORY)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a parser may not use {event}")


def reply(content: bytes, header: dict[str, Any], limits: ParserLimits, allowance: CpuLimit) -> bytes:
    """The page or the text that a request asks for. Errors: those of `render`, `read_pictures` and `load`."""
    if "page" in header:
        return image_frame(render(content, place_of(header)))
    recognised = recognised_of(header)
    if "pictures" in header:
        return reading_frame(header["pictures"], read_pictures(recognised or {}))
    name, media_type, careful = header["file_name"], header["media_type"], header["careful"]
    read = load(
        content,
        name,
        media_type,
        limits,
        allowance.page_read,
        careful=careful,
        is_web_page=header["is_web_page"],
        charset=header["charset"],
        recognised=recognised,
    )
    return reading_frame(read[0].value.media_type, read[1])


def _ready() -> Answer:
    preload()
    return reply


def preload() -> None:
    """Read the sample of every format. Errors: `ImportError` and `ParseFailed` when this installation cannot."""
    for name in _IMPORTED_WHEN_USED:
        importlib.import_module(name)
    for codec in pkgutil.iter_modules(encodings.__path__):
        if codec.name not in _PLATFORM_CODECS:
            importlib.import_module(f"encodings.{codec.name}")
    for kind in FileKind:
        load(kind.sample(), f"a.{kind.value.extensions[0]}", None, ParserLimits())
    # PDFium looks for the fonts of the machine when it draws its first page.
    render(FileKind.PDF.sample(), QuotedPlace(1, "warm"))


class CpuLimit:
    """Moves the soft limit ahead of what earlier files used; past it the kernel ends this process (SIGXCPU)."""

    def __init__(self, limits: ParserLimits, content_length: int) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        start = used.ru_utime + used.ru_stime
        self._per_page = limits.cpu_seconds_per_page
        self._until = start + limits.cpu_seconds(content_length)
        self._latest = start + limits.most_cpu_seconds
        self._set = 0
        self._apply()

    def page_read(self) -> None:
        """A page gave text: it has earned time for the next one, up to the cap."""
        self._until = min(self._until + self._per_page, self._latest)
        self._apply()

    def _apply(self) -> None:
        # The kernel counts whole seconds.
        until = int(self._until) + 1
        if until == self._set:
            return
        self._set = until
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (until if hard == resource.RLIM_INFINITY else min(until, hard), hard))


if __name__ == "__main__":
    main()
