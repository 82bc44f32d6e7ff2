"""What a page says of itself to machines: its kinds, its descriptions and its dates (JSON-LD, meta elements)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import cast

from selectolax.lexbor import LexborHTMLParser

KINDS = (
    "Product", "Article NewsArticle BlogPosting Report", "DiscussionForumPosting QAPage Question",
    "CollectionPage ItemList SearchResultsPage", "FAQPage", "WebPage", "Organization LocalBusiness Service",
    "Recipe HowTo TechArticle", "og:article", "og:product", "og:website", "forum",
)  # fmt: skip
"""Kinds of schema.org and of Open Graph, and programs of forums; the trees are trained on their order."""
_FORUMS = re.compile(r"phpbb|vbulletin|discourse|xenforo", re.IGNORECASE)
_TEXTS = frozenset({"description", "articleBody", "text", "name", "headline", "reviewBody", "abstract"})
_DESCRIPTIONS = "meta[name=description], meta[property='og:description'], meta[property='og:title']"
_MOST_SAID = 200_000
"""Characters of JSON-LD that are read."""
_MODIFIED = ("datemodified", "article:modified_time", "og:updated_time", "last-modified", "dcterms.modified")
_PUBLISHED = (
    "datepublished", "datecreated", "uploaddate", "article:published_time", "og:published_time", "date", "pubdate",
    "publish-date", "publishdate", "dc.date", "dc.date.issued", "dcterms.created", "dcterms.date", "parsely-pub-date",
    "sailthru.date", "citation_publication_date", "citation_date",
)  # fmt: skip
_DAY = re.compile(r"\b((?:19|20)\d\d)[-/.](\d\d?)[-/.](\d\d?)(?!\d)")
_IN_ADDRESS = re.compile(r"/((?:19|20)\d\d)/(\d\d)/(\d\d)(?:/|$)")


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What the head of a page says."""

    kinds: tuple[bool, ...]
    """By `KINDS`."""
    described: str
    """Texts with which the page describes itself."""
    published: date | None
    """When it was published, else when it was changed last."""


def read_facts(tree: LexborHTMLParser) -> PageFacts:
    """Read the facts; scripts must still be in the tree."""
    stated: dict[str, str] = {}
    types: set[str] = set()
    texts: list[str] = []
    left = _MOST_SAID
    for script in tree.css("script[type='application/ld+json']"):
        source = script.text()
        left -= len(source)
        if left < 0:
            break
        for name, value in _members(_parse_json(source)):
            if name == "@type":
                types.add(value)
            elif name in _TEXTS:
                texts.append(value)
            else:
                stated.setdefault(name.lower(), value)
    for meta in tree.css("meta[content]"):
        named = meta.attributes
        name = named.get("property") or named.get("name") or named.get("itemprop") or ""
        stated.setdefault(name.lower(), named["content"] or "")
    for one in tree.css("[itemtype]"):
        types.add((one.attributes.get("itemtype") or "").rpartition("/")[2])
    texts += [one.attributes.get("content") or "" for one in tree.css(_DESCRIPTIONS)]
    types.add(f"og:{stated.get('og:type', '').lower()}")
    if any(_FORUMS.search(stated.get(name, "")) for name in ("generator", "og:site_name")):
        types.add("forum")
    kinds = tuple(any(one in types for one in names.split()) for names in KINDS)
    return PageFacts(kinds, "\n".join(texts), _date(tree, stated))


def _parse_json(source: str) -> object:
    try:
        return cast(object, json.loads(source, strict=False))
    except (ValueError, RecursionError):
        return None


def _members(said: object) -> Iterator[tuple[str, str]]:
    """Every name and text in a JSON value."""
    stack = [("", said)]
    while stack:
        name, value = stack.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, Mapping):
            stack.extend((str(key), inner) for key, inner in cast("Mapping[object, object]", value).items())
        elif isinstance(value, list):
            stack.extend((name, inner) for inner in cast("list[object]", value))


def _date(tree: LexborHTMLParser, stated: Mapping[str, str]) -> date | None:
    own = tree.css_first("link[rel=canonical]")
    address = "" if own is None else own.attributes.get("href") or ""
    shown = [one.attributes.get("datetime") or "" for one in tree.css("time[datetime]")[:1]]
    named = [*_values_of(stated, _PUBLISHED), *shown, *_values_of(stated, _MODIFIED)]
    for text in named:
        found = _DAY.search(text[:40])
        if found is not None and (day := _day(*found.groups())) is not None:
            return day
    found = _IN_ADDRESS.search(address)
    return None if found is None else _day(*found.groups())


def _values_of(stated: Mapping[str, str], names: Sequence[str]) -> list[str]:
    return [stated.get(name, "") for name in names]


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
