"""Formats the graph path to a passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_LINKS = {
    "NAMES": "names",
    "NAMED_BY": "is named in",
    "SHARES": "shares “{via}” with",
    "SAME_TITLE": "has the title of",
    "COVERS": "leaves open what is in",
}


def path_text(path: Sequence[Mapping[str, Any]]) -> str:
    """A path in one line: title —link→ title; empty without hops."""
    if not path:
        return ""
    steps = (f"—{_LINKS[hop['kind']].format(via=hop['via'])}→ {hop['toTitle']}" for hop in path)
    return " ".join((path[0]["fromTitle"], *steps))
