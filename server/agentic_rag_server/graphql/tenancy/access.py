"""The readers of a document."""

from __future__ import annotations

from collections.abc import Sequence

import strawberry

from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS, groups_of, users_of, validate_principals


@strawberry.type(description="The users and groups that may read a document; whoever is one of them may.")
class Readers:
    users: list[str] = strawberry.field(description="Subjects of tokens and keys.")
    groups: list[str] = strawberry.field(description="Groups of tokens and keys.")


@strawberry.input(description="The users and groups that may read a document. Without any the whole workspace may.")
class ReadersInput:
    users: list[str] = strawberry.field(default_factory=list, description="Subjects of tokens and keys.")
    groups: list[str] = strawberry.field(default_factory=list, description="Groups of tokens and keys.")


def read_readers(given: ReadersInput | None) -> tuple[str, ...]:
    """The principals that an argument names. Errors: `InvalidInput`."""
    return PUBLIC_PRINCIPALS if given is None else validate_principals(given.users, given.groups)


def show_readers(principals: Sequence[str]) -> Readers | None:
    """Principals as the schema shows them; None for the whole workspace."""
    return Readers(users=users_of(principals), groups=groups_of(principals)) if principals else None
