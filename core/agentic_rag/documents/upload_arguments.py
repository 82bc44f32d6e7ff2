"""Validation of a caller's arguments for an uploaded file."""

from __future__ import annotations

from collections.abc import Callable

from agentic_rag.kernel.errors import InvalidInput

HEAD_BYTES = 64 * 1024
"""Bytes of a file that the sniffer reads."""

SniffMediaType = Callable[[bytes, str], str]
"""The media type of a file, from its first `HEAD_BYTES` and its name. Errors: `ParseFailed` codes PARSE_EMPTY,
PARSE_TYPE_MISMATCH, PARSE_UNSUPPORTED, PARSE_ENCRYPTED.
"""


MAX_PATH_CHARACTERS = 1000
MAX_TITLE_CHARACTERS = 500
MAX_KEY_CHARACTERS = 200


def validate_source_path(text: str) -> str:
    """A relative POSIX path, like that of a file in a directory. Errors: `InvalidInput`."""
    path = text.strip()
    parts = path.split("/")
    if not 1 <= len(path) <= MAX_PATH_CHARACTERS or not path.isprintable() or any(p in ("", ".", "..") for p in parts):
        raise InvalidInput(
            f"`sourcePath` takes a relative path of 1 to {MAX_PATH_CHARACTERS} printable characters, with no empty, "
            "`.` or `..` part.",
            path=("sourcePath",),
        )
    return path


def validate_title(text: str | None) -> str | None:
    """A title, or None: the parser finds one. Errors: `InvalidInput`."""
    title = "" if text is None else text.strip()
    if len(title) > MAX_TITLE_CHARACTERS or not title.isprintable():
        raise InvalidInput(f"`title` takes up to {MAX_TITLE_CHARACTERS} printable characters.", path=("title",))
    return title or None


def validate_idempotency_key(text: str | None) -> str | None:
    """An idempotency key, or None. Errors: `InvalidInput`."""
    if text is None:
        return None
    if not 1 <= len(text) <= MAX_KEY_CHARACTERS or not text.isprintable() or not text.isascii():
        raise InvalidInput(
            f"An idempotency key takes 1 to {MAX_KEY_CHARACTERS} printable ASCII characters.", path=("idempotencyKey",)
        )
    return text
