"""Filters of documents in the schema."""

import datetime
from uuid import UUID

import strawberry

from agentic_rag.documents import metadata
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.metadata import (
    FieldCondition,
    normalise_domain,
    normalise_field,
    normalise_language,
    normalise_tags,
    validate_field_name,
)
from agentic_rag.documents.where import find_condition_fault, merge_filters, parse_where
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.tenancy.principals import WorkspaceRef
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
    where: str | None = strawberry.field(
        default=None,
        description="The same as text, beside the rest: `tag=a,b language=de date>=2024-01-01 field.team=core`.",
    )


def read_filter(given: DocumentFilterInput | None, workspace: WorkspaceRef, path: tuple[str, ...]) -> DocumentFilter:
    """The filter of a request, which stands at `path`. Errors: `InvalidInput`."""
    if given is None:
        return DocumentFilter()
    prefix = given.source_path_prefix
    wanted = DocumentFilter(
        document_ids=_documents(given.document_ids, workspace, (*path, "documentIds")),
        without_ids=_documents(given.without_ids, workspace, (*path, "withoutIds")),
        source_path_prefix=require_no_nul(prefix, *path, "sourcePathPrefix") if prefix else None,
        path_globs=_texts(given.path_globs, *path, "pathGlobs"),
        media_types=_texts(given.media_types, *path, "mediaTypes"),
        tags=_tags(given, path),
        domains=tuple(normalise_domain(it, (*path, "domains", str(at))) for at, it in enumerate(given.domains or ())),
        languages=tuple(
            normalise_language(it, (*path, "languages", str(at))) for at, it in enumerate(given.languages or ())
        ),
        date_from=given.date_from,
        date_to=given.date_to,
        fields=tuple(_condition(it, (*path, "fields", str(at))) for at, it in enumerate(given.fields or ())),
    )
    if given.where is None:
        return wanted
    return merge_filters(wanted, parse_where(given.where, workspace.workspace_id, (*path, "where")))


def _texts(given: list[str] | None, *path: str) -> tuple[str, ...]:
    return tuple(require_no_nul(it, *path, str(at)) for at, it in enumerate(given or ()))


def _tags(given: DocumentFilterInput, path: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    some = normalise_tags(given.tags_any or (), (*path, "tagsAny"))
    each = normalise_tags(given.tags_all or (), (*path, "tagsAll"))
    return (*((some,) if some else ()), *((tag,) for tag in each))


def _condition(given: FieldConditionInput, path: tuple[str, ...]) -> FieldCondition:
    found = [(read_value(one, (*path, "values", str(at))), at) for at, one in enumerate(given.values)]
    condition = FieldCondition(
        validate_field_name(given.name, (*path, "name")),
        metadata.Comparison(given.comparison),
        tuple(normalise_field(value, (*path, "values", str(at))) for value, at in found),
    )
    fault = find_condition_fault(condition)
    if fault is not None:
        raise InvalidInput(f"{fault[0].upper()}{fault[1:]}.", code="FILTER_INVALID", path=path)
    return condition


def _documents(given: list[strawberry.ID] | None, workspace: WorkspaceRef, path: tuple[str, ...]) -> tuple[UUID, ...]:
    documents = [decode(it, NodeKind.DOCUMENT, path=(*path, str(at))) for at, it in enumerate(given or ())]
    if any(it.workspace_id != workspace.workspace_id for it in documents):
        raise InvalidInput("A filter names documents of the asked workspace only.", path=path)
    return tuple(it.key for it in documents)
