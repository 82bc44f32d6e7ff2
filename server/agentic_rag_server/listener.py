"""Takes the port of a server."""

from __future__ import annotations

import errno
import socket

from agentic_rag.kernel.errors import Misconfigured


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


def _listen_error(error: OSError, where: str) -> Misconfigured:
    if error.errno == errno.EADDRINUSE:
        return Misconfigured(
            f"{where} is in use: stop the other server or set AGENTIC_RAG_PORT to a free port.", code="PORT_IN_USE"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return Misconfigured(f"This user may not listen on {where}: set AGENTIC_RAG_PORT.", code="PORT_FORBIDDEN")
    return Misconfigured(f"Cannot listen on {where}: set AGENTIC_RAG_HOST.", code="HOST_UNKNOWN")
