"""Characters that people do not see and models do: where they stand, and text without them."""

from __future__ import annotations

import re

_NEVER_SHOWN = (
    "\u00ad"  # soft hyphen
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides and isolates
    "\u180e\u200b\u2060-\u2064\ufeff"  # zero width
    "\ufff9-\ufffb"  # interlinear annotation
    "\U000e0000-\U000e007f"  # tags: a whole alphabet
    "\U000e0100-\U000e01ef"  # variation selectors that carry bytes
)
_CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f"
_JOINERS = "\u200c\u200d"
"""Spelling in Persian, Indic scripts and emoji; between ASCII letters they only hide."""

HIDDEN = re.compile(f"[{_NEVER_SHOWN}{_CONTROLS}]|(?<=[ -~])[{_JOINERS}]|[{_JOINERS}](?=[ -~])")


def strip_hidden_characters(text: str) -> str:
    """`text` as a reader sees it."""
    return text if _shows_all(text) else HIDDEN.sub("", text)


def count_hidden_characters(text: str) -> int:
    """How many characters of `text` a reader does not see."""
    return 0 if _shows_all(text) else sum(1 for _ in HIDDEN.finditer(text))


def _shows_all(text: str) -> bool:
    """True for most texts at a glance; False says nothing."""
    for seen in "\n\t\r":
        text = text.replace(seen, " ")
    # What is hidden although `isprintable` takes it for visible takes four bytes in UTF-16, as emoji do.
    return text.isprintable() and len(text.encode("utf-16-le")) == 2 * len(text)


def map_visible_text(text: str) -> tuple[str, list[int]]:
    """`text` as a reader sees it, and for each character (and the end) where it stands in `text`."""
    hidden = {at for match in HIDDEN.finditer(text) for at in range(*match.span())}
    places = [at for at in range(len(text)) if at not in hidden]
    return "".join(text[at] for at in places), [*places, len(text)]
