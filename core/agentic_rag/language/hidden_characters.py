"""Characters that are invisible to people but not to models: finds, counts and strips them."""

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
"""Part of the spelling in Persian, Indic scripts and emoji; next to an ASCII character they are only invisible."""

HIDDEN = re.compile(f"[{_NEVER_SHOWN}{_CONTROLS}]|(?<=[ -~])[{_JOINERS}]|[{_JOINERS}](?=[ -~])")


def strip_hidden_characters(text: str) -> str:
    """`text` without its hidden characters."""
    return text if _shows_all(text) else HIDDEN.sub("", text)


def count_hidden_characters(text: str) -> int:
    """The number of hidden characters in `text`."""
    return 0 if _shows_all(text) else sum(1 for _ in HIDDEN.finditer(text))


def _shows_all(text: str) -> bool:
    """A fast check: True means no hidden characters, False means unknown."""
    for seen in "\n\t\r":
        text = text.replace(seen, " ")
    # The only hidden characters that `isprintable` accepts take four bytes in UTF-16; so do emoji.
    return text.isprintable() and len(text.encode("utf-16-le")) == 2 * len(text)


def map_visible_text(text: str, *others: re.Pattern[str]) -> tuple[str, list[int]]:
    """`text` without its hidden characters, nor what `others` find in it, and the offset in `text` of each remaining
    character and of the end.
    """
    hidden = {at for unseen in (HIDDEN, *others) for match in unseen.finditer(text) for at in range(*match.span())}
    places = [at for at in range(len(text)) if at not in hidden]
    return "".join(text[at] for at in places), [*places, len(text)]
