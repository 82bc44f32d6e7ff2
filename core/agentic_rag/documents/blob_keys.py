"""Names of blobs: what the key of an original looks like, whatever the file and its owner are called."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import UTC, datetime
from uuid import UUID

from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind

FOLDERS = {
    WorkspaceKind.AGENT: "agent-documents",
    WorkspaceKind.PROJECT: "project-documents",
    WorkspaceKind.GENERAL: "documents",
}
"""The first part of a key, by what the workspace stands for."""

MAX_NAME_CHARACTERS = 100
"""Of a file name or an external reference inside a key: a part of a key has 200 at most."""

TOKEN_DIGITS = 12
"""Hex digits that keep two uploads of one microsecond apart (48 bits, beside the time)."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def owner_prefix(workspace: Workspace) -> str:
    """What the keys of a workspace's originals begin with, for instance `agent-documents/{organisation}/{agent}`.

    An agent or project is named by the caller's own reference, if it has one.
    """
    ref = workspace.ref
    if workspace.kind is WorkspaceKind.GENERAL or workspace.external_ref is None:
        owner = str(ref.workspace_id)
    else:
        owner = safe_part(workspace.external_ref)
    return f"{FOLDERS[workspace.kind]}/{ref.org_id}/{owner}"


def original_key(workspace: Workspace, at: datetime, upload: UUID, file_name: str) -> str:
    """The key of one upload's bytes: `{owner}/{timestamp}-{token}-{filename}`. `upload` is a fresh id, whose random
    last digits become the token: no two uploads share a key, though they be of one name and one instant.
    """
    stamp = at.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    return f"{owner_prefix(workspace)}/{stamp}-{upload.hex[-TOKEN_DIGITS:]}-{safe_file_name(file_name)}"


def safe_file_name(file_name: str) -> str:
    """The last part of a path in letters, digits, `.`, `_` and `-`; never hidden, never empty. The extension stays."""
    name = _plain(file_name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]).lstrip(".-_")
    if len(name) > MAX_NAME_CHARACTERS:
        stem, dot, extension = name.rpartition(".")
        ending = f"{dot}{extension}" if stem and len(extension) <= 10 else ""
        name = name[: MAX_NAME_CHARACTERS - len(ending)].rstrip(".") + ending
    return name or "file"


def safe_part(text: str) -> str:
    """`text` as one part of a key. What had to be changed gets a piece of its SHA-256, so no two texts meet."""
    part = _plain(text).lstrip(".")
    if part == text and len(part) <= MAX_NAME_CHARACTERS:
        return part
    return f"{part[:MAX_NAME_CHARACTERS]}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _plain(text: str) -> str:
    """Letters without their accents, and `_` for each run of what a key cannot hold."""
    letters = unicodedata.normalize("NFKD", text)
    return _UNSAFE.sub("_", "".join(letter for letter in letters if not unicodedata.combining(letter)))
