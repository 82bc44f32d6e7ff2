"""Takes the port of a server, and gives it up without losing a connection."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import select
import socket
import struct
import sys
from contextlib import suppress

from agentic_rag.kernel.errors import Misconfigured

_SO_ATTACH_FILTER = 26
"""Linux, `asm-generic/socket.h`; Python's `socket` has no name for it."""

_NO_NEW_CONNECTIONS = b"".join(
    struct.pack("HBBI", *instruction)
    for instruction in (
        (0x30, 0, 0, 13),  # Load the byte of the TCP header that has its flags.
        (0x54, 0, 0, 0x12),  # Keep SYN and ACK.
        (0x15, 0, 1, 0x02),  # SYN alone begins a connection:
        (0x06, 0, 0, 0),  # drop it;
        (0x06, 0, 0, 0xFFFFFFFF),  # let all else through.
    )
)
"""A filter of packets (classic BPF, Linux `networking/filter.rst`)."""

_MOST_TURNS = 4096
"""Turns of the loop that a full backlog takes at one connection a turn, twice."""


def listen(host: str, port: int) -> socket.socket:
    """Bind the port before anything else starts. Errors: `Misconfigured` codes PORT_IN_USE, PORT_FORBIDDEN,
    HOST_UNKNOWN.
    """
    where = f"{host}:{port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise Misconfigured(
            f"AGENTIC_RAG_HOST={host} is not an address of this machine.", code="HOST_UNKNOWN"
        ) from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise _listen_error(error, where) from error
    listener.setblocking(False)
    return listener


def take_no_more(listener: socket.socket) -> None:
    """Let no further connection begin, in any process that shares the socket. Those that the system has completed can
    still be accepted; it resets what waits when the last process closes the socket. A client that is not let in asks
    again after a second, when the port is closed. Does nothing where the system has no such filter or refuses it.
    """
    if sys.platform != "linux":
        return
    program = ctypes.create_string_buffer(_NO_NEW_CONNECTIONS, len(_NO_NEW_CONNECTIONS))
    described = struct.pack("HL", len(_NO_NEW_CONNECTIONS) // 8, ctypes.addressof(program))
    with suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, described)


async def await_accepted(listener: socket.socket) -> None:
    """Return when the loop has accepted every connection that the system has completed."""
    waiting = select.poll()
    waiting.register(listener, select.POLLIN)
    for _ in range(_MOST_TURNS):
        await asyncio.sleep(0)
        if not waiting.poll(0):
            return


def _listen_error(error: OSError, where: str) -> Misconfigured:
    if error.errno == errno.EADDRINUSE:
        return Misconfigured(
            f"{where} is in use: stop the other server or set AGENTIC_RAG_PORT to a free port.", code="PORT_IN_USE"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return Misconfigured(f"This user may not listen on {where}: set AGENTIC_RAG_PORT.", code="PORT_FORBIDDEN")
    return Misconfigured(f"Cannot listen on {where}: set AGENTIC_RAG_HOST.", code="HOST_UNKNOWN")
