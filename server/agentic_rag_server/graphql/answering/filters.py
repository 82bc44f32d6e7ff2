"""Filters of documents in the schema."""

import datetime

import strawberry

from agentic_rag.documents import metadata
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server import document_filters
from agentic_rag_server.document_filters import FieldWish, FilterWish
from agentic_rag_server.graphql.documents.metadata import FieldValueInput, read_value

Comparison = strawberry.enum(metadata.Comparison, description="How a field is compared.", name="FieldComparison")


@strawberry.input(description="A condition on a field. EQUALS takes several values, one of which suffices.")
class FieldConditionInput:
    name: str
    values: list[FieldValueInput]
    comparison: Comparison = metadata.Comparison.EQUALS  # type: ignore[valid-type]


@strawberry.input(
    description="Narrows retrieval to some documents: to those that all of it lets through. What is left out does not "
    "restrict. Metadata is that of today, also with `asOf`."
)
class DocumentFilterInput:
    document_ids: list[strawberry.ID] | None = None
    without_ids: list[strawberry.ID] | None = strawberry.field(default=None, description="Documents to leave out.")
    source_path_prefix: str | None = None
    path_globs: list[str] | None = strawberry.field(
        default=None,
        description="One names the path: `*` any text without `/`, `**` any text, `?` one character.",
    )
    media_types: list[str] | None = None
    tags_any: list[str] | None = strawberry.field(default=None, description="It has one of them.")
    tags_all: list[str] | None = strawberry.field(default=None, description="It has all of them.")
    domains: list[str] | None = None
    languages: list[str] | None = strawberry.field(default=None, description="`de` takes `de-at` too.")
    date_from: datetime.date | None = strawberry.field(default=None, description="Of the document; included.")
    date_to: datetime.date | None = strawberry.field(default=None, description="Of the document; included.")
    fields: list[FieldConditionInput] | None = None
    words: str | None = strawberry.field(
        default=None,
        description="Each word, of at most 200 characters together, is a part of the title or of the source path; the "
        "case of letters does not count.",
    )
    where: str | None = strawberry.field(
        default=None,
        description="The same as text, beside the rest: `tag=a,b language=de date>=2024-01-01 field.team=core`.",
    )


def read_filter(given: DocumentFilterInput | None, workspace: WorkspaceRef, path: tuple[str, ...]) -> DocumentFilter:
    """The filter of a request, which stands at `path`. Errors: `InvalidInput`."""
    if given is None:
        return DocumentFilter()
    wish = FilterWish(
        document_ids=given.document_ids or (),
        without_ids=given.without_ids or (),
        source_path_prefix=given.source_path_prefix,
        path_globs=given.path_globs or (),
        media_types=given.media_types or (),
        tags_any=given.tags_any or (),
        tags_all=given.tags_all or (),
        domains=given.domains or (),
        languages=given.languages or (),
        date_from=given.date_from,
        date_to=given.date_to,
        fields=[_field(it, (*path, "fields", str(at))) for at, it in enumerate(given.fields or ())],
        words=given.words,
        where=given.where,
    )
    return document_filters.read_filter(wish, workspace, path)


def _field(given: FieldConditionInput, path: tuple[str, ...]) -> FieldWish:
    values = [read_value(one, (*path, "values", str(at))) for at, one in enumerate(given.values)]
    return FieldWish(given.name, values, metadata.Comparison(given.comparison))
