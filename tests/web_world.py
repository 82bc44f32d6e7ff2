"""A small web for tests of the guarded client: names, addresses and pages are made up, every byte stays on loopback.

The client's resolver and dialler are replaced; the dialler notes each address it is given and connects to the server
of this file instead, so nothing is sent to any address that a test names.
"""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import re
import ssl
import tempfile
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpcore2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from agentic_rag.adapters.web.fetcher import GuardedFetcher
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.url_policy import AddressRefused, HostList, check_address

PUBLIC = "93.184.215.14"
OTHER = "93.184.215.15"
NAMES: dict[str, tuple[str, ...]] = {
    "public.test": (PUBLIC,),
    "other.test": (OTHER,),
    "example.com": (PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"),
    "xn--bcher-kva.example": (PUBLIC,),
    "mapped.test": ("::ffff:10.0.0.1",),
    "cname.test": ("127.0.0.1",),
    "127.0.0.1.nip.io": ("127.0.0.1",),
    "mixed.test": (PUBLIC, "10.0.0.1"),
}
TLS_NAMES = ("example.com", "public.test", "other.test", "xn--bcher-kva.example")
TLS_ADDRESSES = ("1.1.1.1", "2606:4700:4700::1111")

Send = Callable[[bytes], Awaitable[None]]
Page = Callable[[Send, bytes], Awaitable[None]]
TEXT = b"The rotor of unit 4 was replaced in March.\n"


def answer(body: bytes, *headers: str, status: str = "200 OK", media: str = "text/plain; charset=utf-8") -> Page:
    """A page that is sent whole."""

    async def page(send: Send, request: bytes) -> None:
        lines = (f"HTTP/1.1 {status}", f"Content-Type: {media}", f"Content-Length: {len(body)}", *headers)
        await send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    return page


def redirect(location: str) -> Page:
    return answer(b"", f"Location: {location}", status="302 Found")


def endless(head: str, piece: bytes, pause: float = 0.0) -> Page:
    """A page without an end."""

    async def page(send: Send, request: bytes) -> None:
        await send(f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{head}\r\n".encode())
        while True:
            await send(piece)
            await asyncio.sleep(pause)

    return page


def gzip_bomb(head: str = "Content-Encoding: gzip\r\n") -> Page:
    """10 MB of gzip that unfold to 10 GB."""
    packer = zlib.compressobj(9, wbits=31)
    first = packer.compress(b"") + packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)

    async def page(send: Send, request: bytes) -> None:
        await send(f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{head}\r\n".encode() + first)
        for _ in range(10_000):
            await send(block)

    return page


async def many_headers(send: Send, request: bytes) -> None:
    await send(b"HTTP/1.1 200 OK\r\n")
    for number in range(10_000):
        await send(f"X-Header-{number}: {'a' * 90}\r\n".encode())
    await send(b"\r\n")


async def breaks_off(send: Send, request: bytes) -> None:
    await send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5000\r\n\r\nThe rotor of unit 4 ")
    raise ConnectionResetError


def default_pages() -> dict[str, Page]:
    packed = zlib.compressobj(9, wbits=31)
    honest = packed.compress(TEXT * 2400) + packed.flush()
    return {
        "/": answer(TEXT),
        "/ok": answer(TEXT),
        "/path@127.0.0.1": answer(TEXT),
        "/gz": answer(honest, "Content-Encoding: gzip"),
        "/r/ok": redirect("http://public.test/ok"),
        "/r/relative": redirect("/ok"),
        "/r/127": redirect("http://127.0.0.1/"),
        "/r/meta": redirect("http://169.254.169.254/"),
        "/r/user": redirect("http://a:b@127.0.0.1/"),
        "/r/file": redirect("file:///etc/passwd"),
        "/r/none": redirect(""),
        "/r/auth": redirect("http://other.test/ok"),
        "/r/chain5": redirect("/r/c1"),
        **{f"/r/c{n}": redirect(f"/r/c{n + 1}") for n in range(1, 6)},
        "/r/c6": answer(TEXT),
        "/r/loop": redirect("/r/loop"),
        "/b/gzip": gzip_bomb(),
        "/b/br": answer(b"\x0b" * 100, "Content-Encoding: br"),
        "/b/gzip-twice": answer(honest, "Content-Encoding: gzip, gzip"),
        "/b/long": endless("", bytes(64 * 1024).replace(b"\0", b"a")),
        "/b/slow": endless("", b"a", pause=1.0),
        "/b/hdrs": many_headers,
        "/b/exe": answer(b"MZ" + TEXT, media="application/octet-stream"),
        "/b/typelie": answer(b"PK\x03\x04" + bytes(100), media="text/html"),
        "/b/close": breaks_off,
        "/b/gone": answer(b"", status="404 Not Found"),
        "/b/cookie": answer(TEXT, "Set-Cookie: a=b"),
    }


@dataclass
class Web:
    """The server, and what the client's resolver and dialler were asked."""

    plain_port: int
    tls_port: int
    trust: ssl.SSLContext
    names: dict[str, tuple[str, ...]] = field(default_factory=lambda: dict(NAMES))
    pages: dict[str, Page] = field(default_factory=default_pages)
    dialled: list[str] = field(default_factory=list[str])
    received: int = 0
    """Bytes that reached the client."""
    requests: list[bytes] = field(default_factory=list[bytes])
    resolved: list[str] = field(default_factory=list[str])

    @property
    def forbidden(self) -> list[str]:
        """Addresses that were dialled and must not be."""
        return [address for address in self.dialled if not _is_public(address)]

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.resolved.append(host)
        if host not in self.names:
            raise OSError("unknown name")
        return self.names[host]

    async def dial(self, address: str, port: int, seconds: float) -> httpcore2.AsyncNetworkStream:
        self.dialled.append(address)
        if not _is_public(address):
            raise httpcore2.ConnectError("the stub connects to nothing else")
        here = self.tls_port if port == 443 else self.plain_port
        return _Counted(await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", here, timeout=seconds), self)

    def fetcher(self, policy: FetchPolicy | None = None) -> GuardedFetcher:
        policy = policy or FetchPolicy(HostList(("*",)))
        return GuardedFetcher(policy, resolve=self.resolve, dial=self.dial, tls=self.trust)


class _Counted(httpcore2.AsyncNetworkStream):
    def __init__(self, inner: Any, web: Web) -> None:
        self._inner = inner
        self._web = web

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._inner.read(max_bytes, timeout)
        self._web.received += len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def start_tls(self, *arguments: Any, **named: Any) -> httpcore2.AsyncNetworkStream:
        return _Counted(await self._inner.start_tls(*arguments, **named), self._web)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _is_public(address: str) -> bool:
    try:
        check_address(ipaddress.ip_address(address))
    except AddressRefused:
        return False
    return True


@asynccontextmanager
async def opened_web() -> AsyncIterator[Web]:
    """A web of its own; its servers end with the context."""
    pages: list[Web] = []
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(task := asyncio.current_task())  # type: ignore[arg-type]
        task.add_done_callback(serving.discard)  # type: ignore[union-attr]
        try:
            request = await reader.readuntil(b"\r\n\r\n")
            pages[0].requests.append(request)
            path = re.split(rb"[ ?]", request)[1].decode()
            page = pages[0].pages.get(path, answer(b"", status="404 Not Found"))

            async def send(data: bytes) -> None:
                writer.write(data)
                await writer.drain()

            await page(send, request)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            writer.close()

    serving_tls, trust = _certificate()
    plain = await asyncio.start_server(serve, "127.0.0.1", 0)
    tls = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=serving_tls)
    try:
        web = Web(plain.sockets[0].getsockname()[1], tls.sockets[0].getsockname()[1], trust)
        pages.append(web)
        yield web
    finally:
        plain.close()
        tls.close()
        for task in list(serving):
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


def _certificate() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A context that serves the names of this web, and one that trusts it and nothing else."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "web of the tests")])
    now = datetime.datetime.now(datetime.UTC)
    names = [
        *(x509.DNSName(one) for one in TLS_NAMES),
        *(x509.IPAddress(ipaddress.ip_address(one)) for one in TLS_ADDRESSES),
    ]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        Path(file.name).write_bytes(pem + private)
        serving.load_cert_chain(file.name)
    return serving, ssl.create_default_context(cadata=pem.decode())
