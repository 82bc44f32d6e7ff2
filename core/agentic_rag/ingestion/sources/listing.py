"""What every connector does with what it listed."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.ingestion.ports import Changes, SourceItem
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.text import is_hidden_name

HIDDEN = "SOURCE_HIDDEN"
LINK_OUTSIDE = "SOURCE_LINK_OUTSIDE"
LEFT_OUT_ON_PURPOSE = frozenset({HIDDEN, LINK_OUTSIDE})

MAX_ITEMS = 50_000
"""Of a source that another server lists; the sitemap protocol allows as many in one file."""


def changes_of(
    known: frozenset[str], items: Sequence[SourceItem], unreadable: Sequence[UnreadableItem], cursor: str
) -> Changes:
    """What a complete listing says of the known paths. A known file in a folder that could not be listed does not count
    as gone.
    """
    present = {item.path for item in items}
    doubtful = [item.path for item in unreadable if item.code not in LEFT_OUT_ON_PURPOSE]
    deleted = sorted(path for path in known - present if not _may_lie_in(path, doubtful))
    return Changes(tuple(items), tuple(deleted), tuple(unreadable), cursor)


def require_few(count: int) -> None:
    """Errors: `InvalidInput` code SOURCE_TOO_MANY_ITEMS."""
    if count > MAX_ITEMS:
        raise InvalidInput(
            f"The source has more than {MAX_ITEMS:,} entries, and nothing was changed. Split it into several sources.",
            code="SOURCE_TOO_MANY_ITEMS",
            path=("source",),
        )


def is_hidden(path: str) -> bool:
    """Whether a file or one of its folders is hidden, or was added by a program."""
    return any(map(is_hidden_name, path.split("/")))


def _may_lie_in(path: str, folders: Sequence[str]) -> bool:
    return any(not folder or path == folder or path.startswith(f"{folder}/") for folder in folders)
