"""Pages whose elements are nested without end: a parser of HTML looks through all open elements for each that begins,
so that its time grows with the square of their depth.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice

DEEPEST = 1_000
"""Elements in one another that are kept; browsers keep about 500."""
_UNNESTED = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
        "body",
        "colgroup",
        "dd",
        "dt",
        "head",
        "html",
        "li",
        "optgroup",
        "option",
        "p",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
    ]
)
"""Elements that hold nothing, and those that others close though their end is not written."""
_ONE = (
    r"<(?P<slash>/?)(?P<name>[a-z][^\s/>]*+)"
    r"""(?P<rest>(?:=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))|[^>])*+)(?:>|\Z)"""
)
_NAMED = re.compile(_ONE, re.DOTALL | re.IGNORECASE)
_TAG = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<raw>script|style|textarea|title)\b.*?(?:</(?P=raw)\s*>|\Z)|" + _ONE,
    re.DOTALL | re.IGNORECASE,
)
"""Comments, elements whose content is no markup, and tags. A tag goes to the first `>` outside of a quoted value, or to
the end of the page, so that no place is looked at twice (HTML, 13.2.5).
"""


MOST_ATTRIBUTES = 1_000
"""Of a tag; one with more loses them all. Each is compared with all before it."""
_LONG_TAG = 2 * MOST_ATTRIBUTES
"""Characters of so many attributes, at least."""
_ATTRIBUTE = re.compile(r"""[^\s"'=/]+(?:\s*+=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\s]*+))?""")


def flatten(source: str) -> str:
    """The page without the tags of elements that lie in more than `DEEPEST` others; their texts stay where they are.
    Of a tag with more than `MOST_ATTRIBUTES` the name stays.
    """
    if source.count("<") <= DEEPEST and len(source) <= _LONG_TAG:
        return source
    opened, dropped = Counter[str](), Counter[str]()
    kept: list[str] = []
    depth = start = 0
    for found in _TAG.finditer(source):
        name = (found["name"] or "").lower()
        named = _NAMED.match(source, found.start()) if found.end() - found.start() > _LONG_TAG else None
        if named is not None and _has_too_many(named["rest"]):
            kept += [source[start : named.start("rest")], ">"]
            start = named.end()
        if not name or name in _UNNESTED or found["rest"].endswith("/"):
            continue
        if not found["slash"]:
            opened[name] += 1
            depth += 1
            if depth <= DEEPEST:
                continue
            dropped[name] += 1
        elif not opened[name]:
            continue
        else:
            opened[name] -= 1
            depth -= 1
            if not dropped[name]:
                continue
            dropped[name] -= 1
        kept += [source[start : found.start()], "\n"]
        start = found.end()
    return "".join((*kept, source[start:]))


def _has_too_many(attributes: str) -> bool:
    return next(islice(_ATTRIBUTE.finditer(attributes), MOST_ATTRIBUTES, None), None) is not None
