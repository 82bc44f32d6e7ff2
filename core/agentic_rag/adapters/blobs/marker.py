"""The file that tells the directory of blobs from another one, such as the place of a volume that is not mounted."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from agentic_rag.documents.blob_keys import is_first_part

MARKER = ".agentic-rag-blobs"
"""Its name. No key can begin with a dot."""

_TEXT = (
    b"agentic-rag keeps originals in this folder. Without this file it takes the folder for that of another volume.\n"
)


def is_marked(root: Path) -> bool:
    """Whether the directory has the file."""
    return (root / MARKER).is_file()


def holds_blobs(root: Path) -> bool:
    """Whether something lies there that storing blobs made, before there were such files."""
    return root.is_dir() and any(is_first_part(one.name) for one in root.iterdir() if one.is_dir())


def mark(root: Path) -> None:
    """Make the file, and the directory. Others may do so at the same time."""
    with contextlib.suppress(FileExistsError):  # A file: opening says so.
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (root / MARKER).open("wb") as file:
        file.write(_TEXT)
        file.flush()
        os.fsync(file.fileno())
