"""Words that a hyphen parts at the end of a line, as columns of print have them: "con-", "nected"."""

from __future__ import annotations

import re

PARTING = re.compile(r"(?<=[^\W\d_])[-‐][ \t]*\n[ \t]*(?=[^\W\d_])")
"""Between two letters: the hyphen and the break behind it."""
_BREAK = re.compile(r"[-‐][ \t]*\n")
"""In every text with a parted word, and found thirty times as fast: few texts have one."""
_PARTED = re.compile(r"(?<![^\W_])([^\W_]{1,64}+)[-‐][ \t]*\n[ \t]*(?=([^\W_]{1,64}+))")


def join_parted_words(text: str) -> str:
    """`text` with the parts of a word together; before a capital the hyphen stays."""
    if _BREAK.search(text) is None:
        return text
    return PARTING.sub(lambda parting: "" if text[parting.end()].islower() else "-", text)


def spell_parted_words(text: str) -> str:
    """`text` with every parted word in both spellings, "con-nected" in its place and "connected" at the end: only a
    dictionary could choose.
    """
    if _BREAK.search(text) is None:
        return text
    joined = [f"{before}{after}" for before, after in _PARTED.findall(text)]
    return " ".join((_PARTED.sub(r"\1-", text), *joined)) if joined else text
