"""Turns a question into the text that is searched for: with aliases, with what earlier parts found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agentic_rag.answering.plan import SubQuestion
from agentic_rag.answering.query.planner import FINDING_PLACEHOLDER
from agentic_rag.kernel.text import fold_text


def add_aliases(text: str, aliases: Mapping[str, str]) -> str:
    """The text followed by the other names of what it mentions, in the order of `aliases` (name → other name)."""
    low = text.lower()
    added = [
        other
        for name, other in aliases.items()
        # A question that does not hold the name needs no pattern; beyond ASCII cases fold in more ways than one.
        if (name.lower() in low or not (text + name).isascii())
        and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
        and other.lower() not in low
    ]
    return f"{text} ({'; '.join(added)})" if added else text


def has_placeholder(part: SubQuestion) -> bool:
    """True for a part that asks about what another one finds, and means nothing without it."""
    return FINDING_PLACEHOLDER in part.text


def mask_placeholder(part: SubQuestion) -> str:
    """How a part reads whose finding is missing."""
    return part.text.replace(FINDING_PLACEHOLDER, "what the first part asks for")


def fill_placeholder(part: SubQuestion, findings: Sequence[str]) -> str:
    """A dependent sub-question with the names that the earlier parts found."""
    names = ", ".join(findings)
    if FINDING_PLACEHOLDER in part.text:
        return fold_text(part.text.replace(FINDING_PLACEHOLDER, names))
    return f"{part.text.rstrip(' ?')} ({names})?" if names else part.text
