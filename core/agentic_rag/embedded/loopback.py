"""Free ports and readiness probes on the loopback interface."""

import random
import socket
import struct

HOST = "127.0.0.1"

_LOWEST_PORT, _HIGHEST_PORT = 20_000, 32_000
"""Below the ephemeral range of Linux (from 32768) and macOS (from 49152), so that no outgoing connection
takes a stored port between two starts."""

_ANSWER_SECONDS = 2.0
_POSTGRES_PROTOCOL_3_0 = 3 << 16


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Connections in TIME_WAIT must not count as "in use"; a listening socket still does.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port of the loopback address that is free now."""
    while True:
        port = random.randint(_LOWEST_PORT, _HIGHEST_PORT)
        if is_free(port):
            return port


def postgres_answers(port: int, database: str) -> bool:
    """Whether a Postgres on `port` is past its start-up: it then asks for authentication.

    Sends a StartupMessage and reads one byte, as libpq's PQping does (PostgreSQL documentation,
    "Message Formats"): R is an authentication request; E while starting up or shutting down.
    """
    words = ("user", "postgres", "database", database)
    body = struct.pack("!i", _POSTGRES_PROTOCOL_3_0) + b"".join(w.encode() + b"\0" for w in words) + b"\0"
    return _exchange(port, struct.pack("!i", len(body) + 4) + body, 1) == b"R"


def redis_answers(port: int, password: str) -> bool:
    """Whether a Redis on `port` takes `password` and has loaded its data. One whose disk is full answers too: it
    refuses what would be written, and PING with it.
    """
    expected = b"+OK\r\n+PONG\r\n", b"+OK\r\n-MISCON"
    return _exchange(port, f"AUTH {password}\r\nPING\r\n".encode(), len(expected[0])) in expected


def _exchange(port: int, request: bytes, length: int) -> bytes:
    """Send `request` and return the first `length` bytes of the answer; fewer when the peer says no more."""
    answer = b""
    try:
        with socket.create_connection((HOST, port), timeout=_ANSWER_SECONDS) as connection:
            connection.sendall(request)
            while len(answer) < length and (part := connection.recv(length - len(answer))):
                answer += part
    except OSError:
        return answer
    return answer
