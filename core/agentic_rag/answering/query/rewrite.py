"""Turns a question into a search text: adds aliases, and the findings of earlier sub-questions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agentic_rag.answering.plan import SubQuestion
from agentic_rag.answering.query.planner import FINDING_PLACEHOLDER
from agentic_rag.kernel.text import fold_text


def add_aliases(text: str, aliases: Mapping[str, str]) -> str:
    """The text followed by the aliases of the names in it, in the order of `aliases` (name → other name)."""
    low = text.lower()
    added = [
        other
        for name, other in aliases.items()
        # Only a question that contains the name needs the pattern; beyond ASCII, lower case is not enough to tell.
        if (name.lower() in low or not (text + name).isascii())
        and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
        and other.lower() not in low
    ]
    return f"{text} ({'; '.join(added)})" if added else text


def has_placeholder(part: SubQuestion) -> bool:
    """True for a sub-question that means nothing without the finding of another."""
    return FINDING_PLACEHOLDER in part.text


def mask_placeholder(part: SubQuestion) -> str:
    """A sub-question as text for people, where its finding is missing."""
    return part.text.replace(FINDING_PLACEHOLDER, "what the first part asks for")


def fill_placeholder(part: SubQuestion, findings: Sequence[str]) -> str:
    """A dependent sub-question completed with the names that earlier ones found."""
    names = ", ".join(findings)
    if FINDING_PLACEHOLDER in part.text:
        return fold_text(part.text.replace(FINDING_PLACEHOLDER, names))
    return f"{part.text.rstrip(' ?')} ({names})?" if names else part.text
