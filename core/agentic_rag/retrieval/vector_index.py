"""When a workspace's vectors get an approximate index, and when that may be used."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.retrieval.candidates import ArmHit

REQUIRED_RECALL = 0.95
"""Of exact search; below it the workspace stays exact."""

BYTES_PER_COMPONENT = 2
"""Of a half-precision vector."""

SHRINK_FACTOR = 0.5
"""Share of the exact-scan limit below which an index is dropped: less than 1, so that no size flips to and fro."""

GROWTH_FACTOR = 2
"""An index is measured again when the workspace has grown by this factor."""


class IndexState(enum.Enum):
    """Where the index of a workspace's space stands. Only READY answers questions."""

    BUILDING = "BUILDING"
    READY = "READY"
    REJECTED = "REJECTED"
    """It would miss too much, or there are too many already: exact search goes on."""
    FAILED = "FAILED"
    """Its job gave up; tried again a day later."""


@dataclass(frozen=True, slots=True)
class IndexRecord:
    """What is known of a space's index. `rows_seen` is the number of passages when it was last looked at, `reason` why
    it is not READY where another look a day later may help.
    """

    space_id: int
    state: IndexState
    rows_seen: int
    recall: float | None = None
    reason: str | None = None


class IndexAction(enum.Enum):
    """What to do about a space's index."""

    NOTHING = "nothing"
    BUILD = "build"
    MEASURE = "measure"
    DROP = "drop"


def next_index_action(record: IndexRecord | None, rows: int, dimensions: int, exact_bytes: int) -> IndexAction:
    """What to do with `rows` vectors of the active space when `exact_bytes` are scanned exactly."""
    size = rows * dimensions * BYTES_PER_COMPONENT
    if record is not None and record.state is IndexState.READY:
        if size < exact_bytes * SHRINK_FACTOR:
            return IndexAction.DROP
        return IndexAction.MEASURE if rows >= GROWTH_FACTOR * record.rows_seen else IndexAction.NOTHING
    if size > exact_bytes:
        return IndexAction.BUILD
    # What a crash left half built, or half dropped, serves nobody and slows every publish.
    return IndexAction.DROP if record is not None and record.state is IndexState.BUILDING else IndexAction.NOTHING


def recall_of(found: Sequence[ArmHit], exact: Sequence[ArmHit]) -> float:
    """Share of the exact hits that a search found: hits as good as the last exact one count, whichever of equals."""
    if not exact:
        return 1.0
    return min(1.0, sum(hit.raw >= exact[-1].raw for hit in found) / len(exact))
