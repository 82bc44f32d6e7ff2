"""What is compared: replies as text in which nothing depends on the moment they were made."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

_PASSAGES = {"chunkId": "sourceId", "fromChunkId": "fromSourceId", "toChunkId": "toSourceId"}
"""Fields with the id of a passage, and those beside them with the id of its document."""


class Names:
    """Names for the ids of one question's replies: a document by its path, a passage by its document and by how many of
    its passages the replies named before it.
    """

    def __init__(self, paths: Mapping[str, str], passages: Mapping[str, str]) -> None:
        self._paths = paths
        self._passages = dict(passages)
        self._named: Counter[str] = Counter()

    def canonical(self, reply: Any) -> Any:
        """The reply with names for ids. Errors: `ValueError` for a passage whose document is not known."""
        if isinstance(reply, list):
            return [self.canonical(one) for one in reply]
        if isinstance(reply, dict):
            return {key: self._value(reply, key) for key in reply}
        return self._paths.get(reply, reply) if isinstance(reply, str) else reply

    def _value(self, reply: Mapping[str, Any], key: str) -> Any:
        if key not in _PASSAGES:
            return self.canonical(reply[key])
        passage = reply[key]
        if passage not in self._passages:
            source = reply.get(_PASSAGES[key])
            if source is None:
                raise ValueError(f"{key} without a document in {reply}")
            path = self._paths.get(source, "(unknown)")
            self._passages[passage] = f"{path}#{self._named[path]}"
            self._named[path] += 1
        return self._passages[passage]


def as_text(canonical: Any) -> str:
    """Canonical JSON: sorted keys, one value a line, so that differences can be read."""
    return json.dumps(canonical, ensure_ascii=False, sort_keys=True, indent=1) + "\n"


def digest(text: str) -> str:
    """128 bits of SHA-256, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
