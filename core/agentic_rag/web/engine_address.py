"""The one setting that names a search engine, taken apart."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from agentic_rag.web.search import SearchFilters
from agentic_rag.web.url_policy import HostList, Scheme, parse_host_list

FORMS = "searxng://HOST[:PORT], searxng+https://HOST, brave://KEY@, serpapi://KEY@[HOST] or file:PATH"
_ADDRESS = re.compile(
    r"(?P<engine>[a-z]+)(?P<tls>\+https)?://(?:(?P<key>[^@/?#]*)@)?(?P<host>[^:/?#]*)(?::(?P<port>\d+))?"
    r"(?P<path>/[^?#]*)?(?:\?(?P<query>[^#]*))?"
)
_FILE = re.compile(r"file:(?P<path>[^?#]+)(?:\?(?P<query>[^#]*))?")
_OPTIONS = frozenset({"hosts", "without", "usd", "key_file"})
_PUBLIC_HOSTS = {"brave": "api.search.brave.com", "serpapi": "serpapi.com"}
ENGINES = ("searxng", "brave", "serpapi", "file")


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """Where an engine is, its key, and which of its results may be read."""

    engine: str
    scheme: Scheme = Scheme.HTTPS
    host: str = ""
    port: int = 443
    path: str = ""
    """Of the engine at its host; of the file of engine `file`."""
    key: str = field(default="", repr=False)
    key_file: str = ""
    """A file that holds the key."""
    is_own: bool = False
    """The operator runs it: its address need not be public."""
    filters: SearchFilters = SearchFilters()
    usd: float = 0.0
    """Price of one search."""


def parse_engine(text: str) -> EngineAddress | None:
    """The engine that the setting names; None for an empty one. Errors: ValueError with the forms that are taken."""
    if not text.strip():
        return None
    if (file := _FILE.fullmatch(text.strip())) is not None:
        filters, usd, key_file = _options(file["query"])
        if key_file:
            raise ValueError("a file of pages takes no key")
        return EngineAddress("file", path=unquote(file["path"]), filters=filters, usd=usd)
    match = _ADDRESS.fullmatch(text.strip())
    if match is None or match["engine"] not in ENGINES or match["engine"] == "file":
        raise ValueError(f"expected {FORMS}")
    engine, public = match["engine"], _PUBLIC_HOSTS.get(match["engine"], "")
    host = match["host"].lower() or public
    filters, usd, key_file = _options(match["query"])
    key = unquote(match["key"] or "")
    if not host:
        raise ValueError(f"{engine} needs a host: expected {FORMS}")
    if engine in _PUBLIC_HOSTS and not (key or key_file):
        raise ValueError(f"{engine} needs a key, as {engine}://KEY@ or {engine}://?key_file=PATH")
    if (match["tls"] and engine != "searxng") or (engine == "brave" and host != public):
        raise ValueError(f"expected {FORMS}")
    scheme = Scheme.HTTP if engine == "searxng" and not match["tls"] else Scheme.HTTPS
    port = int(match["port"]) if match["port"] else scheme.port
    if not 0 < port < 65536:
        raise ValueError("its port is none")
    path = (match["path"] or "").rstrip("/")
    return EngineAddress(engine, scheme, host, port, path, key, key_file, host != public, filters, usd)


def _options(query: str | None) -> tuple[SearchFilters, float, str]:
    given = dict(parse_qsl(query or "", keep_blank_values=True))
    if not given.keys() <= _OPTIONS:
        raise ValueError(f"options of a search engine are {', '.join(sorted(_OPTIONS))}")
    hosts = parse_host_list(given["hosts"]) if "hosts" in given else HostList(("*",))
    filters = SearchFilters(hosts, parse_host_list(given.get("without", "")))
    try:
        usd = float(given.get("usd", "0"))
    except ValueError:
        usd = math.nan
    if not (math.isfinite(usd) and usd >= 0):
        raise ValueError("`usd` is the price of one search in US dollars")
    return filters, usd, given.get("key_file", "")
