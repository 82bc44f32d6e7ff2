"""XHTML written as HTML. A parser of HTML takes `<title/>` for an element that begins, so all text up to the next
`</title>` would be a title, and text in a CDATA section for a comment.
"""

from __future__ import annotations

import html
import re

_VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
_EMPTY = re.compile(r"""<([a-zA-Z][\w:.-]*)((?:"[^"<]*"|'[^'<]*'|[^"'<>/]|/(?!>))*)/>""")
"""An element without content. No attribute of XML holds a `<`."""
_SECTION, _SECTION_END = "<![CDATA[", "]]>"


def as_html(source: str) -> str:
    """The page with an end tag for each empty element, and the text of its CDATA sections as text."""
    head, *sections = source.split(_SECTION)
    if sections:
        parts = [section.partition(_SECTION_END) for section in sections]
        source = head + "".join(f"{html.escape(text, quote=False)}{rest}" for text, _, rest in parts)
    return _EMPTY.sub(_close, source)


def _close(tag: re.Match[str]) -> str:
    name = tag[1]
    return tag[0] if name.lower() in _VOID else f"<{name}{tag[2]}></{name}>"
