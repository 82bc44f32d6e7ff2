"""The leak canary: a document in each organisation that no other organisation may ever see."""

from __future__ import annotations

import hashlib
import re
from uuid import UUID

from agentic_rag.kernel.ids import derive_uuid
from agentic_rag.tenancy.principals import WorkspaceRef

WORKSPACE_NAME = "\u2060leak canary"
"""Begins with a character that user-given names may not contain, so it never collides with one."""

DOCUMENT_PATH = "leak-canary.md"
QUESTION = "What is the leak canary of this house?"
"""The same for every organisation, so that caches and shared runs must keep the answers apart."""

_WORD = re.compile(r"leakcanary[a-p]{32}")
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")


def canary_workspace(org_id: UUID) -> WorkspaceRef:
    """The workspace of the organisation's canary; no list shows it."""
    return WorkspaceRef(org_id, derive_uuid(b"leak canary", org_id.bytes))


def canary_word(org_id: UUID) -> str:
    """A word that occurs only in this organisation's canary."""
    return "leakcanary" + hashlib.sha256(b"leak canary" + org_id.bytes).hexdigest()[:32].translate(_LETTERS)


def canary_text(org_id: UUID) -> str:
    """The text of the canary document."""
    return f"The leak canary of this house is {canary_word(org_id)}. No other house may ever read it."


def find_canary_words(text: str) -> frozenset[str]:
    """The canary words of any organisation that occur in a text."""
    return frozenset(_WORD.findall(text.casefold()))
