"""Fetches a JWK set from the address that the operator configured."""

from __future__ import annotations

import httpx2

MAX_BYTES = 1 << 20
TIMEOUT_SECONDS = 5.0


class KeySetClient:
    """Reads one address; no redirects, bounded in time and size."""

    def __init__(self, url: str, timeout_seconds: float = TIMEOUT_SECONDS, proxy: str | None = None) -> None:
        self._url = url
        # A transport of its own: a client that makes one reads the environment's proxies.
        transport = httpx2.AsyncHTTPTransport(proxy=proxy)
        self._client = httpx2.AsyncClient(timeout=timeout_seconds, follow_redirects=False, transport=transport)

    async def fetch(self) -> bytes:
        """The response body. Errors: `OSError` if the address does not return status 200 with at most 1 MB."""
        body = bytearray()
        try:
            async with self._client.stream("GET", self._url, headers={"accept-encoding": "identity"}) as response:
                if response.status_code != 200:
                    raise OSError(f"the address of the keys answered {response.status_code}")
                async for piece in response.aiter_raw(65_536):
                    body += piece
                    if len(body) > MAX_BYTES:
                        raise OSError("the key set is larger than 1 MB")
        except httpx2.HTTPError as error:
            raise OSError(f"the address of the keys does not answer ({type(error).__name__})") from error
        return bytes(body)

    async def aclose(self) -> None:
        await self._client.aclose()
