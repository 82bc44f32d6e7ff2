"""Asks the one search engine that the operator named: JSON over pinned addresses, with no redirects and few retries."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from urllib.parse import unquote, urlencode, urlsplit

import httpcore2
import msgspec

from agentic_rag.adapters.web.dialling import (
    ByteLimit,
    Dial,
    PinnedAddressBackend,
    Resolve,
    resolve_safely,
    system_dial,
    system_resolve,
)
from agentic_rag.adapters.web.response_body import answered_at, read_whole, uses_gzip
from agentic_rag.kernel.errors import AgenticRagError, Misconfigured, PolicyRefused, Retryable
from agentic_rag.web.engine_address import EngineAddress
from agentic_rag.web.proxies import DIRECT, Proxies
from agentic_rag.web.retry_after import stated_wait
from agentic_rag.web.url_policy import AddressRefused, Scheme, Target, check_address, check_own_address

MAX_ANSWER_BYTES = 1_000_000
ENGINE_SECONDS = 4.0
"""Limit for one search with its retries, within which the run still has time for the pages."""
TRIES = 3
LONGEST_WAIT = 2.0
"""An engine that asks for more patience is told to the caller."""
FIRST_WAIT = 0.2

_BUSY = frozenset({429, 503})
_KEY_REFUSED = frozenset({401, 402, 403})


class EngineFailed(Retryable):
    """The engine did not answer, or with something that is no answer."""

    code = "SEARCH_FAILED"


class EngineBusy(Retryable):
    """The engine asks for patience."""

    code = "SEARCH_BUSY"


@dataclass(frozen=True, slots=True)
class EngineClient:
    """Only the host of `address` is asked. It need not be public where the operator runs it; through a proxy, which
    resolves its name, its addresses are not looked at. Tests replace `resolve`, `dial` and `tls`.
    """

    address: EngineAddress
    resolve: Resolve = system_resolve
    dial: Dial = system_dial
    tls: ssl.SSLContext | None = None
    seconds: float = ENGINE_SECONDS
    proxies: Proxies = DIRECT

    async def ask(self, path: str, query: Mapping[str, str], headers: Mapping[str, str]) -> object:
        """The decoded JSON of an answer. Errors: those of `web.search.AskEngine`."""
        asked = Target(self.address.scheme, self.address.host, self.address.port, f"{path}?{urlencode(query)}")
        until = monotonic() + self.seconds
        try:
            async with asyncio.timeout(self.seconds):
                return await self._try(asked, headers, until)
        except TimeoutError as error:
            raise Retryable("The search engine did not answer in time.", code="SEARCH_TIMEOUT") from error

    async def _try(self, asked: Target, headers: Mapping[str, str], until: float) -> object:
        wait = FIRST_WAIT
        for tries_left in reversed(range(TRIES)):
            try:
                return await self._ask_once(asked, headers)
            except (EngineFailed, EngineBusy) as error:
                pause = wait if error.retry_after_seconds is None else error.retry_after_seconds
                if not tries_left or pause > LONGEST_WAIT or monotonic() + pause >= until:
                    raise
                await asyncio.sleep(pause)
                wait *= 2
        raise EngineFailed("The search engine was not asked.")

    async def _ask_once(self, asked: Target, headers: Mapping[str, str]) -> object:
        try:
            body = await self._get(asked, headers)
        except AddressRefused as refused:
            raise PolicyRefused(f"The search engine cannot be asked: {refused}.", code="ADDRESS_REFUSED") from refused
        except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException) as error:
            raise EngineFailed("The search engine does not answer.") from error
        except (ssl.SSLError, zlib.error, OSError) as error:
            raise EngineFailed("The search engine's answer could not be read.") from error
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise EngineFailed("The search engine's answer is no JSON: it may not offer that format.") from error

    async def _get(self, asked: Target, headers: Mapping[str, str]) -> bytes:
        proxy = self.proxies.of(asked.url)
        through = None if proxy is None else _proxy(proxy)
        try:
            addresses = await self._addresses(asked, through)
        except Retryable as error:
            raise EngineFailed("The search engine's host name cannot be resolved.") from error
        backend = PinnedAddressBackend(addresses, self.dial, self.seconds, ByteLimit(MAX_ANSWER_BYTES))
        origin = httpcore2.URL(scheme=asked.scheme.value, host=asked.host, port=asked.port, target=asked.request)
        sent: dict[str | bytes, str | bytes] = {
            "Host": asked.authority,
            "User-Agent": "agentic-rag",
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Connection": "close",
            **headers,
        }
        tls = self.tls or ssl.create_default_context()
        async with (
            httpcore2.AsyncConnectionPool(
                ssl_context=tls, max_connections=1, retries=0, network_backend=backend, proxy=through
            ) as pool,
            pool.stream("GET", origin, headers=sent) as response,
        ):
            named = {name.lower(): value.decode("latin-1").strip() for name, value in response.headers}
            _check_status(response.status, named.get(b"retry-after", ""), answered_at(named))
            packed = uses_gzip(named.get(b"content-encoding", "identity"))
            try:
                return await read_whole(response.aiter_stream(), MAX_ANSWER_BYTES, packed=packed)
            except AgenticRagError as error:
                raise EngineFailed(f"The search engine's answer could not be read: {error.message}") from error

    async def _addresses(self, asked: Target, through: httpcore2.Proxy | None) -> Sequence[str]:
        """Where to connect: the checked addresses of the engine, or those of the proxy."""
        if through is None:
            return await resolve_safely(
                asked, self.resolve, check_own_address if self.address.is_own else check_address
            )
        host, port = through.url.host.decode("ascii"), through.url.port or Scheme(through.url.scheme.decode()).port
        try:
            return await self.resolve(host, port)
        except OSError as error:
            raise EngineFailed("The host name of the proxy cannot be resolved.") from error


def _proxy(address: str) -> httpcore2.Proxy:
    parts = urlsplit(address)
    login = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    place = parts.netloc.rpartition("@")[2]
    return httpcore2.Proxy(f"{parts.scheme}://{place}", auth=login)


def _check_status(status: int, retry_after: str, answered_at: str) -> None:
    if status == 200:
        return
    if status in _KEY_REFUSED:
        raise Misconfigured(
            f"The search engine answered {status}: it does not take the key or the request of AGENTIC_RAG_SEARCH. "
            "SearXNG refuses JSON unless `search.formats` of its settings lists it.",
            code="SEARCH_REFUSED",
        )
    wait = stated_wait(retry_after, answered_at)
    if status in _BUSY:
        raise EngineBusy(f"The search engine answered {status}.", retry_after_seconds=wait)
    if status >= 500:
        raise EngineFailed(f"The search engine answered {status}.")
    raise Retryable(f"The search engine answered {status}.", code="SEARCH_FAILED")
