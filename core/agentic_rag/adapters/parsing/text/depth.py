"""Pages whose elements are nested without end: a parser of HTML looks through all open elements for each that begins,
so that its time grows with the square of their depth.
"""

from __future__ import annotations

import re
from collections import Counter

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
_TAG = re.compile(
    r"<!--(?:.*?-->|.*)|<(?P<raw>script|style|textarea|title)\b.*?(?:</(?P=raw)\s*>|\Z)"
    r"|<(?P<slash>/?)(?P<name>[a-z][^\s/>]*+)"
    r"""(?P<rest>(?:=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))|[^>])*+)(?:>|\Z)""",
    re.DOTALL | re.IGNORECASE,
)
"""Comments, elements whose content is no markup, and tags. A tag goes to the first `>` outside of a quoted value, or to
the end of the page, so that no place is looked at twice (HTML, 13.2.5).
"""


def flatten(source: str) -> str:
    """The page without the tags of elements that lie in more than `DEEPEST` others; their texts stay where they are."""
    if source.count("<") <= DEEPEST:
        return source
    opened, dropped = Counter[str](), Counter[str]()
    kept: list[str] = []
    depth = start = 0
    for found in _TAG.finditer(source):
        name = (found["name"] or "").lower()
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
