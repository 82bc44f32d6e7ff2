"""Attributes of files, which are the fields of documents, and filters by them, in OpenAI's form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.metadata import Comparison, FieldValue, MetadataChange, validate_change
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.document_filters import FieldWish, FilterWish, read_filter
from agentic_rag_server.rest.http.models import Model

Attributes = Annotated[
    dict[str, FieldValue],
    Meta(max_length=16, description="Fields of the document; a string in the form 2024-01-31 is a date."),
]

MAX_DEPTH = 4

_COMPARISONS = {
    "eq": Comparison.EQUALS,
    "in": Comparison.EQUALS,
    "gt": Comparison.ABOVE,
    "gte": Comparison.AT_LEAST,
    "lt": Comparison.BELOW,
    "lte": Comparison.AT_MOST,
}


class AttributeFilter(Model, frozen=True, rename=None):
    """A comparison of an attribute (`key`, `value`), or `and` and `or` of several (`filters`)."""

    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "and", "or"]
    key: str | None = None
    value: FieldValue | list[FieldValue] | None = None
    filters: list[AttributeFilter] | None = None


def attributes_change(attributes: Mapping[str, FieldValue] | None, before: Sequence[str] = ()) -> MetadataChange:
    """What a document is told: these attributes in the place of those `before`. Errors: those of `validate_change`."""
    given = attributes or {}
    return validate_change(MetadataChange(fields={**{name: None for name in before if name not in given}, **given}))


def read_attributes_filter(given: AttributeFilter | None, workspace: WorkspaceRef) -> DocumentFilter:
    """The filter of a request. Errors: `InvalidInput`, also for what no filter of documents says: `ne`, `nin`, and `or`
    over anything but `eq` and `in` of one key.
    """
    fields = [] if given is None else _conditions(given, MAX_DEPTH)
    return read_filter(FilterWish(fields=fields), workspace, ("filters",))


def _conditions(given: AttributeFilter, depth: int) -> list[FieldWish]:
    if not depth:
        raise _refused(f"filters are nested at most {MAX_DEPTH} deep")
    if given.type in ("and", "or"):
        inner = [_conditions(one, depth - 1) for one in given.filters or ()]
        if not inner:
            raise _refused(f"`{given.type}` takes `filters`")
        return [wish for one in inner for wish in one] if given.type == "and" else [_either(inner)]
    if given.type not in _COMPARISONS:
        raise _refused(f"`{given.type}` is not supported; say what an attribute is, not what it is not")
    values = given.value if isinstance(given.value, list) else [given.value]
    known = [one for one in values if one is not None]
    if given.key is None or not known or isinstance(given.value, list) != (given.type == "in"):
        what = "a list as `value`" if given.type == "in" else "one `value`"
        raise _refused(f"`{given.type}` takes a `key` and {what}")
    return [FieldWish(given.key, known, _COMPARISONS[given.type])]


def _either(inner: Sequence[Sequence[FieldWish]]) -> FieldWish:
    wishes = [wish for one in inner for wish in one]
    names = {wish.name for wish in wishes}
    is_equality = all(wish.comparison is Comparison.EQUALS for wish in wishes)
    if len(names) != 1 or not is_equality or any(len(one) != 1 for one in inner):
        raise _refused("`or` takes `eq` and `in` of one key")
    return FieldWish(names.pop(), [value for wish in wishes for value in wish.values], Comparison.EQUALS)


def _refused(what: str) -> InvalidInput:
    return InvalidInput(f"The filter cannot be read: {what}.", code="FILTER_INVALID", path=("filters",))
