"""What the package of migrations says of itself."""

from __future__ import annotations

from pathlib import Path

import agentic_rag_migrations
from agentic_rag_migrations import HEAD


def test_the_head_is_the_newest_revision() -> None:
    files = Path(agentic_rag_migrations.__file__).parent.glob("sql/*/*.sql")

    assert max(file.name.partition("_")[0] for file in files) == HEAD
