"""Which proxy an outbound request goes through: the one policy, which every client of the product asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import proxy_bypass_environment  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

from agentic_rag.web.url_policy import is_loopback


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxies that the operator named. Addresses that operators name are asked through them: providers, key sets,
    object stores, collectors, search engines. Addresses that users name, and servers of this product, never are: a
    proxy would resolve the name again, behind the check of its addresses.
    """

    http: str = field(default="", repr=False)
    """For `http` addresses; empty for none. It may hold a password."""
    https: str = field(default="", repr=False)
    excluded: str = ""
    """Hosts that are asked directly, with those below them, separated by commas; `*` for all."""

    def of(self, url: str) -> str | None:
        """The proxy for a URL; None where it is asked directly, as this machine always is."""
        parts = urlsplit(url)
        proxy = {"http": self.http, "https": self.https}.get(parts.scheme, "")
        host = parts.hostname or ""
        if not proxy or is_loopback(host):
            return None
        place = parts.netloc.rpartition("@")[2]
        return None if proxy_bypass_environment(place, {"no": self.excluded}) else proxy


DIRECT = Proxies()
"""No proxy for anything."""


PROXY_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""The variables, in capitals; other programs read them as well."""


def read_proxies(given: Mapping[str, str]) -> tuple[Proxies, list[str]]:
    """The proxies that variables name, and a line for each that cannot be used. Names in lower case go first, as with
    other programs.
    """
    http, https, excluded = ((given.get(name.lower()) or given.get(name, "")).strip() for name in PROXY_NAMES)
    problems = [
        f"{name}: expected http://[USER:PASSWORD@]HOST:PORT"
        for name, text in zip(PROXY_NAMES, (http, https), strict=False)
        if text and not _is_proxy(_url(text))
    ]
    return Proxies(_url(http), _url(https), excluded), problems


def _url(text: str) -> str:
    return text if "://" in text or not text else f"http://{text}"


def _is_proxy(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False
