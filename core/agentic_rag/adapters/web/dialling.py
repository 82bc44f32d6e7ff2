"""Resolves a name once, checks every address, and connects only to checked addresses."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import httpcore2

from agentic_rag.kernel.errors import ContentRefused, Retryable
from agentic_rag.web.url_policy import AddressRefused, Target, check_address

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Maps host and port to addresses. Errors: `OSError`."""

Dial = Callable[[str, int, float], Awaitable[httpcore2.AsyncNetworkStream]]
"""Opens a stream to an address and port within some seconds. Errors: those of httpcore2."""

MAX_TRIES = 3
"""Addresses of one name that are tried in sequence."""

RECEIVE_BUFFER = 64 * 1024
"""The kernel's receive buffer in bytes: data beyond it stays with the sender."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses from the system's resolver, in its order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


async def system_dial(address: str, port: int, seconds: float) -> httpcore2.AsyncNetworkStream:
    """A TCP connection."""
    options = [(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)]
    backend = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())
    return await backend.connect_tcp(address, port, timeout=seconds, socket_options=options)


Check = Callable[[ipaddress.IPv4Address | ipaddress.IPv6Address], None]
"""Errors: `AddressRefused` for an address that must not be dialled."""


async def resolve_safely(target: Target, resolve: Resolve, check: Check = check_address) -> tuple[str, ...]:
    """The checked addresses of a target. A single refused address refuses the whole name. Errors: `AddressRefused`,
    `Retryable` code FETCH_FAILED.
    """
    if target.literal is not None:
        check(target.literal)
        return (str(target.literal),)
    try:
        found = await resolve(target.host, target.port)
    except OSError as error:
        raise Retryable("The page's host name cannot be resolved.", code="FETCH_FAILED") from error
    addresses = [_address(text) for text in found]
    if not addresses:
        raise Retryable("The page's host has no address.", code="FETCH_FAILED")
    for address in addresses:
        check(address)
    return tuple(dict.fromkeys(map(str, addresses)))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError as wrong:
        raise AddressRefused("it leads to something that is no address") from wrong


@dataclass
class ByteLimit:
    """Counts the bytes received on one connection."""

    left: int

    def took(self, size: int) -> None:
        """Subtract received bytes. Errors: `ContentRefused` code FETCH_TOO_LARGE."""
        self.left -= size
        if self.left < 0:
            raise too_large()


def too_large() -> ContentRefused:
    """The error for a page above the byte limit."""
    return ContentRefused("The page is too large.", code="FETCH_TOO_LARGE")


class PinnedAddressBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the checked addresses whatever host is requested, so that no name is resolved a second time."""

    def __init__(self, addresses: Sequence[str], dial: Dial, seconds: float, meter: ByteLimit) -> None:
        self._addresses = addresses[:MAX_TRIES]
        self._dial = dial
        self._seconds = seconds
        self._meter = meter

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[object] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Errors: those of the last address tried."""
        *others, last = self._addresses
        for address in others:
            try:
                return _Metered(await self._dial(address, port, self._seconds / 2), self._meter)
            except (httpcore2.NetworkError, httpcore2.TimeoutException):
                continue
        return _Metered(await self._dial(last, port, self._seconds), self._meter)


class _Metered(httpcore2.AsyncNetworkStream):
    """A stream that counts its received bytes."""

    def __init__(self, inner: httpcore2.AsyncNetworkStream, meter: ByteLimit) -> None:
        self._inner = inner
        self._meter = meter

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._inner.read(max_bytes, timeout)
        self._meter.took(len(data))
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.AsyncNetworkStream:
        return _Metered(await self._inner.start_tls(ssl_context, server_hostname, timeout), self._meter)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)
