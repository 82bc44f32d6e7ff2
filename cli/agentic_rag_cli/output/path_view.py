"""How a passage was reached, as the command line shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.retrieval.candidates import Hop

_LINKS = {
    "NAMES": "names",
    "NAMED_BY": "is named in",
    "SHARES": "shares “{via}” with",
    "SAME_TITLE": "has the title of",
    "COVERS": "leaves open what is in",
}


@dataclass(frozen=True, slots=True)
class HopView:
    """A hop with public ids; `kind` as in the GraphQL schema."""

    kind: str
    via: str
    from_chunk_id: str
    from_title: str
    to_chunk_id: str
    to_title: str


def view_hop(hop: Hop, workspace_id: UUID) -> HopView:
    """A hop of this process."""
    return HopView(
        hop.kind.name,
        hop.via,
        encode(NodeKind.CHUNK, workspace_id, hop.from_chunk_id),
        hop.from_title,
        encode(NodeKind.CHUNK, workspace_id, hop.to_chunk_id),
        hop.to_title,
    )


def read_hop(found: Mapping[str, Any]) -> HopView:
    """A hop that a server told."""
    return HopView(
        found["kind"], found["via"], found["fromChunkId"], found["fromTitle"], found["toChunkId"], found["toTitle"]
    )


def hop_json(hop: HopView) -> dict[str, Any]:
    """The field names of the GraphQL API."""
    return {
        "kind": hop.kind,
        "via": hop.via,
        "fromChunkId": hop.from_chunk_id,
        "fromTitle": hop.from_title,
        "toChunkId": hop.to_chunk_id,
        "toTitle": hop.to_title,
    }


def path_text(path: Sequence[HopView]) -> str:
    """A path in one line: title —link→ title; empty without hops."""
    if not path:
        return ""
    steps = (f"—{_LINKS[hop.kind].format(via=hop.via)}→ {hop.to_title}" for hop in path)
    return " ".join((path[0].from_title, *steps))
