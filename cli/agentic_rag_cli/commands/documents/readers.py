"""Converts the options for a document's readers."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.tenancy.access import groups_of, users_of, validate_principals


def readers_of(users: Sequence[str] | None, groups: Sequence[str] | None) -> tuple[str, ...] | None:
    """The principals that the options name; None when they name none. Errors: `InvalidInput`."""
    return validate_principals(users or (), groups or ()) or None


def readers_input(principals: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Principals as GraphQL's `ReadersInput`; None when there are none."""
    return {"users": users_of(principals), "groups": groups_of(principals)} if principals else None
