"""Which bytes of a file a request asks for, and whether its caller holds them already (RFC 9110 §13 and §14)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BYTES = re.compile(r"bytes=(.*)", re.IGNORECASE | re.DOTALL)
_PART = re.compile(r"([0-9]*)-([0-9]*)")
_TAG = re.compile(r'"[^"]*"')
_DIGITS = 4_000
"""Of a position. Python reads no more than 4,300; all beyond lie behind the end of every file."""


def requested_part(header: str | None, size: int) -> range | None:
    """The bytes that `Range` names of `size` bytes; empty where there are none of them.

    None stands for the whole file: there is no header, or one that a server may ignore, since it has another unit,
    several parts or no legal form. An empty file has no parts.
    """
    listed = None if header is None else _BYTES.fullmatch(header.strip())
    if listed is None or not size:
        return None
    parts = [one.strip() for one in listed[1].split(",") if one.strip()]
    part = _PART.fullmatch(parts[0]) if len(parts) == 1 else None
    if part is None or part[0] == "-":
        return None
    first, last = (_position(one) if one else None for one in part.groups())
    if first is None:
        return range(max(0, size - (last or 0)), size)
    if last is None:
        return range(min(first, size), size)
    return None if last < first else range(min(first, size), min(last + 1, size))


def content_range(part: range, size: int) -> str:
    """`Content-Range` of a part; of an empty one, which is refused, only the size."""
    return f"bytes {part.start}-{part.stop - 1}/{size}" if part else f"bytes */{size}"


def is_held(headers: Sequence[str], tag: str) -> bool:
    """Whether `If-None-Match` names this entity tag, or any (`*`). A weak tag of the same bytes counts."""
    given = ",".join(headers).strip()
    return given == "*" or tag in _TAG.findall(given)


def is_same(header: str | None, tag: str) -> bool:
    """Whether `If-Range` lets a part be sent: it is absent or is this strong tag. A date never is: no file has one."""
    return header is None or header.strip() == tag


def _position(digits: str) -> int:
    shown = digits.lstrip("0")
    return int(shown or "0") if len(shown) <= _DIGITS else 10**_DIGITS
