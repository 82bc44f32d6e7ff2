"""Keys of originals in the blob store, safe for any file name and owner."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from datetime import UTC, datetime
from uuid import UUID

from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind

FOLDERS = {
    WorkspaceKind.AGENT: "agent-documents",
    WorkspaceKind.PROJECT: "project-documents",
    WorkspaceKind.GENERAL: "documents",
}
"""The first part of a key, by workspace kind."""

MAX_NAME_CHARACTERS = 100
"""Longest file name or external reference inside a key: a part of a key has at most 200 characters."""

TOKEN_DIGITS = 12
"""Hex digits that distinguish two uploads of the same microsecond (48 bits, added to the time)."""

_SNAPSHOTS = "snapshots"
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def owner_prefix(workspace: Workspace) -> str:
    """The prefix of the keys of a workspace's originals, for instance `agent-documents/{organisation}/{agent}`.

    An agent or project appears under its external reference, if it has one.
    """
    ref = workspace.ref
    if workspace.kind is WorkspaceKind.GENERAL or workspace.external_ref is None:
        owner = str(ref.workspace_id)
    else:
        owner = safe_part(workspace.external_ref)
    return f"{FOLDERS[workspace.kind]}/{ref.org_id}/{owner}"


def original_key(workspace: Workspace, at: datetime, upload: UUID, file_name: str) -> str:
    """The key of one upload's bytes: `{owner}/{timestamp}-{token}-{filename}`. `upload` is a fresh id, whose random
    last digits become the token, so uploads with the same name and time get different keys.
    """
    return f"{owner_prefix(workspace)}/{_stamp(at)}-{upload.hex[-TOKEN_DIGITS:]}-{safe_file_name(file_name)}"


def is_older(key: str, at: datetime) -> bool:
    """Whether the upload that made the key began before that instant."""
    return key.rpartition("/")[2] < _stamp(at)


def _stamp(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")


def original_prefixes(org_id: UUID) -> list[str]:
    """The common prefixes of the keys of an organisation's originals."""
    return [*(f"{folder}/{org_id}" for folder in FOLDERS.values()), str(org_id)]


def is_first_part(name: str) -> bool:
    """Whether keys of the product begin with it; before schema revision 0003 with the id of an organisation."""
    return name in (*FOLDERS.values(), _SNAPSHOTS) or _ID.fullmatch(name) is not None


def early_originals_of(workspace: WorkspaceRef) -> str:
    """The common prefix of the keys `{organisation}/{workspace}/{document}/{hash}`, which a workspace's originals had
    before schema revision 0003.
    """
    return f"{workspace.org_id}/{workspace.workspace_id}"


def snapshots_prefix(org_id: UUID) -> str:
    """The common prefix of the keys of an organisation's snapshots."""
    return f"{_SNAPSHOTS}/{org_id}"


def snapshots_of(workspace: WorkspaceRef) -> str:
    """The common prefix of the keys of a workspace's snapshots."""
    return f"{snapshots_prefix(workspace.org_id)}/{workspace.workspace_id}"


def safe_file_name(file_name: str) -> str:
    """The last part of a path in letters, digits, `.`, `_` and `-`; never hidden, never empty. Keeps the extension."""
    name = _plain(file_name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]).lstrip(".-_")
    if len(name) > MAX_NAME_CHARACTERS:
        stem, dot, extension = name.rpartition(".")
        ending = f"{dot}{extension}" if stem and len(extension) <= 10 else ""
        name = name[: MAX_NAME_CHARACTERS - len(ending)].rstrip(".") + ending
    return name or "file"


def safe_part(text: str) -> str:
    """`text` as one part of a key. Changed text gets part of its SHA-256, so different texts stay different."""
    part = _plain(text).lstrip(".")
    if part == text and len(part) <= MAX_NAME_CHARACTERS:
        return part
    return f"{part[:MAX_NAME_CHARACTERS]}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _plain(text: str) -> str:
    """Letters without accents, with `_` for each run of characters that a key cannot hold."""
    letters = unicodedata.normalize("NFKD", text)
    return _UNSAFE.sub("_", "".join(letter for letter in letters if not unicodedata.combining(letter)))
