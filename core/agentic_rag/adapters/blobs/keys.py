"""The syntax of blob keys: parts that every store, including a directory, can use as names."""

from __future__ import annotations

import re

from agentic_rag.kernel.errors import InvalidInput

_PART = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,200}")


def key_parts(key: str) -> list[str]:
    """The parts of a key. Errors: `InvalidInput` code BLOB_KEY_INVALID."""
    parts = key.split("/")
    if not all(_PART.fullmatch(part) for part in parts):
        raise InvalidInput(f"{key!r} is not a blob key.", code="BLOB_KEY_INVALID")
    return parts
