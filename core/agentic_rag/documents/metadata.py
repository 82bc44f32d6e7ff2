"""What is said of a document beside its text: tags, domain, language, date, and fields of the caller's own."""

from __future__ import annotations

import enum
import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, TypeAlias, cast

from agentic_rag.kernel.errors import InvalidInput

FieldValue: TypeAlias = str | int | float | bool
"""A string in the form of a date (2024-01-31) is a date."""

MAX_TAGS = 50
MAX_TAG_CHARACTERS = 64
MAX_DOMAIN_CHARACTERS = 100
MAX_FIELDS = 50
MAX_FIELD_CHARACTERS = 500
MAX_FIELD_NUMBER = 1e15
"""A number up to it is the same in JSON, in Python and in the database."""

_FIELD_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,4}")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class FieldType(enum.Enum):
    """The type of a field's value."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"


class Unsaid(enum.Enum):
    """The mark of a property that a change does not mention."""

    UNSAID = "unsaid"


UNSAID = Unsaid.UNSAID


@dataclass(frozen=True, slots=True)
class DocumentMetadata:
    """The metadata in force. Tags, domain and language are in lower case; tags are sorted."""

    tags: tuple[str, ...] = ()
    domain: str | None = None
    language: str | None = None
    """A language tag (BCP 47): `de`, `de-at`."""
    document_date: date | None = None
    """The day that the document is of, as its author or uploader says."""
    fields: Mapping[str, FieldValue] = field(default_factory=dict[str, FieldValue])


class Comparison(enum.Enum):
    """How a field is compared with the values of a condition; the value is the sign in `documents.where`."""

    EQUALS = "="
    """To one of them."""
    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"


@dataclass(frozen=True, slots=True)
class FieldCondition:
    """A condition on a field, in the form in which values are stored. A document without the field, or with a value of
    another type, does not pass. Orders exist for numbers and dates, with one value.
    """

    name: str
    comparison: Comparison
    values: tuple[FieldValue, ...]

    def holds(self, metadata: DocumentMetadata) -> bool:
        """Whether a document passes."""
        value = metadata.fields.get(self.name)
        if value is None:
            return False
        if self.comparison is Comparison.EQUALS:
            return any(one == value and field_type(one) is field_type(value) for one in self.values)
        bound = self.values[0]
        if field_type(bound) is not field_type(value):
            return False
        # Dates in this form are in the order of their text.
        order = (str(value) > str(bound)) - (str(value) < str(bound))
        if not isinstance(value, str) and not isinstance(bound, str):
            order = (value > bound) - (value < bound)
        return {
            Comparison.AT_LEAST: order >= 0,
            Comparison.AT_MOST: order <= 0,
            Comparison.ABOVE: order > 0,
            Comparison.BELOW: order < 0,
        }[self.comparison]


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """What somebody says of a document. What is UNSAID stays as it is; None removes what was said before, so that the
    document's own text decides again (title), or nothing holds. Fields that are not named stay.
    """

    title: str | Unsaid | None = UNSAID
    tags: tuple[str, ...] | Unsaid | None = UNSAID
    domain: str | Unsaid | None = UNSAID
    language: str | Unsaid | None = UNSAID
    document_date: date | Unsaid | None = UNSAID
    fields: Mapping[str, FieldValue | None] = field(default_factory=dict[str, "FieldValue | None"])

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said."""
        return self == MetadataChange()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what is said, for the audit log."""
        return tuple(name for name in change_json(self) if name != "fields") + tuple(
            f"fields.{name}" for name in self.fields
        )


NO_CHANGE = MetadataChange()


def read_plain(text: str) -> FieldValue:
    """The value that a text without quotation marks stands for: true, false, a number, else the text itself."""
    if text in ("true", "false"):
        return text == "true"
    if _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text


def field_type(value: FieldValue) -> FieldType:
    """The type of a value."""
    if isinstance(value, bool):
        return FieldType.BOOLEAN
    if isinstance(value, str):
        return FieldType.STRING if read_day(value) is None else FieldType.DATE
    return FieldType.NUMBER


def read_day(text: str) -> date | None:
    """The day that a text in the form 2024-01-31 names; None for any other text."""
    if _DAY.fullmatch(text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def validate_change(change: MetadataChange, path: tuple[str, ...] = ()) -> MetadataChange:
    """The change in the form in which it is stored. Errors: `InvalidInput` code METADATA_INVALID with the property's
    path after `path`.
    """
    tags, domain, language = change.tags, change.domain, change.language
    return MetadataChange(
        title=change.title,
        tags=normalise_tags(tags, (*path, "tags")) if isinstance(tags, tuple) else tags,
        domain=normalise_domain(domain, (*path, "domain")) if isinstance(domain, str) else domain,
        language=normalise_language(language, (*path, "language")) if isinstance(language, str) else language,
        document_date=change.document_date,
        fields=_normalise_fields(change.fields, (*path, "fields")),
    )


def normalise_tags(tags: Sequence[str], path: tuple[str, ...] = ("tags",)) -> tuple[str, ...]:
    """Tags in lower case, sorted, each once. Errors: `InvalidInput` code METADATA_INVALID."""
    found = {_label(tag, MAX_TAG_CHARACTERS, "A tag", (*path, str(at))) for at, tag in enumerate(tags)}
    if len(found) > MAX_TAGS:
        raise _invalid(f"A document has at most {MAX_TAGS} tags; {len(found)} are given.", path)
    return tuple(sorted(found))


def normalise_domain(text: str, path: tuple[str, ...] = ("domain",)) -> str:
    """A domain in lower case. Errors: `InvalidInput` code METADATA_INVALID."""
    return _label(text, MAX_DOMAIN_CHARACTERS, "A domain", path)


def normalise_language(text: str, path: tuple[str, ...] = ("language",)) -> str:
    """A language tag in lower case. Errors: `InvalidInput` code METADATA_INVALID."""
    language = text.strip().lower().replace("_", "-")
    if _LANGUAGE.fullmatch(language) is None:
        raise _invalid("A language is a tag such as `de` or `en-GB`.", path)
    return language


def validate_field_name(name: str, path: tuple[str, ...] = ("fields",)) -> str:
    """The name of a field. Errors: `InvalidInput` code METADATA_INVALID."""
    if _FIELD_NAME.fullmatch(name) is None:
        raise _invalid(
            "The name of a field has 1 to 64 letters, digits, `_` or `-` of ASCII, and begins with a letter or `_`.",
            path,
        )
    return name


def normalise_field(value: FieldValue, path: tuple[str, ...] = ("fields",)) -> FieldValue:
    """A value in the form in which it is stored. Errors: `InvalidInput` code METADATA_INVALID."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = unicodedata.normalize("NFC", value.strip())
        if not 1 <= len(text) <= MAX_FIELD_CHARACTERS or not text.isprintable():
            raise _invalid(f"A field holds 1 to {MAX_FIELD_CHARACTERS} printable characters.", path)
        return text
    if not math.isfinite(value) or abs(value) > MAX_FIELD_NUMBER:
        raise _invalid(f"A number of a field is between -{MAX_FIELD_NUMBER:g} and {MAX_FIELD_NUMBER:g}.", path)
    return int(value) if value == int(value) else value


def require_room(metadata: DocumentMetadata, change: MetadataChange) -> None:
    """Errors: `InvalidInput` code METADATA_INVALID when the document would have more than `MAX_FIELDS` fields."""
    after = {*metadata.fields, *(name for name, value in change.fields.items() if value is not None)}
    after -= {name for name, value in change.fields.items() if value is None}
    if len(after) > MAX_FIELDS:
        raise _invalid(f"A document has at most {MAX_FIELDS} fields; it would have {len(after)}.", ("fields",))


def change_json(change: MetadataChange) -> dict[str, Any]:
    """A change as it is stored: what is unsaid is left out, what is removed is null."""
    day = change.document_date
    said: dict[str, Any] = {
        "title": change.title,
        "tags": list(change.tags) if isinstance(change.tags, tuple) else change.tags,
        "domain": change.domain,
        "language": change.language,
        "date": day.isoformat() if isinstance(day, date) else day,
    }
    stored = {name: value for name, value in said.items() if value is not UNSAID}
    return {**stored, "fields": dict(change.fields)} if change.fields else stored


def metadata_from(stored: Mapping[str, Any]) -> DocumentMetadata:
    """The metadata of a stored form."""
    day = cast(str | None, stored.get("date"))
    fields = cast(Mapping[str, FieldValue | None], stored.get("fields") or {})
    return DocumentMetadata(
        tags=tuple(stored.get("tags") or ()),
        domain=stored.get("domain"),
        language=stored.get("language"),
        document_date=None if day is None else date.fromisoformat(day),
        fields={name: value for name, value in sorted(fields.items()) if value is not None},
    )


def field_text(value: FieldValue) -> str:
    """A value as people read it."""
    return value if isinstance(value, str) else json.dumps(value)


def field_label(name: str, value: FieldValue) -> str:
    """A field with one value as the database's index of labels holds it (`rag_metadata_labels`)."""
    if isinstance(value, float):
        return f"field.{name}={Decimal(repr(value)):f}"
    return f"field.{name}={json.dumps(value, ensure_ascii=False)}"


def _normalise_fields(
    fields: Mapping[str, FieldValue | None], path: tuple[str, ...]
) -> Mapping[str, FieldValue | None]:
    if len(fields) > MAX_FIELDS:
        raise _invalid(f"A document has at most {MAX_FIELDS} fields; {len(fields)} are given.", path)
    return {
        validate_field_name(name, path): None if value is None else normalise_field(value, (*path, name))
        for name, value in fields.items()
    }


def _label(text: str, most: int, what: str, path: tuple[str, ...]) -> str:
    label = unicodedata.normalize("NFC", " ".join(text.split())).lower()
    if not 1 <= len(label) <= most or not label.isprintable():
        raise _invalid(f"{what} has 1 to {most} printable characters.", path)
    return label


def _invalid(message: str, path: tuple[str, ...]) -> InvalidInput:
    return InvalidInput(message, code="METADATA_INVALID", path=path)
