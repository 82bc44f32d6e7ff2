"""Opens the HTTP client of providers, and translates its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentic_rag.kernel.errors import AgenticRagError, Permanent, Retryable
from agentic_rag.web.retry_after import stated_wait

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openai import APIStatusError, AsyncOpenAI, OpenAIError

_LONGEST_REASON = 300
_TRANSIENT_STATUS = frozenset({408, 409, 425, 429})


def open_client(
    base_url: str, api_key: str, timeout_seconds: float, proxy: str | None = None, *, follows: bool = True
) -> AsyncOpenAI:
    """A client with its connection pool. It does not retry: the caller's retry policy does. Without `follows` a
    redirect is an error.

    The package is imported on the first call: it costs 45 MB, which a process without a provider avoids.
    """
    import httpx2
    import openai

    # A transport of its own: a client that makes one reads the environment's proxies.
    transport = httpx2.AsyncHTTPTransport(proxy=proxy, limits=openai.DEFAULT_CONNECTION_LIMITS)
    http = openai.DefaultAsyncHttpxClient(transport=transport, follow_redirects=follows)
    return openai.AsyncOpenAI(
        base_url=base_url, api_key=api_key, timeout=timeout_seconds, max_retries=0, http_client=http
    )


def provider_failure(error: OpenAIError) -> AgenticRagError:
    """The product's error for a failed call.

    401 and 403 are `Permanent` (PROVIDER_KEY_REJECTED); 429 is `Retryable` (PROVIDER_RATE_LIMITED) with the wait that
    the provider requested; time-outs, lost connections, 408, 409, 425 and 5xx are `Retryable` (PROVIDER_UNAVAILABLE);
    every other refusal is `Permanent` (PROVIDER_REFUSED). Afterwards neither the message nor `error` contains the key.
    """
    import openai

    _forget_key(error)
    if isinstance(error, openai.APITimeoutError):
        return Retryable("The provider did not answer in time; try again.", code="PROVIDER_UNAVAILABLE")
    if isinstance(error, openai.APIStatusError):
        return _status_failure(error)
    return Retryable("The connection to the provider failed; try again.", code="PROVIDER_UNAVAILABLE")


def _forget_key(error: OpenAIError) -> None:
    """Replace the call's key wherever a provider's answer repeats it: errors are stored and shown."""
    import openai

    if not isinstance(error, openai.APIError):
        return
    key = error.request.headers.get("authorization", "").removeprefix("Bearer ")
    if key:
        error.message = error.message.replace(key, "***")
        error.args = tuple(one.replace(key, "***") if isinstance(one, str) else one for one in error.args)
    error.body = None


def _status_failure(error: APIStatusError) -> AgenticRagError:
    status = error.status_code
    if status in (401, 403):
        return Permanent(
            f"The provider rejected the key (HTTP {status}); store a valid one.", code="PROVIDER_KEY_REJECTED"
        )
    wait = retry_after_seconds(error.response.headers)
    if status == 429:
        return Retryable(
            "The provider's rate limit is reached; try again later.",
            code="PROVIDER_RATE_LIMITED",
            retry_after_seconds=wait,
        )
    if status in _TRANSIENT_STATUS or status >= 500:
        return Retryable(
            f"The provider failed (HTTP {status}); try again.", code="PROVIDER_UNAVAILABLE", retry_after_seconds=wait
        )
    return Permanent(
        f"The provider refused the request (HTTP {status}): {error.message[:_LONGEST_REASON]}", code="PROVIDER_REFUSED"
    )


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """The wait that a response requests: `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3).

    A date is relative to the response's own `Date`, so that no clock is needed. None without a valid value.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            wait = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return wait if 0 <= wait < float("inf") else None
    return stated_wait(headers.get("retry-after", ""), headers.get("date", ""))
