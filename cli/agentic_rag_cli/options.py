"""Options that several commands share, and what they convert to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from agentic_rag.tenancy.access import groups_of, keys_of, users_of, validate_principals

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]

WorkspaceOption = Annotated[
    str | None,
    typer.Option("--workspace", "-w", help="Name of the workspace; may be left out when there is only one."),
]

TenantOption = Annotated[
    str | None,
    typer.Option("--tenant", "-t", help="Id, name or external id of the organisation; the embedded one by default."),
]

UrlOption = Annotated[
    str | None,
    typer.Option("--url", help="Ask this server through GraphQL, e.g. http://127.0.0.1:8080 (AGENTIC_RAG_URL)."),
]

UserOption = Annotated[
    list[str] | None,
    typer.Option("--user", help="Let this user read it, by the subject of his token; may be repeated."),
]

KeyOption = Annotated[
    list[str] | None, typer.Option("--key", help="Let this API key read it, by its subject; may be repeated.")
]

GroupOption = Annotated[list[str] | None, typer.Option("--group", help="Let this group read it; may be repeated.")]

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most this many.")]

WithParentOption = Annotated[
    bool, typer.Option("--with-parent", hidden=True, help="Stop when standard input closes (used by `rag up`).")
]


def readers_of(
    users: Sequence[str] | None, groups: Sequence[str] | None, keys: Sequence[str] | None
) -> tuple[str, ...] | None:
    """The principals that the options name; None when they name none. Errors: `InvalidInput`."""
    return validate_principals(users or (), groups or (), keys or ()) or None


def readers_input(principals: Sequence[str] | None) -> dict[str, list[str]] | None:
    """Principals as GraphQL's `ReadersInput`; None when there are none."""
    if not principals:
        return None
    return {"users": users_of(principals), "keys": keys_of(principals), "groups": groups_of(principals)}
