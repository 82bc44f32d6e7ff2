"""The text form of master keys, which wrap the data keys of stored secrets."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping

KEY_BYTES = 32
"""AES-256."""


def format_master_key(master_id: str, key: bytes) -> str:
    """A master key in the form of AGENTIC_RAG_MASTER_KEYS: `ID:BASE64`."""
    return f"{master_id}:{base64.b64encode(key).decode()}"


def parse_master_keys(text: str) -> Mapping[str, bytes]:
    """Parse `ID:BASE64[,ID:BASE64…]` into keys by id. Errors: `ValueError`; its message repeats no key."""
    masters: dict[str, bytes] = {}
    for place, part in enumerate((one.strip() for one in text.split(",") if one.strip()), 1):
        master_id, _, encoded = part.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise ValueError(f"entry {place} is not ID:BASE64") from error
        if not master_id or not master_id.isascii() or not master_id.isprintable() or len(master_id) > 100:
            raise ValueError(f"entry {place} has no id of printable ASCII characters before its colon")
        if len(key) != KEY_BYTES:
            raise ValueError(f"entry {place} has {len(key)} bytes; AES-256 takes {KEY_BYTES}")
        if master_id in masters:
            raise ValueError(f"the id {master_id!r} stands there twice")
        masters[master_id] = key
    return masters
