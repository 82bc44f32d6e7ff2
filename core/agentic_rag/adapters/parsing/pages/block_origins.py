"""Where a block stands in its page: the elements around it, by tag and by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

TAGS = (
    "main", "article", "header", "footer", "aside", "form", "ul", "ol", "section", "dl", "table", "figure",
    "blockquote", "details", "address",
)  # fmt: skip
NAMES = (
    "footer colophon copyright legal disclaimer imprint",
    "header masthead topbar hero banner logo branding",
    "sidebar aside rail secondary widget widgets complementary toc",
    "related recommend recommended recommendations similar upsell also suggested suggestions popular trending latest "
    "recent promoted readmore teaser teasers crosssell",
    "comment comments commentlist respond reply replies discussion disqus answer answers thread message messages post "
    "posts forum",
    "share sharing social follow facebook twitter subscribe subscription newsletter signup mailing",
    "nav navbar navigation menu menus submenu breadcrumb breadcrumbs pagination pager paging tabs skip dropdown "
    "sitemap links",
    "ad ads advert advertisement sponsor sponsored promo promotion cta offer campaign affiliate",
    "cookie cookies consent gdpr modal popup overlay dialog notice alert toast tooltip drawer offcanvas",
    "meta byline author authors date time timestamp tags tag category categories taxonomy published posted bio avatar "
    "user username",
    "content body entry text prose markdown richtext rte story articlebody maincontent copy wysiwyg documentation docs",
    "product pdp description details specs spec specification specifications features summary price sku buy variant",
    "review reviews rating ratings testimonial testimonials stars feedback",
    "cart checkout basket account login signin register wishlist shipping localization currency country search filter "
    "filters facet sort",
    "card cards tile tiles grid carousel slider slide swiper gallery list listing item items results feed collection",
    "caption figcaption credit image img media video player",
    "faq accordion faqs question questions",
    "hidden visuallyhidden sr screen invisible collapse collapsed mobile",
)
"""Words of classes, ids and roles that mean the same, a line each; the trees are trained on their order."""
NEAR = 3
"""Elements right around a block."""

_TAG_BITS = {tag: 1 << place for place, tag in enumerate(TAGS)}
_NAME_BITS = {word: 1 << len(TAGS) + place for place, line in enumerate(NAMES) for word in line.split()}
_PARTS = re.compile(r"[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])")
_NAMING = ("class", "id", "role", "itemprop", "data-testid")


@dataclass(frozen=True, slots=True)
class NodePlace:
    """An element around a block; `bits` tell its tag and its names."""

    bits: int
    element: int
    tag: str
    classes: str


@dataclass(frozen=True, slots=True)
class BlockOrigin:
    """Where a block stands, and how many of its letters are links'."""

    around: int
    near: int
    letters: int
    linked: int
    parent: int
    grandparent: int
    depth: int
    tag: str
    kind: str
    """The tags and classes right around it: cards of one list share them."""


def place_of(node: LexborNode) -> NodePlace:
    """An element, by its tag and its names."""
    tag, attributes = node.tag or "", node.attributes
    bits = _TAG_BITS.get(tag, 0)
    for attribute in _NAMING:
        named = attributes.get(attribute)
        if named:
            for word in _PARTS.split(named):
                bits |= _NAME_BITS.get(word.lower(), 0)
    return NodePlace(bits, node.mem_id, tag, attributes.get("class") or "")


def origin_of(places: Sequence[NodePlace], own: int, letters: int, linked: int) -> BlockOrigin:
    """The origin of a block inside `places`, outermost first; `own` are the bits of an element that is the block."""
    around = near = own
    for place in places:
        around |= place.bits
    for place in places[-NEAR:]:
        near |= place.bits
    parent = places[-1] if places else NodePlace(0, 0, "", "")
    grandparent = places[-2].element if len(places) > 1 else 0
    kind = " ".join(f"{one.tag}.{one.classes}" for one in places[-2:])
    return BlockOrigin(
        around, near, letters, min(linked, letters), parent.element, grandparent, len(places), parent.tag, kind
    )
