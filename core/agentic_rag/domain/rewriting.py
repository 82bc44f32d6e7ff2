"""Turns a question into the text that is searched for: with aliases, with what earlier parts found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from agentic_rag.domain.answers import SubQuestion
from agentic_rag.domain.planning import FINDING
from agentic_rag.domain.storable import folded

NO_ALIASES: Mapping[str, str] = MappingProxyType({})


def with_aliases(text: str, aliases: Mapping[str, str]) -> str:
    """The text followed by the other names of what it mentions, in the order of `aliases` (name → other name)."""
    added = [
        other
        for name, other in aliases.items()
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) and other.lower() not in text.lower()
    ]
    return f"{text} ({'; '.join(added)})" if added else text


def needs_finding(part: SubQuestion) -> bool:
    """True for a part that asks about what another one finds, and means nothing without it."""
    return FINDING in part.text


def unfilled(part: SubQuestion) -> str:
    """How a part reads whose finding is missing."""
    return part.text.replace(FINDING, "what the first part asks for")


def filled(part: SubQuestion, findings: Sequence[str]) -> str:
    """A dependent sub-question with the names that the earlier parts found."""
    names = ", ".join(findings)
    if FINDING in part.text:
        return folded(part.text.replace(FINDING, names))
    return f"{part.text.rstrip(' ?')} ({names})?" if names else part.text
