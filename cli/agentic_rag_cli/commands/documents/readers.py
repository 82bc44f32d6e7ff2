"""Who may read a document, as the command line names it."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.tenancy.access import validate_principals


def readers_of(users: Sequence[str] | None, groups: Sequence[str] | None) -> tuple[str, ...] | None:
    """The principals that options name; None when they name nobody. Errors: `InvalidInput`."""
    return validate_principals(users or (), groups or ()) or None
