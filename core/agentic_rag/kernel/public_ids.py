"""Public ids: opaque, typed, and composite, so that a look-up always has the whole key.

The organisation is never part of an id: it comes from the caller's credential alone.
"""

from __future__ import annotations

import binascii
import enum
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput

_MAX_CHARACTERS = 44


class NodeKind(enum.Enum):
    """What an id stands for; the value is its first byte."""

    WORKSPACE = b"W"
    DOCUMENT = b"D"
    RUN = b"R"
    THREAD = b"T"
    SAVED = b"Q"
    JOB = b"J"
    CHUNK = b"C"
    SNAPSHOT = b"S"
    API_KEY = b"K"
    SOURCE = b"F"


_KINDS = {kind.value: kind for kind in NodeKind}

_OF_ORGANISATION = frozenset({NodeKind.WORKSPACE, NodeKind.API_KEY})
"""What belongs to an organisation as a whole, and is named by one key."""


@dataclass(frozen=True, slots=True)
class NodeId:
    """A decoded id. Where it names a thing of the organisation, `workspace_id` and `key` are the same."""

    kind: NodeKind
    workspace_id: UUID
    key: UUID


def encode(kind: NodeKind, workspace_id: UUID, key: UUID) -> str:
    """The public id of a thing inside a workspace."""
    return urlsafe_b64encode(kind.value + workspace_id.bytes + key.bytes).decode("ascii")


def encode_workspace(workspace_id: UUID) -> str:
    """The public id of a workspace."""
    return encode_in_organisation(NodeKind.WORKSPACE, workspace_id)


def encode_in_organisation(kind: NodeKind, key: UUID) -> str:
    """The public id of a thing of the organisation."""
    return urlsafe_b64encode(kind.value + b"\0" + key.bytes).decode("ascii")


def decode(text: str, *expected: NodeKind, path: tuple[str, ...] = ("id",)) -> NodeId:
    """Read a public id. Errors: `InvalidInput` code INVALID_ID when it is malformed or of none of the `expected`
    kinds; each thing has exactly one spelling.
    """
    found = _decode(text)
    if found is None or (expected and found.kind not in expected):
        wanted = " or ".join(kind.name.lower().replace("_", " ") for kind in expected) or "node"
        raise InvalidInput(
            f"This is not the id of a {wanted}: use one that the API returned.", code="INVALID_ID", path=path
        )
    return found


def _decode(text: str) -> NodeId | None:
    if len(text) > _MAX_CHARACTERS:
        return None
    try:
        raw = urlsafe_b64decode(text.encode("ascii"))
    except (binascii.Error, UnicodeEncodeError):
        return None
    if urlsafe_b64encode(raw).decode("ascii") != text:
        return None
    kind = _KINDS.get(raw[:1])
    if kind in _OF_ORGANISATION:
        return NodeId(kind, key := UUID(bytes=raw[2:]), key) if len(raw) == 18 and raw[1] == 0 else None
    if len(raw) != 33 or kind is None:
        return None
    return NodeId(kind, UUID(bytes=raw[1:17]), UUID(bytes=raw[17:]))
