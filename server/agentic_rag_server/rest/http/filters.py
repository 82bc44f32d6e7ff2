"""Filters of documents in REST bodies."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.metadata import Comparison, FieldValue
from agentic_rag.documents.where import MAX_WHERE_CHARACTERS
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server import document_filters
from agentic_rag_server.document_filters import FieldWish, FilterWish
from agentic_rag_server.rest.http.models import Model

Where = Annotated[
    str,
    Meta(
        max_length=MAX_WHERE_CHARACTERS,
        description="Which documents are searched: `tag=a,b language=de date>=2024-01-01 field.team=core`.",
    ),
]


class FieldConditionBody(Model, frozen=True, forbid_unknown_fields=True):
    """A condition on a field. EQUALS takes several values, one of which suffices."""

    name: str
    values: list[FieldValue]
    comparison: Literal["EQUALS", "AT_LEAST", "AT_MOST", "ABOVE", "BELOW"] = "EQUALS"


class FilterBody(Model, frozen=True, forbid_unknown_fields=True):
    """Narrows a search to the documents that all of it lets through. What is left out does not restrict."""

    document_ids: tuple[str, ...] = ()
    without_ids: Annotated[tuple[str, ...], Meta(description="Documents to leave out.")] = ()
    source_path_prefix: str | None = None
    path_globs: Annotated[
        tuple[str, ...],
        Meta(description="One names the path: `*` any text without `/`, `**` any text, `?` one character."),
    ] = ()
    media_types: tuple[str, ...] = ()
    tags_any: Annotated[tuple[str, ...], Meta(description="It has one of them.")] = ()
    tags_all: Annotated[tuple[str, ...], Meta(description="It has all of them.")] = ()
    domains: tuple[str, ...] = ()
    languages: Annotated[tuple[str, ...], Meta(description="`de` takes `de-at` too.")] = ()
    date_from: Annotated[date | None, Meta(description="Of the document; included.")] = None
    date_to: Annotated[date | None, Meta(description="Of the document; included.")] = None
    fields: tuple[FieldConditionBody, ...] = ()
    words: Annotated[
        str | None,
        Meta(description="Each word is a part of the title or of the source path; the case of letters does not count."),
    ] = None
    where: Where | None = None


def read_filter(given: FilterBody | None, workspace: WorkspaceRef) -> DocumentFilter:
    """The filter of a body. Errors: `InvalidInput`."""
    if given is None:
        return DocumentFilter()
    fields = [FieldWish(one.name, one.values, Comparison[one.comparison]) for one in given.fields]
    values = msgspec.structs.asdict(given)
    return document_filters.read_filter(FilterWish(**{**values, "fields": fields}), workspace, ("filter",))
