"""The one reader of filters of documents: every interface brings its own form of `FilterWish`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.metadata import (
    Comparison,
    FieldCondition,
    FieldValue,
    normalise_domain,
    normalise_field,
    normalise_language,
    normalise_tags,
    validate_field_name,
)
from agentic_rag.documents.where import find_condition_fault, merge_filters, parse_where, split_words
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass(frozen=True, slots=True)
class FieldWish:
    """A condition on a field, as a caller gives it."""

    name: str
    values: Sequence[FieldValue]
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class FilterWish:
    """A filter as a caller gives it; what is left out does not restrict."""

    document_ids: Sequence[str] = ()
    without_ids: Sequence[str] = ()
    source_path_prefix: str | None = None
    path_globs: Sequence[str] = ()
    media_types: Sequence[str] = ()
    tags_any: Sequence[str] = ()
    tags_all: Sequence[str] = ()
    domains: Sequence[str] = ()
    languages: Sequence[str] = ()
    date_from: date | None = None
    date_to: date | None = None
    fields: Sequence[FieldWish] = ()
    words: str | None = None
    where: str | None = None


def read_filter(given: FilterWish, workspace: WorkspaceRef, path: tuple[str, ...] = ()) -> DocumentFilter:
    """The filter of a request, which stands at `path`. Errors: `InvalidInput`."""
    prefix = given.source_path_prefix
    wanted = DocumentFilter(
        document_ids=_documents(given.document_ids, workspace, (*path, "documentIds")),
        without_ids=_documents(given.without_ids, workspace, (*path, "withoutIds")),
        source_path_prefix=require_no_nul(prefix, *path, "sourcePathPrefix") if prefix else None,
        path_globs=_texts(given.path_globs, *path, "pathGlobs"),
        media_types=_texts(given.media_types, *path, "mediaTypes"),
        tags=_tags(given, path),
        domains=tuple(normalise_domain(it, (*path, "domains", str(at))) for at, it in enumerate(given.domains)),
        languages=tuple(normalise_language(it, (*path, "languages", str(at))) for at, it in enumerate(given.languages)),
        date_from=given.date_from,
        date_to=given.date_to,
        fields=tuple(_condition(it, (*path, "fields", str(at))) for at, it in enumerate(given.fields)),
        words=split_words(given.words or "", (*path, "words")),
    )
    return narrow(wanted, given.where, workspace, (*path, "where"))


def narrow(
    wanted: DocumentFilter, where: str | None, workspace: WorkspaceRef, path: tuple[str, ...] = ("where",)
) -> DocumentFilter:
    """A filter with what a text says beside it. Errors: `InvalidInput` code FILTER_INVALID."""
    return wanted if where is None else merge_filters(wanted, parse_where(where, workspace.workspace_id, path))


def _texts(given: Sequence[str], *path: str) -> tuple[str, ...]:
    return tuple(require_no_nul(it, *path, str(at)) for at, it in enumerate(given))


def _tags(given: FilterWish, path: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    some = normalise_tags(given.tags_any, (*path, "tagsAny"))
    each = normalise_tags(given.tags_all, (*path, "tagsAll"))
    return (*((some,) if some else ()), *((tag,) for tag in each))


def _condition(given: FieldWish, path: tuple[str, ...]) -> FieldCondition:
    condition = FieldCondition(
        validate_field_name(given.name, (*path, "name")),
        given.comparison,
        tuple(normalise_field(value, (*path, "values", str(at))) for at, value in enumerate(given.values)),
    )
    fault = find_condition_fault(condition)
    if fault is not None:
        raise InvalidInput(f"{fault[0].upper()}{fault[1:]}.", code="FILTER_INVALID", path=path)
    return condition


def _documents(given: Sequence[str], workspace: WorkspaceRef, path: tuple[str, ...]) -> tuple[UUID, ...]:
    documents = [decode(it, NodeKind.DOCUMENT, path=(*path, str(at))) for at, it in enumerate(given)]
    if any(it.workspace_id != workspace.workspace_id for it in documents):
        raise InvalidInput("A filter names documents of the asked workspace only.", path=path)
    return tuple(it.key for it in documents)
