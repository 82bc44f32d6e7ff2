"""What the front matter of a Markdown text says of its document, by the names that static site generators use.

`tags` or `keywords`, `date`, `domain`, `language` or `lang` fill the properties of these names; any other key with one
plain value becomes a field. What does not fit is left out: front matter never hinders an ingestion.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, TypeVar, cast

from agentic_rag.documents.metadata import (
    MAX_FIELDS,
    MAX_TAGS,
    NO_CHANGE,
    UNSAID,
    FieldValue,
    MetadataChange,
    normalise_domain,
    normalise_field,
    normalise_language,
    normalise_tags,
    read_day,
    read_plain,
    validate_field_name,
)
from agentic_rag.kernel.errors import InvalidInput

MAX_LINES = 200
MAX_CHARACTERS = 20_000

_T = TypeVar("_T")
_FENCES = ("---", "+++")
_FIRST = re.compile(r"[\"']?[A-Za-z_][\w .-]*[\"']?\s*(?::(?:\s|$)|=)|\[|#|---|\+\+\+")
"""What the first line of front matter begins with: a key, a table of TOML or a comment; or it is empty."""

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_ -]*?)\s*:(?:\s+(.*)|\s*)$")
_ITEM = re.compile(r"\s*-\s+(.*)$")
_STRUCTURE = ">|{&*!"
"""What begins a value that is not plain."""
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_NAMES: Mapping[str, str] = {
    "tags": "tags", "tag": "tags", "keywords": "tags", "date": "date", "domain": "domain", "language": "language",
    "lang": "language", "title": "",
}  # fmt: skip


def read_front_matter(text: str) -> MetadataChange:
    """The metadata that a text begins with; nothing without front matter, or with one that is broken."""
    head = text[: front_matter_end(text)].removeprefix("\ufeff").splitlines()
    if not head:
        return NO_CHANGE
    fence, end = head[0].rstrip(), len(head) - 1
    if fence == "---":
        return _metadata(dict(_yaml_pairs(head[1:end])))
    try:
        return _metadata(tomllib.loads("\n".join(head[1:end])))
    except (tomllib.TOMLDecodeError, RecursionError):
        return NO_CHANGE


def front_matter_end(text: str) -> int:
    """Where the front matter ends that a text begins with, its closing fence included; 0 without any. A first line that
    gives no key a value is text below a rule.
    """
    lines = text[:MAX_CHARACTERS].split("\n", MAX_LINES + 1)[: MAX_LINES + 1]
    fence = lines[0].removeprefix("\ufeff").rstrip()
    if fence not in _FENCES or (len(lines) > 1 and _FIRST.match(lines[1]) is None):
        return 0
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == fence), None)
    return 0 if end is None else sum(len(line) + 1 for line in lines[:end]) + len(lines[end])


def _metadata(pairs: Mapping[str, Any]) -> MetadataChange:
    known: dict[str, Any] = {}
    fields: dict[str, FieldValue | None] = {}
    for key, value in pairs.items():
        name = _NAMES.get(key.lower())
        if name:
            known.setdefault(name, value)
        elif name is None and (found := _fit(_field, key, value)) is not None:
            fields[found[0]] = found[1]
    tags, day = known.get("tags"), _text(known.get("date"))
    listed = cast(list[Any], tags) if isinstance(tags, list) else (_text(tags) or "").split(",")
    fitting = [_fit(normalise_tags, [_text(one) or ""]) or () for one in listed]
    return MetadataChange(
        tags=tuple(sorted({tag for some in fitting for tag in some})[:MAX_TAGS]) or UNSAID,
        domain=_fit(normalise_domain, _text(known.get("domain")) or "") or UNSAID,
        language=_fit(normalise_language, _text(known.get("language")) or "") or UNSAID,
        document_date=read_day((day or "")[:10]) or UNSAID,
        fields=dict(list(fields.items())[:MAX_FIELDS]),
    )


def _field(key: str, value: Any) -> tuple[str, FieldValue] | None:
    name = validate_field_name(key)
    if isinstance(value, date):
        return name, value.isoformat()[:10]
    return (name, normalise_field(value)) if isinstance(value, str | int | float) else None


def _text(value: Any) -> str | None:
    return value.isoformat() if isinstance(value, date) else value if isinstance(value, str) else None


def _fit(read: Callable[..., _T | None], *given: Any) -> _T | None:
    """What `read` gives; None for a value that does not fit."""
    try:
        return read(*given)
    except InvalidInput:
        return None


def _yaml_pairs(lines: list[str]) -> Iterator[tuple[str, Any]]:
    """The pairs of a flat YAML mapping: plain and quoted values, and lists in either form. Deeper structure is left
    out.
    """
    key, items = "", list[str]()
    for line in lines:
        item = _ITEM.match(line)
        pair = _KEY.match(line)
        if item and key:
            items.append(str(_scalar(item[1])))
        elif pair:
            if key and items:
                yield key, items
            key, items = pair[1], []
            value = pair[2]
            if value and _COMMENT.sub("", value).strip():
                if value[0] not in _STRUCTURE:
                    yield key, _yaml_value(value)
                key = ""
        elif line.strip() and not line.lstrip().startswith("#"):
            key, items = "", []
    if key and items:
        yield key, items


def _yaml_value(text: str) -> Any:
    bare = text.strip()
    if bare.startswith("[") and bare.endswith("]"):
        return [str(_scalar(one)) for one in bare[1:-1].split(",") if one.strip()]
    return _scalar(bare)


def _scalar(text: str) -> FieldValue:
    bare = text.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1]
    bare = _COMMENT.sub("", bare).strip()
    # YAML also writes True and TRUE.
    return read_plain(bare.lower() if bare.lower() in ("true", "false") else bare)
