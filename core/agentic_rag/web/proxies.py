"""Which proxy an outbound request goes through: the one policy, which every client of the product asks."""

from __future__ import annotations

import ipaddress
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
    """Hosts that are asked directly, with those below them, and addresses and networks (`10.0.0.0/8`), separated by
    commas; `*` for all. No name is resolved for it.
    """

    def of(self, url: str) -> str | None:
        """The proxy for a URL; None where it is asked directly, as this machine always is."""
        parts = urlsplit(url)
        proxy = {"http": self.http, "https": self.https}.get(parts.scheme, "")
        host = parts.hostname or ""
        if not proxy or is_loopback(host):
            return None
        place = parts.netloc.rpartition("@")[2]
        if self._excludes_address(host) or proxy_bypass_environment(place, {"no": self.excluded}):
            return None
        return proxy

    def _excludes_address(self, host: str) -> bool:
        """Whether a host is an address, and within one that is asked directly."""
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in one for entry in self.excluded.split(",") for one in _networks(entry.strip()))


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
        f"{name}: expected http://HOST:PORT, with a login before the host where the proxy asks for one. Proxies of "
        "another kind, such as SOCKS, are not supported: unset it, or name one of HTTP"
        for name, text in zip(PROXY_NAMES, (http, https), strict=False)
        if text and not _is_proxy(_url(text))
    ]
    return Proxies(_url(http), _url(https), excluded), problems


def _networks(entry: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The network or address of an entry of NO_PROXY, with or without a port; none of what is a name."""
    bracketed = entry.startswith("[") and "]" in entry
    text = entry[1:].partition("]")[0] if bracketed else entry
    if not bracketed and text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return [ipaddress.ip_network(text, strict=False)]
    except ValueError:
        return []


def _url(text: str) -> str:
    return text if "://" in text or not text else f"http://{text}"


def _is_proxy(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False
