"""Text that a database and UTF-8 can hold."""

from __future__ import annotations

import re
import unicodedata

from agentic_rag.kernel.errors import InvalidInput

_SPACE = re.compile(r"\s+")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether a database can hold it as it is."""
    return _UNSTORABLE.search(text) is None


def strip_unstorable(text: str) -> str:
    """`text` without NUL (Postgres cannot store it) and lone surrogates (UTF-8 cannot encode them)."""
    return _UNSTORABLE.sub("", text)


def require_no_nul(text: str, *path: str) -> str:
    """The text of an argument at `path`. Errors: `InvalidInput` for a NUL, which Postgres cannot store."""
    if "\0" in text:
        raise InvalidInput(f"`{path[-1]}` holds a NUL character.", path=path)
    return text


def fold_text(text: str) -> str:
    """Storable text in NFKC with white space folded; case is kept, it carries meaning."""
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", strip_unstorable(text))).strip()


_LEFT_BY_SYSTEMS = frozenset({"__macosx", "thumbs.db", "desktop.ini"})


def is_hidden_name(name: str) -> bool:
    """Whether a file or folder of that name is hidden, or one that file managers and office programs add to folders:
    nobody wrote it to be read.
    """
    return name.startswith((".", "~$")) or name.lower() in _LEFT_BY_SYSTEMS
