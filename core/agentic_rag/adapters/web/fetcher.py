"""Implements `web.ports`: the only client for addresses named by users, documents or pages.

It uses no proxy, cookies, credentials or environment variables. It follows redirects itself and checks each target like
an address named by the user.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import Iterable

import httpcore2

from agentic_rag.adapters.web.dialling import (
    ByteLimit,
    Dial,
    PinnedAddressBackend,
    Resolve,
    resolve_safely,
    system_dial,
    system_resolve,
    too_large,
)
from agentic_rag.adapters.web.response_body import answered_at, content_length, read_whole, unpack, uses_gzip
from agentic_rag.kernel.errors import AgenticRagError, ContentUnsupported, PolicyRefused, Retryable
from agentic_rag.web.encodings import wide_encoding
from agentic_rag.web.fetch_errors import PageGone, StatusRefused, note_size
from agentic_rag.web.fetch_policy import ANY_TYPE, FetchedPage, FetchPolicy, is_gzip, looks_like_text
from agentic_rag.web.ports import AdmitRedirect
from agentic_rag.web.url_policy import AddressRefused, Target, parse_target, resolve_redirect, shares_domain

USER_AGENT = "agentic-rag"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_GONE = frozenset({404, 410})
_NOT_MODIFIED = 304
_ROBOTS = b"x-robots-tag"
_KEPT_HEADERS = frozenset(
    {b"content-type", b"date", b"etag", b"last-modified", b"cache-control", b"content-language", _ROBOTS}
)
"""Of a response, those that are kept with it."""


class GuardedFetcher:
    """Tests replace `resolve`, `dial` and `tls`."""

    def __init__(
        self,
        policy: FetchPolicy,
        *,
        resolve: Resolve = system_resolve,
        dial: Dial = system_dial,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._policy = policy
        self._resolve = resolve
        self._dial = dial
        self._tls = tls or ssl.create_default_context()

    async def fetch(self, url: str) -> FetchedPage:
        """The page at an address; see the port."""
        page = await self.fetch_if_new(url, "")
        if page is None:
            raise Retryable("The page's server answered 304.", code="FETCH_FAILED")
        return page

    async def fetch_if_new(
        self, url: str, validator: str, admit_redirect: AdmitRedirect | None = None
    ) -> FetchedPage | None:
        """The page at an address; None when it is still the one that had this validator. Errors: those of `fetch` and
        of `admit_redirect`; `PageGone`; with the size of what came before.
        """
        meters: list[ByteLimit] = []
        try:
            return await self._fetch_in_time(url, validator, admit_redirect, meters)
        except AgenticRagError as error:
            note_size(error, sum(self._policy.max_bytes - max(0, one.left) for one in meters))
            raise

    async def _fetch_in_time(
        self, url: str, validator: str, admit_redirect: AdmitRedirect | None, meters: list[ByteLimit]
    ) -> FetchedPage | None:
        try:
            async with asyncio.timeout(self._policy.seconds):
                return await self._follow_redirects(url, validator, admit_redirect, meters)
        except AddressRefused as refused:
            raise PolicyRefused(f"The address is not allowed: {refused}.", code="ADDRESS_REFUSED") from refused
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise Retryable("The page did not arrive in time.", code="FETCH_TIMEOUT") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, zlib.error, OSError) as error:
            raise Retryable("The page could not be read.", code="FETCH_FAILED") from error

    async def _follow_redirects(
        self, url: str, validator: str, admit_redirect: AdmitRedirect | None, meters: list[ByteLimit]
    ) -> FetchedPage | None:
        target = parse_target(url)
        if not self._policy.allows(target.host):
            raise AddressRefused("its host is not on the list of hosts that may be asked")
        for _ in range(self._policy.max_redirects + 1):
            answer = await self._request(target, validator, meters)
            if answer is None or isinstance(answer, FetchedPage):
                return answer
            onward = resolve_redirect(target, answer)
            if not shares_domain(onward.host, target.host) and onward.host not in self._policy.hosts.patterns:
                raise AddressRefused("the redirect leads to another host, which is not on the list")
            if self._policy.without.allows(onward.host):
                raise AddressRefused("the redirect leads to a host that must not be asked")
            if admit_redirect is not None:
                await admit_redirect(onward)
            target = onward
        raise AddressRefused(f"it redirects more than {self._policy.max_redirects} times")

    async def _request(self, target: Target, validator: str, meters: list[ByteLimit]) -> FetchedPage | str | None:
        """The page, the target of a redirect, or None for a page that did not change."""
        addresses = await resolve_safely(target, self._resolve)
        meter = ByteLimit(self._policy.max_bytes)
        meters.append(meter)
        backend = PinnedAddressBackend(addresses, self._dial, self._policy.seconds, meter)
        origin = httpcore2.URL(scheme=target.scheme.value, host=target.host, port=target.port, target=target.request)
        headers: dict[str | bytes, str | bytes] = {
            "Host": target.authority,
            "User-Agent": USER_AGENT,
            "Accept": ", ".join(sorted(self._policy.media_types)),
            "Accept-Encoding": "gzip",
            "Connection": "close",
            **_conditions(validator),
        }
        async with (
            httpcore2.AsyncConnectionPool(
                ssl_context=self._tls, max_connections=1, retries=0, network_backend=backend
            ) as pool,
            pool.stream("GET", origin, headers=headers) as response,
        ):
            named = _by_name(response.headers)
            if response.status in _REDIRECTS:
                return named.get(b"location", "")
            if response.status == _NOT_MODIFIED and validator:
                # What it asks of robots by now is weighed with the whole page.
                return None if _ROBOTS not in named else await self._request(target, "", meters)
            if response.status != 200:
                fault = PageGone if response.status in _GONE else StatusRefused
                raise fault(response.status, named.get(b"retry-after", ""), answered_at(named))
            media_type = self._readable_type(named.get(b"content-type", ""))
            packed = uses_gzip(named.get(b"content-encoding", "identity"))
            if content_length(named.get(b"content-length", "")) > self._policy.max_bytes:
                raise too_large()
            body = await read_whole(response.aiter_stream(), self._policy.max_bytes, packed=packed)
        if self._policy.unpacks and is_gzip(body):
            body = await unpack(body, self._policy.max_bytes)
        is_wide = self._policy.media_types == ANY_TYPE and wide_encoding(body) is not None
        if not (is_wide or looks_like_text(body)):
            raise ContentUnsupported(
                "The page's bytes do not match the content type that its server names.", code="FETCH_TYPE"
            )
        validator = named.get(b"etag") or named.get(b"last-modified", "")
        kept = {name.decode("ascii"): named[name] for name in sorted(_KEPT_HEADERS & named.keys())}
        return FetchedPage(target.url, media_type, body, validator, kept)

    def _readable_type(self, content_type: str) -> str:
        media_type = content_type.partition(";")[0].strip().lower()
        if not self._policy.takes(media_type):
            raise ContentUnsupported("Pages of this content type cannot be read.", code="FETCH_TYPE")
        return media_type


def _by_name(headers: Iterable[tuple[bytes, bytes]]) -> dict[bytes, str]:
    """Headers by name in lower case; several that tell robots what to do are lines of one."""
    named: dict[bytes, str] = {}
    for name, value in headers:
        key, text = name.lower(), value.decode("latin-1").strip()
        named[key] = f"{named[key]}\n{text}" if key == _ROBOTS and key in named else text
    return named


def _conditions(validator: str) -> dict[str | bytes, str | bytes]:
    """The header that asks for a changed page only: entity tags are quoted, times are not (RFC 9110 §13.1)."""
    if not validator or not validator.isascii() or not validator.isprintable():
        return {}
    return {"If-None-Match" if validator.endswith('"') else "If-Modified-Since": validator}
