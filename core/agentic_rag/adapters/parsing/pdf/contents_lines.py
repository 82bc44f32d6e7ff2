"""Tables of contents: lines that name a heading of the file, with dots that lead to the number of its page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.adapters.parsing.pdf.page_words import PdfPage

_ENTRY = re.compile(r"(?P<name>\S.*?)[\s.…·_]*(?:(?:\. ?){4}|…)[\s.…·_]*(?:[\w-]{1,5}-)?(?:\d{1,4}|[ivxlcIVXLC]{1,6})$")
_NUMBER = re.compile(
    r"^(?:(?:chapter|part|section|appendix|annex|kapitel|teil|anhang)\s+)?[\dA-Z]{1,3}(?:\.\d{1,3})*[.)]?\s+"
)
_NO_LETTER = re.compile(r"[\W_]+")
_LEAST_ENTRIES = 4
_LEAST_SHARE = 0.5
"""Of the entries of a page whose names stand elsewhere as a line of their own: a list of prices has none."""


def contents_lines(pages: Sequence[PdfPage]) -> frozenset[tuple[int, int]]:
    """The places (page and line, both from 0) of the lines of tables of contents.

    What they say stands in the file again, at the headings that they name.
    """
    entries: dict[int, dict[int, str]] = {}
    lines: set[str] = set()
    for number, page in enumerate(pages):
        for at, line in enumerate(page.lines):
            text = line.text.strip()
            found = _ENTRY.fullmatch(text) if "." in text or "…" in text else None
            if found is None:
                lines.update(_names(text))
            else:
                entries.setdefault(number, {})[at] = found["name"]
    return frozenset(
        (number, at)
        for number, named in entries.items()
        if len(named) >= _LEAST_ENTRIES
        and sum(bool(_names(name) & lines) for name in named.values()) >= _LEAST_SHARE * len(named)
        for at in named
    )


def _names(text: str) -> set[str]:
    """A line's letters and digits, with and without the number before them; none of a line without letters."""
    found = {_NO_LETTER.sub("", one).casefold() for one in (text, _NUMBER.sub("", text))}
    return {one for one in found if any(map(str.isalpha, one))}
