"""The child process that reads files: `python -m agentic_rag.adapters.parsing.child LIMITS-AS-JSON`.

Sends an empty frame when it is ready. Reads request frames from standard input and answers each on standard output
until its input ends. It limits its own
memory,
CPU time, files and processes before the first file, and refuses sockets and subprocesses.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
import warnings
from typing import Any, BinaryIO, cast

from agentic_rag.adapters.parsing.limits import ParserLimits
from agentic_rag.adapters.parsing.load import load
from agentic_rag.adapters.parsing.wire import (
    LENGTHS,
    OUT_OF_MEMORY_STATUS,
    broken_frame,
    failure_frame,
    frame,
    reading_frame,
)
from agentic_rag.domain.errors import ParseFailed

_FORBIDDEN = (
    "socket.",
    "subprocess.",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "os.system",
    "ctypes.dlopen",
)
"""Audit events (PEP 578) that no loader needs."""


def main() -> None:
    """Serve requests until standard input ends."""
    limits = ParserLimits(**json.loads(sys.argv[1]))
    replies = _private_output()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    confine(limits)
    try:
        _serve(sys.stdin.buffer, replies, limits)
    except MemoryError:
        os._exit(OUT_OF_MEMORY_STATUS)


def confine(limits: ParserLimits) -> None:
    """Limit this process for good, and refuse it sockets and subprocesses."""
    _limit(limits)
    sys.addaudithook(_refuse)


def _serve(requests: BinaryIO, replies: BinaryIO, limits: ParserLimits) -> None:
    replies.write(frame({}, b""))
    replies.flush()
    while (lengths := requests.read(LENGTHS.size)) and len(lengths) == LENGTHS.size:
        head_length, body_length = LENGTHS.unpack(lengths)
        header = cast(dict[str, Any], json.loads(requests.read(head_length)))
        content = requests.read(body_length)
        _allow_cpu(limits.cpu_seconds(body_length))
        replies.write(_reply(content, header["file_name"], header["media_type"], limits))
        replies.flush()


def _private_output() -> BinaryIO:
    """The reply stream, moved where no library's print can reach it."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return replies


def _limit(limits: ParserLimits) -> None:
    if sys.platform == "linux":
        # Elsewhere the kernel does not enforce this limit, and there is no /proc.
        with open("/proc/self/statm", encoding="ascii") as statm:
            held = int(statm.read().split()[0]) * resource.getpagesize()
        memory = held + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits.open_files, limits.open_files))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _allow_cpu(seconds: float) -> None:
    """Moves the soft limit ahead of what earlier files used; past it the kernel ends this process (SIGXCPU)."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (until if hard == resource.RLIM_INFINITY else min(until, hard), hard))


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event.startswith(_FORBIDDEN):
        raise PermissionError(f"a parser may not use {event}")


def _reply(content: bytes, file_name: str, media_type: str | None, limits: ParserLimits) -> bytes:
    try:
        return reading_frame(*load(content, file_name, media_type, limits))
    except ParseFailed as failure:
        return failure_frame(failure)
    except MemoryError:
        return failure_frame(ParseFailed("the file needs more memory than is allowed", code="PARSE_TOO_LARGE"))
    except ImportError as error:
        return broken_frame(error)
    except RecursionError:
        return failure_frame(ParseFailed("the file is nested too deeply", code="PARSE_CORRUPT"))
    except Exception as error:  # noqa: BLE001 - libraries raise anything on damaged files; each becomes a typed outcome
        return failure_frame(
            ParseFailed(f"the file is damaged ({type(error).__name__}: {error})"[:500], code="PARSE_CORRUPT")
        )


if __name__ == "__main__":
    main()
