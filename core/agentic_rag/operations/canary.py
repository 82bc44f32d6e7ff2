"""A document in each organisation whose only purpose is that nobody else ever sees it."""

from __future__ import annotations

import hashlib
import re
from uuid import UUID

from agentic_rag.kernel.ids import derive_uuid
from agentic_rag.tenancy.principals import WorkspaceRef

WORKSPACE_NAME = "\u2060leak canary"
"""Begins with a character that no name given by a user may have, so it never takes a name that somebody wants."""

DOCUMENT_PATH = "leak-canary.md"
QUESTION = "What is the leak canary of this house?"
"""The same for every organisation: caches and shared runs must keep the answers apart."""

_WORD = re.compile(r"leakcanary[a-p]{32}")
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


def canary_workspace(org_id: UUID) -> WorkspaceRef:
    """Where the organisation's canary lives: a workspace that no list shows."""
    return WorkspaceRef(org_id, derive_uuid(b"leak canary", org_id.bytes))


def canary_word(org_id: UUID) -> str:
    """A word that stands in the canary of this organisation and nowhere else."""
    return "leakcanary" + hashlib.sha256(b"leak canary" + org_id.bytes).hexdigest()[:32].translate(_LETTERS)


def canary_text(org_id: UUID) -> str:
    """What the document says."""
    return f"The leak canary of this house is {canary_word(org_id)}. No other house may ever read it."


def find_canary_words(text: str) -> frozenset[str]:
    """The canary words that a text shows, whosever they are."""
    return frozenset(_WORD.findall(text.casefold()))
