"""Tells by a file's first bytes whether it can be read at all."""

from __future__ import annotations

from typing import Protocol

HEAD_BYTES = 64 * 1024
"""How much of a file is looked at."""


class FileKinds(Protocol):
    """A quick look that refuses what no loader could read; the parser looks at the whole file later."""

    def media_type(self, head: bytes, file_name: str) -> str:
        """The media type of a file that begins with `head`, up to `HEAD_BYTES` of it.

        Errors: `ParseFailed` codes PARSE_EMPTY, PARSE_TYPE_MISMATCH, PARSE_UNSUPPORTED, PARSE_ENCRYPTED.
        """
        ...
