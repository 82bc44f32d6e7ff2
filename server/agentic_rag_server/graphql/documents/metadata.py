"""What is said of documents, in the schema."""

import datetime
from typing import Any

import strawberry

from agentic_rag.documents import metadata as values
from agentic_rag.documents.metadata import UNSAID, FieldValue, MetadataChange
from agentic_rag.kernel.errors import InvalidInput

FieldType = strawberry.enum(values.FieldType, description="The type of a field's value.")


@strawberry.type(description="A field of the caller's own.")
class MetadataField:
    name: str
    type: FieldType  # type: ignore[valid-type]
    value: str = strawberry.field(description="As text: `core`, `2.5`, `true`, `2024-01-31`.")


@strawberry.type(description="What is said of a document: by callers, else by the front matter of its text.")
class DocumentMetadata:
    tags: list[str] = strawberry.field(description="In lower case, sorted.")
    domain: str | None = strawberry.field(description="In lower case.")
    language: str | None = strawberry.field(
        description="A language tag in lower case: `de`, `de-at`; told from the text where nobody says it."
    )
    date: datetime.date | None = strawberry.field(description="The day that the document is of.")
    fields: list[MetadataField]


@strawberry.input(description="One value, of one type.")
class FieldValueInput:
    string: str | None = strawberry.field(default=None, description="In the form 2024-01-31 it is a date.")
    number: float | None = None
    boolean: bool | None = None
    date: datetime.date | None = None


@strawberry.input(description="A field of a document.")
class MetadataFieldInput:
    name: str = strawberry.field(description="1 to 64 letters, digits, `_` or `-`.")
    value: FieldValueInput | None = strawberry.field(default=None, description="Null removes the field.")


@strawberry.input(description="What is said of a document. What is left out stays as it is; null removes it.")
class DocumentMetadataInput:
    tags: list[str] | None = strawberry.field(
        default=strawberry.UNSET, description=f"At most {values.MAX_TAGS}; in place of those before."
    )
    domain: str | None = strawberry.UNSET
    language: str | None = strawberry.field(default=strawberry.UNSET, description="`de`, `en-GB`.")
    date: datetime.date | None = strawberry.UNSET
    fields: list[MetadataFieldInput] | None = strawberry.field(
        default=None, description=f"Fields that are not named stay. A document has at most {values.MAX_FIELDS}."
    )


def show_metadata(metadata: values.DocumentMetadata) -> DocumentMetadata:
    """Metadata in the schema."""
    return DocumentMetadata(
        tags=list(metadata.tags),
        domain=metadata.domain,
        language=metadata.language,
        date=metadata.document_date,
        fields=[
            MetadataField(name=name, type=values.field_type(value), value=values.field_text(value))
            for name, value in metadata.fields.items()
        ],
    )


def read_change(
    given: DocumentMetadataInput | None, path: tuple[str, ...], title: str | None = strawberry.UNSET
) -> MetadataChange:
    """What a request says. Errors: `InvalidInput` with the path after `path`."""
    said = given or DocumentMetadataInput()
    fields: dict[str, FieldValue | None] = {}
    for at, one in enumerate(said.fields or ()):
        if one.name in fields:
            raise InvalidInput(f"The field {one.name!r} stands twice.", path=(*path, "fields", str(at)))
        value = one.value
        fields[one.name] = None if value is None else read_value(value, (*path, "fields", str(at), "value"))
    tags = said.tags
    return values.validate_change(
        MetadataChange(
            title=_said(title),
            tags=tuple(tags) if isinstance(tags, list) else _said(tags),
            domain=_said(said.domain),
            language=_said(said.language),
            document_date=_said(said.date),
            fields=fields,
        ),
        path,
    )


def read_value(given: FieldValueInput, path: tuple[str, ...]) -> FieldValue:
    """The value that is given. Errors: `InvalidInput`."""
    found = [value for value in (given.string, given.number, given.boolean, given.date) if value is not None]
    if len(found) != 1:
        raise InvalidInput("Give one of `string`, `number`, `boolean` and `date`.", path=path)
    value = found[0]
    return value.isoformat() if isinstance(value, datetime.date) else value


def _said(value: Any) -> Any:
    return UNSAID if value is strawberry.UNSET else value
