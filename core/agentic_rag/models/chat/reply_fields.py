"""Reads the JSON of a model's reply field by field. Every deviation from the schema raises `ReplyInvalid`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from agentic_rag.kernel.text import fold_text
from agentic_rag.models.chat.request import ReplyInvalid

Fields = Mapping[str, object]

_OPENINGS = ("{", "[")
_FENCED = re.compile(r"```\w*\s*")
_OWN_LINE = re.compile(r"^(?=\{)", re.MULTILINE)


def parse_fields(text: str, *names: str) -> Fields:
    """Parse the first JSON object of `text` as one with exactly these properties. Thoughts before it, a fence around it
    and words after it are left out.
    """
    try:
        value, _ = json.JSONDecoder().raw_decode(_from_object(text))
    except (ValueError, RecursionError) as error:
        raise ReplyInvalid("The model's reply is not JSON.") from error
    return as_fields(value, *names)


def _from_object(text: str) -> str:
    """`text` from its object on: at its beginning, else after the thoughts, in a fence or at the start of a line."""
    said = text.strip("\ufeff \r\n\t")
    if said[:1] not in _OPENINGS:
        thoughts, closed, rest = said.partition("</think>")
        if not closed and "<think>" in thoughts:
            return ""
        said = (rest if closed else said).strip()
    if said[:1] not in _OPENINGS:
        found = _FENCED.search(said) or _OWN_LINE.search(said)
        said = said[found.end() :] if found else said
    return said


def as_fields(value: object, *names: str) -> Fields:
    """`value` as an object with exactly these properties."""
    if not isinstance(value, dict) or set(cast(dict[object, object], value)) != set(names):
        raise ReplyInvalid(f"The model's reply is not an object with {', '.join(names)}.")
    return cast(Fields, value)


def text_in(fields: Fields, name: str, longest: int) -> str:
    """A text of 1 to `longest` characters, with white space folded."""
    value = fields[name]
    if not isinstance(value, str):
        raise ReplyInvalid(f"{name} is not a text.")
    text = fold_text(value)
    if not text or len(text) > longest:
        raise ReplyInvalid(f"{name} has {len(text)} characters, not 1 to {longest}.")
    return text


def raw_text_in(fields: Fields, name: str) -> str:
    """A text, unchanged."""
    value = fields[name]
    if not isinstance(value, str):
        raise ReplyInvalid(f"{name} is not a text.")
    return value


def number_in(fields: Fields, name: str) -> int:
    """A whole number."""
    return _number(fields[name], name)


def numbers_in(fields: Fields, name: str) -> tuple[int, ...]:
    """A list of whole numbers."""
    return tuple(_number(one, name) for one in items_in(fields, name))


def boolean_in(fields: Fields, name: str) -> bool:
    """True or false."""
    value = fields[name]
    if not isinstance(value, bool):
        raise ReplyInvalid(f"{name} is neither true nor false.")
    return value


def items_in(fields: Fields, name: str) -> Sequence[object]:
    """A list."""
    value = fields[name]
    if not isinstance(value, list):
        raise ReplyInvalid(f"{name} is not a list.")
    return cast(Sequence[object], value)


def _number(value: object, name: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ReplyInvalid(f"{name} is not a whole number.")
    return value
