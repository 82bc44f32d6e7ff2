"""Embedding spaces: vectors of different spaces are never compared."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from agentic_rag.kernel.errors import InvalidInput, SpaceMismatch
from agentic_rag.models.embedding.recall_gate import RecallComparison

MAX_DIMENSIONS = 4000
"""Of a half-precision vector that pgvector can index."""


HASHED_PROVIDER = "deterministic"
"""Of spaces whose vectors are hashed from spellings (`adapters.deterministic.hashed_embedding`), without a model."""


LOCAL_PROVIDERS = (HASHED_PROVIDER, "onnx")
"""Of spaces whose vectors are computed on this machine: they need no key and cost nothing."""


SERVED_PROVIDERS = ("openai", "gemini", "compatible")
"""Of spaces whose models run at somebody's server."""


class Precision(enum.Enum):
    """How a stored component is kept."""

    HALF = "half"


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Provider family, model, dimensions and precision. The base URL is no part of it: the same model elsewhere is
    the same space.
    """

    provider: str
    model: str
    dimensions: int
    precision: Precision = Precision.HALF

    @property
    def is_local(self) -> bool:
        """Whether its vectors are computed on this machine."""
        return self.provider in LOCAL_PROVIDERS

    @property
    def name(self) -> str:
        """`provider/model/dimensions/precision`, as recorded with every vector."""
        return f"{self.provider}/{self.model}/{self.dimensions}/{self.precision.value}"


@dataclass(frozen=True, slots=True)
class RegisteredSpace:
    """A space with its small number inside a workspace (the `space_id` of the vector table)."""

    space_id: int
    space: EmbeddingSpace

    def require(self, space_id: int, dimensions: int) -> None:
        """Let a question's vector pass. Errors: `SpaceMismatch` when it is of another space than this one."""
        if space_id != self.space_id or dimensions != self.space.dimensions:
            raise SpaceMismatch(
                f"The question was embedded in space {space_id} with {dimensions} dimensions; the workspace answers in "
                f"space {self.space_id} ({self.space.name}). Configure the embedder that made the corpus, or embed "
                "the corpus anew."
            )


class SpaceState(enum.Enum):
    """Where a space of a workspace stands."""

    FILLING = "FILLING"
    """A job computes its vectors; nobody reads them."""
    ACTIVE = "ACTIVE"
    """Answers questions, and publishes write into it. One of a workspace."""
    RETIRED = "RETIRED"
    """Answered questions until a switch; kept for a grace period, so that switching back is cheap."""
    ABANDONED = "ABANDONED"
    """Its switch was refused by the gate or called off; kept as long."""
    DROPPED = "DROPPED"
    """Its vectors and its row are gone."""


SPACE_TRANSITIONS: Mapping[SpaceState, frozenset[SpaceState]] = MappingProxyType(
    {
        SpaceState.FILLING: frozenset({SpaceState.ACTIVE, SpaceState.ABANDONED}),
        SpaceState.ACTIVE: frozenset({SpaceState.RETIRED}),
        SpaceState.RETIRED: frozenset({SpaceState.ACTIVE, SpaceState.FILLING, SpaceState.DROPPED}),
        SpaceState.ABANDONED: frozenset({SpaceState.FILLING, SpaceState.DROPPED}),
        SpaceState.DROPPED: frozenset(),
    }
)
"""Every legal move. RETIRED to ACTIVE needs every vector present: otherwise it is filled again first."""


@dataclass(frozen=True, slots=True)
class SpaceRecord:
    """A space of a workspace and how far it is filled: `done` of `total` readable passages have a vector in it."""

    registered: RegisteredSpace
    state: SpaceState
    done: int
    total: int
    since: datetime
    drop_after: datetime | None = None
    """When a retired or abandoned space may be dropped."""
    verdict: RecallComparison | None = None
    """What the quality gate of its last switch measured."""


def must_start_fill(record: SpaceRecord | None, under_way: Sequence[SpaceRecord]) -> bool:
    """Whether a switch to a space has to change its state to FILLING (False: it is being filled already).

    `record` is what is known of the space, `under_way` the workspace's spaces that are being filled. Errors:
    `InvalidInput` codes SPACE_ALREADY_ACTIVE and SWITCH_UNDER_WAY.
    """
    if record is not None and record.state is SpaceState.ACTIVE:
        raise InvalidInput(
            f"The workspace answers in {record.registered.space.name} already.",
            code="SPACE_ALREADY_ACTIVE",
            path=("to",),
        )
    for other in under_way:
        if record is None or other.registered.space_id != record.registered.space_id:
            raise InvalidInput(
                f"A switch to {other.registered.space.name} is under way. Wait for it, or call it off with "
                "`rag embeddings cancel`.",
                code="SWITCH_UNDER_WAY",
                path=("to",),
            )
    return record is None or record.state is not SpaceState.FILLING


@dataclass(frozen=True, slots=True)
class SpaceChoice:
    """A space as a person names it: `deterministic`, `onnx`, or `PROVIDER:MODEL[:DIMENSIONS]`."""

    provider: str
    model: str | None = None
    dimensions: int | None = None


def parse_choice(text: str) -> SpaceChoice:
    """Read `deterministic`, `onnx` or `PROVIDER:MODEL[:DIMENSIONS]`; a model's name may hold colons itself, its last
    part counts
    as dimensions when it is a number. Errors: `InvalidInput` code SPACE_UNKNOWN.
    """
    provider, _, rest = text.strip().partition(":")
    if provider in LOCAL_PROVIDERS and not rest:
        return SpaceChoice(provider)
    if provider in SERVED_PROVIDERS and rest:
        model, _, last = rest.rpartition(":")
        if model and last.isdecimal() and last.isascii():
            dimensions = int(last)
            if not 1 <= dimensions <= MAX_DIMENSIONS:
                raise InvalidInput(
                    f"A space has 1 to {MAX_DIMENSIONS:,} dimensions, not {last[:20]}.",
                    code="SPACE_UNKNOWN",
                    path=("to",),
                )
            return SpaceChoice(provider, model, dimensions)
        return SpaceChoice(provider, rest)
    raise InvalidInput(
        f"{text[:100]!r} names no embedding space: write `deterministic`, `onnx` or `PROVIDER:MODEL[:DIMENSIONS]` with "
        "one of openai, gemini, compatible.",
        code="SPACE_UNKNOWN",
        path=("to",),
    )
