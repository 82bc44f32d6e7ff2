"""Resolves once, checks every address, dials the one that was checked."""

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
"""Host and port in, addresses out. Errors: `OSError`."""

Dial = Callable[[str, int, float], Awaitable[httpcore2.AsyncNetworkStream]]
"""Address, port and seconds in, a connected stream out. Errors: those of httpcore2."""

MAX_TRIES = 3
"""Addresses of one name that are dialled, one after the other."""

RECEIVE_BUFFER = 64 * 1024
"""Bytes the kernel may hold for us: what is over the limit stays with its sender."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses that the system's resolver knows, in its order."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


async def system_dial(address: str, port: int, seconds: float) -> httpcore2.AsyncNetworkStream:
    """A TCP connection."""
    options = [(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)]
    backend = cast(httpcore2.AsyncNetworkBackend, httpcore2.AnyIOBackend())
    return await backend.connect_tcp(address, port, timeout=seconds, socket_options=options)


async def resolve_safely(target: Target, resolve: Resolve) -> tuple[str, ...]:
    """The addresses of a target. One that may not be asked refuses the name as a whole. Errors: `AddressRefused`,
    `Retryable` code FETCH_FAILED.
    """
    if target.literal is not None:
        check_address(target.literal)
        return (str(target.literal),)
    try:
        found = await resolve(target.host, target.port)
    except OSError as error:
        raise Retryable("The page's host is not known.", code="FETCH_FAILED") from error
    addresses = [_address(text) for text in found]
    if not addresses:
        raise Retryable("The page's host has no address.", code="FETCH_FAILED")
    for address in addresses:
        check_address(address)
    return tuple(dict.fromkeys(map(str, addresses)))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError as wrong:
        raise AddressRefused("it leads to something that is no address") from wrong


@dataclass
class ByteLimit:
    """Counts what arrives on one connection."""

    left: int

    def took(self, size: int) -> None:
        """Errors: `ContentRefused` code FETCH_TOO_LARGE."""
        self.left -= size
        if self.left < 0:
            raise too_large()


def too_large() -> ContentRefused:
    """The page has more bytes than are read."""
    return ContentRefused("The page is too large.", code="FETCH_TOO_LARGE")


class PinnedAddressBackend(httpcore2.AsyncNetworkBackend):
    """Dials addresses that were checked, whatever host it is asked for: nothing is resolved a second time."""

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
        """Errors: those of the last address that was tried."""
        *others, last = self._addresses
        for address in others:
            try:
                return _Metered(await self._dial(address, port, self._seconds / 2), self._meter)
            except (httpcore2.NetworkError, httpcore2.TimeoutException):
                continue
        return _Metered(await self._dial(last, port, self._seconds), self._meter)


class _Metered(httpcore2.AsyncNetworkStream):
    """A stream whose bytes are counted."""

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
