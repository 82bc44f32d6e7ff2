"""What is said of documents, in REST bodies."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from agentic_rag.documents.metadata import (
    MAX_FIELDS,
    MAX_TAGS,
    UNSAID,
    DocumentMetadata,
    FieldValue,
    MetadataChange,
    validate_change,
)
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_server.rest.http.models import Model

FIELDS = "A string in the form 2024-01-31 is a date."


class MetadataBody(Model, frozen=True):
    """What is said of a document: by callers, else by the front matter of its text."""

    tags: list[str]
    domain: str | None
    language: str | None
    date: Annotated[str | None, Meta(extra_json_schema={"format": "date"})]
    fields: Annotated[dict[str, FieldValue], Meta(description=FIELDS)]


class MetadataChangeBody(Model, frozen=True, forbid_unknown_fields=True):
    """What is said of a document. What is left out stays as it is; null removes it."""

    tags: Annotated[list[str], Meta(max_length=MAX_TAGS)] | UnsetType | None = UNSET
    domain: str | UnsetType | None = UNSET
    language: str | UnsetType | None = UNSET
    date: date | UnsetType | None = UNSET
    fields: Annotated[dict[str, FieldValue | None], Meta(max_length=MAX_FIELDS, description=FIELDS)] | UnsetType = UNSET


class DocumentChange(Model, frozen=True, forbid_unknown_fields=True):
    """What changes of a document. What is left out stays as it is."""

    title: Annotated[
        str | UnsetType | None,
        Meta(description="Its name for people; null: its text decides when it is ingested next."),
    ] = UNSET
    metadata: MetadataChangeBody | None = None


def show_metadata(metadata: DocumentMetadata) -> MetadataBody:
    """Metadata as REST shows it."""
    day = metadata.document_date
    return MetadataBody(
        tags=list(metadata.tags),
        domain=metadata.domain,
        language=metadata.language,
        date=None if day is None else day.isoformat(),
        fields=dict(metadata.fields),
    )


def read_change(given: DocumentChange) -> MetadataChange:
    """What a body says. Errors: `InvalidInput` code METADATA_INVALID."""
    said = given.metadata or MetadataChangeBody()
    return validate_change(
        MetadataChange(
            title=_said(given.title),
            tags=tuple(said.tags) if isinstance(said.tags, list) else _said(said.tags),
            domain=_said(said.domain),
            language=_said(said.language),
            document_date=_said(said.date),
            fields={} if isinstance(said.fields, UnsetType) else said.fields,
        ),
        ("metadata",),
    )


def parse_metadata(text: str) -> MetadataChange:
    """What the form field `metadata` says, as JSON. Errors: `InvalidInput`."""
    try:
        return read_change(DocumentChange(metadata=msgspec.json.decode(text, type=MetadataChangeBody)))
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise InvalidInput(f"`metadata` does not fit: {wrong}.", path=("metadata",)) from wrong


def _said(value: Any) -> Any:
    return UNSAID if isinstance(value, UnsetType) else value
