"""Filters of documents as one line of text: `tag=a,b language=de date>=2024-01-01 field.team=core`.

Terms are separated by white space, and all of them must hold. A term is a name, a sign and values; of several values,
separated by commas, one suffices. A value with white space, a comma or a quotation mark stands in quotation marks.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from uuid import UUID

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.metadata import (
    Comparison,
    FieldCondition,
    FieldType,
    FieldValue,
    field_type,
    normalise_domain,
    normalise_field,
    normalise_language,
    normalise_tags,
    read_day,
    read_plain,
    validate_field_name,
)
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.kernel.text import is_storable

MAX_WHERE_CHARACTERS = 4000
MAX_FILTER_VALUES = 1000
"""Values of one property of a filter."""
MAX_GLOBS = 20
MAX_WORDS_CHARACTERS = 200
"""Characters of the words of a filter."""

NAMES = ("tag", "words", "path", "domain", "language", "date", "type", "id", "field.NAME")

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SIGN = re.compile(r"!=|>=|<=|=|>|<")
_BARE = re.compile(r'[^\s,"]+')
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_WILD = re.compile(r"[*?]")


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    is_quoted: bool
    at: int


@dataclass(frozen=True, slots=True)
class _Term:
    name: str
    sign: str
    values: tuple[_Value, ...]
    at: int


@dataclass(slots=True)
class _Draft:
    """The filter being read."""

    workspace_id: UUID
    documents: list[UUID] = field(default_factory=list[UUID])
    without: list[UUID] = field(default_factory=list[UUID])
    globs: list[str] = field(default_factory=list[str])
    types: list[str] = field(default_factory=list[str])
    tags: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    domains: list[str] = field(default_factory=list[str])
    languages: list[str] = field(default_factory=list[str])
    dates: list[tuple[date | None, date | None]] = field(default_factory=list[tuple[date | None, date | None]])
    fields: list[FieldCondition] = field(default_factory=list[FieldCondition])
    words: list[str] = field(default_factory=list[str])

    def finish(self) -> DocumentFilter:
        starts = [first for first, _ in self.dates if first is not None]
        ends = [last for _, last in self.dates if last is not None]
        return DocumentFilter(
            document_ids=tuple(self.documents),
            without_ids=tuple(self.without),
            path_globs=tuple(self.globs),
            media_types=tuple(self.types),
            tags=tuple(self.tags),
            domains=tuple(self.domains),
            languages=tuple(self.languages),
            date_from=max(starts, default=None),
            date_to=min(ends, default=None),
            fields=tuple(self.fields),
            words=split_words(" ".join(self.words)),
        )


def parse_where(text: str, workspace_id: UUID, path: tuple[str, ...] = ("where",)) -> DocumentFilter:
    """The filter that a text describes. Errors: `InvalidInput` code FILTER_INVALID, with the place in the text, counted
    in characters from 1.
    """
    if len(text) > MAX_WHERE_CHARACTERS or not is_storable(text):
        raise InvalidInput(
            f"A filter has at most {MAX_WHERE_CHARACTERS:,} characters, none of them NUL.",
            code="FILTER_INVALID",
            path=path,
        )
    draft = _Draft(workspace_id)
    once: set[str] = set()
    at = _skip(text, 0)
    while at < len(text):
        term, at = _term(text, at, path)
        _read_term(draft, term, once, path)
        at = _skip(text, at)
    return draft.finish()


def where_terms(wanted: DocumentFilter, workspace_id: UUID) -> tuple[str, ...]:
    """A filter as terms that `parse_where` reads."""
    terms = [
        ("id=", [encode(NodeKind.DOCUMENT, workspace_id, one) for one in wanted.document_ids]),
        ("id!=", [encode(NodeKind.DOCUMENT, workspace_id, one) for one in wanted.without_ids]),
        ("path=", [f"{_escape_wild(wanted.source_path_prefix)}**"] if wanted.source_path_prefix else []),
        ("path=", list(wanted.path_globs)),
        ("type=", list(wanted.media_types)),
        *(("tag=", list(tags)) for tags in wanted.tags),
        ("words=", [" ".join(wanted.words)] if wanted.words else []),
        ("domain=", list(wanted.domains)),
        ("language=", list(wanted.languages)),
        ("date>=", [wanted.date_from.isoformat()] if wanted.date_from else []),
        ("date<=", [wanted.date_to.isoformat()] if wanted.date_to else []),
    ]
    shown = [head + ",".join(_show_text(value) for value in values) for head, values in terms if values]
    for condition in wanted.fields:
        values = ",".join(_show_field(value) for value in condition.values)
        shown.append(f"field.{condition.name}{condition.comparison.value}{values}")
    return tuple(shown)


def split_words(text: str, path: tuple[str, ...] = ("words",)) -> tuple[str, ...]:
    """The words of a search for documents, as `fold_name` gives them, each once. Errors: `InvalidInput` code
    FILTER_INVALID for more than `MAX_WORDS_CHARACTERS` characters, and for words that no title holds.
    """
    if len(text) > MAX_WORDS_CHARACTERS or not is_storable(text):
        raise InvalidInput(
            f"The words have {MAX_WORDS_CHARACTERS} characters at most, and neither NUL nor half a surrogate pair.",
            code="FILTER_INVALID",
            path=path,
        )
    return tuple(dict.fromkeys(fold_name(text).split()))


def fold_name(text: str) -> str:
    """A title or path as words are looked for in it: the case of letters and how their accents are written do not
    count.
    """
    return unicodedata.normalize("NFC", text.lower())


def glob_pattern(glob: str) -> str:
    """A regular expression, for Python and the database, of the paths that a glob names in full: `*` is any text
    without `/`, `**` any text, `?` one character that is no `/`; a glob that ends with `/` names all below it.
    """
    pattern, at = "", 0
    if glob.endswith("/"):
        glob += "**"
    while at < len(glob):
        if glob.startswith("**/", at):
            pattern, at = f"{pattern}(.*/)?", at + 3
        elif glob.startswith("**", at):
            pattern, at = f"{pattern}.*", at + 2
        elif glob[at] == "\\" and at + 1 < len(glob):
            pattern, at = pattern + re.escape(glob[at + 1]), at + 2
        else:
            pattern, at = pattern + {"*": "[^/]*", "?": "[^/]"}.get(glob[at], re.escape(glob[at])), at + 1
    return f"^{pattern}$"


def merge_filters(one: DocumentFilter, other: DocumentFilter) -> DocumentFilter:
    """The documents that both let through. Errors: `InvalidInput` code FILTER_INVALID where both name documents, paths,
    types, domains or languages: such lists cannot be joined into one.
    """
    for name in ("document_ids", "path_globs", "media_types", "domains", "languages"):
        if getattr(one, name) and getattr(other, name):
            raise InvalidInput(f"`where` names {name.replace('_', ' ')} beside the filter: say it in one of them.",
                               code="FILTER_INVALID", path=("where",))  # fmt: skip
    starts = [day for day in (one.date_from, other.date_from) if day is not None]
    ends = [day for day in (one.date_to, other.date_to) if day is not None]
    return DocumentFilter(
        document_ids=one.document_ids or other.document_ids,
        source_path_prefix=one.source_path_prefix or other.source_path_prefix,
        media_types=one.media_types or other.media_types,
        without_ids=one.without_ids + other.without_ids,
        path_globs=one.path_globs or other.path_globs,
        tags=one.tags + other.tags,
        domains=one.domains or other.domains,
        languages=one.languages or other.languages,
        date_from=max(starts, default=None),
        date_to=min(ends, default=None),
        fields=one.fields + other.fields,
        words=tuple(dict.fromkeys(one.words + other.words)),
    )


def read_field_value(text: str) -> FieldValue:
    """The value that a text without quotation marks stands for: true, false, a number, else the text itself. Errors:
    `InvalidInput` code METADATA_INVALID.
    """
    return normalise_field(_unquote(text) if _QUOTED.fullmatch(text) else read_plain(text))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _term(text: str, at: int, path: tuple[str, ...]) -> tuple[_Term, int]:
    name = _NAME.match(text, at)
    if name is None:
        raise _broken(f"a name is expected, one of {', '.join(NAMES)}", at, path)
    sign = _SIGN.match(text, name.end())
    if sign is None:
        raise _broken(f"after `{name[0]}` one of = != >= <= > < is expected", name.end(), path)
    values: list[_Value] = []
    following = sign.end()
    while True:
        value = _QUOTED.match(text, following) or _BARE.match(text, following)
        if value is None:
            what = (
                "the quotation mark is not closed" if text[following : following + 1] == '"' else "a value is expected"
            )
            raise _broken(what, following, path)
        is_quoted = value[0].startswith('"')
        values.append(_Value(_unquote(value[0]) if is_quoted else value[0], is_quoted, following))
        following = value.end()
        if text[following : following + 1] != ",":
            break
        following += 1
    if following < len(text) and not text[following].isspace():
        raise _broken("white space is expected between terms", following, path)
    return _Term(name[0], sign[0], tuple(values), at), following


def _read_term(draft: _Draft, term: _Term, once: set[str], path: tuple[str, ...]) -> None:
    """Add a term to the filter."""
    if term.name.startswith("field."):
        draft.fields.append(_condition(term, path))
        return
    if term.name == "date":
        draft.dates.append(_days(term, path))
        return
    signs = ("=", "!=") if term.name == "id" else ("=",)
    if term.name not in _READERS:
        raise _broken(f"there is no `{term.name}`; the names are {', '.join(NAMES)}", term.at, path)
    if term.sign not in signs:
        raise _broken(f"`{term.name}` takes {' or '.join(signs)}", term.at + len(term.name), path)
    if term.name not in ("tag", "id") and term.name in once:
        raise _broken(f"`{term.name}` stands twice: separate its values by commas", term.at, path)
    if len(term.values) > (MAX_GLOBS if term.name == "path" else MAX_FILTER_VALUES):
        raise _broken(f"`{term.name}` has too many values", term.at, path)
    once.add(term.name)
    for value in term.values:
        try:
            _READERS[term.name](draft, term, value)
        except InvalidInput as error:
            raise _broken(error.message.rstrip("."), value.at, path) from error
    if term.name == "tag":
        draft.tags.append(normalise_tags([value.text for value in term.values]))


def _read_id(draft: _Draft, term: _Term, value: _Value) -> None:
    node = decode(value.text, NodeKind.DOCUMENT)
    if node.workspace_id != draft.workspace_id:
        raise InvalidInput("A filter names documents of the asked workspace only.")
    (draft.documents if term.sign == "=" else draft.without).append(node.key)


_READERS: Mapping[str, Callable[[_Draft, _Term, _Value], object]] = {
    "tag": lambda _, __, value: normalise_tags([value.text]),
    "words": lambda draft, _, value: draft.words.extend(split_words(value.text)),
    "path": lambda draft, _, value: draft.globs.append(value.text),
    "type": lambda draft, _, value: draft.types.append(value.text),
    "domain": lambda draft, _, value: draft.domains.append(normalise_domain(value.text)),
    "language": lambda draft, _, value: draft.languages.append(normalise_language(value.text)),
    "id": _read_id,
}


def _days(term: _Term, path: tuple[str, ...]) -> tuple[date | None, date | None]:
    """First and last day that a term on the document's date lets through."""
    value, *others = term.values
    if others:
        raise _broken("`date` takes one value; a range is `date>=… date<=…`", others[0].at, path)
    day = read_day(value.text)
    if day is None:
        raise _broken("a date is written 2024-01-31", value.at, path)
    try:
        match term.sign:
            case "=":
                return day, day
            case ">=":
                return day, None
            case "<=":
                return None, day
            case ">":
                return day + timedelta(days=1), None
            case "<":
                return None, day - timedelta(days=1)
            case _:
                raise _broken("`date` takes = >= <= > <", term.at + len(term.name), path)
    except OverflowError as error:
        raise _broken("there is no such day", value.at, path) from error


def _condition(term: _Term, path: tuple[str, ...]) -> FieldCondition:
    if term.sign == "!=":
        raise _broken("a field takes = >= <= > <", term.at + len(term.name), path)
    try:
        name = validate_field_name(term.name.removeprefix("field."))
    except InvalidInput as error:
        raise _broken(error.message.rstrip("."), term.at, path) from error
    values: list[FieldValue] = []
    for value in term.values:
        try:
            values.append(normalise_field(value.text) if value.is_quoted else read_field_value(value.text))
        except InvalidInput as error:
            raise _broken(error.message.rstrip("."), value.at, path) from error
    condition = FieldCondition(name, Comparison(term.sign), tuple(values))
    fault = find_condition_fault(condition)
    if fault is not None:
        raise _broken(fault, term.values[0].at, path)
    return condition


def find_condition_fault(condition: FieldCondition) -> str | None:
    """What is wrong with a condition; None: nothing."""
    if not condition.values or len(condition.values) > MAX_FILTER_VALUES:
        return f"a condition on a field has 1 to {MAX_FILTER_VALUES:,} values"
    if condition.comparison is not Comparison.EQUALS:
        ordered = field_type(condition.values[0]) in (FieldType.NUMBER, FieldType.DATE)
        if len(condition.values) > 1 or not ordered:
            return f"`{condition.comparison.value}` takes one number or date"
    return None


def _broken(what: str, at: int, path: tuple[str, ...]) -> InvalidInput:
    return InvalidInput(f"The filter cannot be read at character {at + 1}: {what}.", code="FILTER_INVALID", path=path)


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1], flags=re.DOTALL)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _show_text(text: str) -> str:
    return text if _BARE.fullmatch(text) else _quote(text)


def _show_field(value: FieldValue) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = _BARE.fullmatch(value) and isinstance(read_plain(value), str)
    return value if is_plain else _quote(value)


def _escape_wild(text: str) -> str:
    return _WILD.sub(r"\\\g<0>", text.replace("\\", "\\\\"))


def literal_prefix(globs: Sequence[str]) -> str:
    """The text with which every path that one of the globs names begins."""
    starts = [re.split(r"[*?\\]", glob, maxsplit=1)[0] for glob in globs]
    first, last = min(starts, default=""), max(starts, default="")
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]
