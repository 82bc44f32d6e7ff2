"""Options that several commands share, and what they convert to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.documents.metadata import (
    UNSAID,
    FieldType,
    FieldValue,
    MetadataChange,
    change_json,
    field_type,
    read_day,
    validate_change,
)
from agentic_rag.documents.where import read_field_value
from agentic_rag.kernel.clock import with_zone
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.access import groups_of, keys_of, users_of, validate_principals

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help="Id of the run; `rag run list` shows them.")]
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

WhereOption = Annotated[
    str | None,
    typer.Option("--where", help="Only these documents: 'tag=a,b language=de date>=2024-01-01 field.team=core'."),
]

TagOption = Annotated[list[str] | None, typer.Option("--tag", help="Give it this tag; may be repeated.")]

FieldOption = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=VALUE", help="Give it this field; NAME= removes it; may be repeated."),
]

DomainOption = Annotated[str | None, typer.Option("--domain", help="What it is about; '' removes it.")]

LanguageOption = Annotated[str | None, typer.Option("--language", help="Its language: de, en-GB; '' removes it.")]

DateOption = Annotated[str | None, typer.Option("--date", help="The day it is of: 2024-01-31; '' removes it.")]

AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="VERSION|INSTANT",
        help="Read what was there then: a corpus version, or an instant (2026-11-01 is the end of that day, UTC).",
    ),
]
SinceOption = Annotated[str | None, typer.Option("--since", metavar="INSTANT", help="From then on (ISO 8601).")]


def read_folder(text: str) -> Path:
    """A folder that was named. An empty name is none: a variable that is not set would be the working directory."""
    if not text.strip():
        raise typer.BadParameter("the name is empty; `.` is this folder")
    return Path(text)


LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most this many.")]

WithParentOption = Annotated[
    bool, typer.Option("--with-parent", hidden=True, help="Stop when standard input closes (used by `rag up`).")
]

_LAST_VERSION = 2**31 - 1
"""The largest whole number of GraphQL."""


def metadata_of(
    tags: Sequence[str] | None,
    fields: Sequence[str] | None,
    domain: str | None,
    language: str | None,
    date: str | None,
    title: str | None = None,
) -> MetadataChange:
    """What the options say of a document. Errors: `InvalidInput`."""
    found: dict[str, FieldValue | None] = {}
    for one in fields or ():
        name, sign, value = one.partition("=")
        if not sign:
            raise InvalidInput(f"`--field` takes NAME=VALUE, not {one!r}.", path=("fields",))
        found[name] = read_field_value(value) if value else None
    day = read_day(date) if date else None
    if date and day is None:
        raise InvalidInput(f"A date is written 2024-01-31, not {date!r}.", path=("date",))
    return validate_change(
        MetadataChange(
            title=UNSAID if title is None else title or None,
            tags=UNSAID if tags is None else tuple(one for one in tags if one),
            domain=UNSAID if domain is None else domain or None,
            language=UNSAID if language is None else language or None,
            document_date=UNSAID if date is None else day,
            fields=found,
        )
    )


def metadata_input(change: MetadataChange) -> dict[str, Any] | None:
    """A change as GraphQL's `DocumentMetadataInput`; None when it says nothing."""
    said = {name: value for name, value in change_json(change).items() if name not in ("title", "fields")}
    fields = [
        {"name": name, "value": None if value is None else {_INPUTS[field_type(value)]: value}}
        for name, value in change.fields.items()
    ]
    return {**said, **({"fields": fields} if fields else {})} or None


_INPUTS = {
    FieldType.STRING: "string",
    FieldType.NUMBER: "number",
    FieldType.BOOLEAN: "boolean",
    FieldType.DATE: "date",
}


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


def as_of_input(text: str | None) -> dict[str, object]:
    """`asOf` or `asOfTime` of a request. Errors: `InvalidInput`."""
    if text is None:
        return {}
    if text.isascii() and text.isdecimal() and len(text) <= len(str(_LAST_VERSION)) and int(text) <= _LAST_VERSION:
        return {"asOf": int(text)}
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidInput(
            f"{text!r} is neither a corpus version nor an instant such as 2026-11-01 or 2026-11-01T12:30:00Z.",
            path=("as-of",),
        ) from error
    if len(text) <= len("2026-11-01"):
        instant = datetime.combine(instant.date(), time.max)
    return {"asOfTime": with_zone(instant).isoformat()}
