"""Counts tokens, for chunk sizes and prompt budgets."""

from __future__ import annotations

from typing import Protocol


class TokenCounter(Protocol):
    """Deterministic and without I/O. Joining two texts must not cost more than both apart:
    `count(a + b) <= count(a) + count(b)`; the chunker's size limit rests on that.
    """

    def count(self, text: str) -> int:
        """Tokens in `text`; 0 for the empty text."""
        ...
