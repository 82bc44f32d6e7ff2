"""Documents that are pages of the web: their paths, and what is kept of how they came."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import Enum

import msgspec

from agentic_rag.web.fetch_policy import charset_of
from agentic_rag.web.url_policy import AddressRefused, Target, parse_target

PREFIX = "web/"
"""Begins the path of every page that the web gave to a workspace."""
ORIGIN = "web_origin"
"""The provenance entry that says how a page came: a `WebOrigin`."""
FETCHED_AT = "fetched_at"
"""The provenance entry with the time at which the server was asked last, in ISO 8601."""
SEARCH_QUERY = "search_query"
CRAWL_DEPTH = "crawl_depth"
ETAG = "etag"
ANSWERED_AT = "answered_at"
"""The provenance entry with the address that gave the response, after redirects and as its server writes it."""
RESPONSE_HEADERS = "response_headers"
"""Headers of the response as a JSON object."""
MAX_PATH = 400
"""Characters of a path; what is longer ends in a digest."""


class WebOrigin(Enum):
    """How a page came to a workspace."""

    WEB_SEARCH = "WEB_SEARCH"
    """A search engine named it."""
    CRAWL = "CRAWL"
    """A caller named it, or a page that a crawl read."""


def page_path(target: Target) -> str:
    """The path of a page's document. The same address has the same path."""
    path = f"{PREFIX}{target.authority}{target.request}"
    if len(path) <= MAX_PATH:
        return path
    digest = hashlib.sha256(target.url.encode()).hexdigest()[:16]
    return f"{path[: MAX_PATH - len(digest) - 1]}~{digest}"


def page_host(source_path: str, url: str | None) -> str | None:
    """The host of a page of the web; None for any other document."""
    return None if url is None or not source_path.startswith(PREFIX) else host_of(url)


def stated_charset(provenance: Mapping[str, str]) -> str:
    """The code page that a page's server stated; empty where it stated none, and of other documents."""
    try:
        headers = msgspec.json.decode(provenance.get(RESPONSE_HEADERS, "{}"), type=dict[str, str])
    except msgspec.DecodeError:
        return ""
    return charset_of(headers.get("content-type", ""))


def host_of(url: str) -> str | None:
    """The host of an address; None of one that may not be requested."""
    try:
        return parse_target(url).host
    except AddressRefused:
        return None
