"""Embedding spaces: vectors of different spaces are never compared."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from agentic_rag.kernel.errors import InvalidInput, SpaceMismatch
from agentic_rag.models.embedding.local_models import LOCAL_MODELS, find_local_model
from agentic_rag.models.embedding.recall_gate import RecallComparison

MAX_DIMENSIONS = 4000
"""The longest half-precision vector that pgvector can index."""
HASHED_PROVIDER = "deterministic"
"""Provider of spaces whose vectors are hashed from spellings (`adapters.deterministic.hashed_embedding`), without a
model.
"""
MODEL_PROVIDER = "onnx"
"""Provider of spaces whose vectors a model on this machine makes."""
LOCAL_PROVIDERS = (HASHED_PROVIDER, MODEL_PROVIDER)
"""Providers whose vectors are computed on this machine: they need no key and cost nothing."""
SERVED_PROVIDERS = ("openai", "gemini", "compatible")
"""Providers whose models run on a remote server."""
KNOWN_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
}
"""Default dimensions of these models (the providers' documentation)."""
HASHED_EXPONENT = 8.0
"""The exponents define the scale of similarity thresholds: of passages that answer, 0.7 keeps 95 in 100 and 0.75 keeps
90, in every space with an exponent of its own.
"""
MODEL_EXPONENT = 4.0
"""For trained models that nobody has measured. That of hashed spellings is, as is MiniLM's: on the dev questions of
CLAPnq, SciFact, HotpotQA, Cranfield, FiQA and PubMedQA (40 each). docs/context.md has recall and precision.
"""


class Precision(enum.Enum):
    """The number format of a stored component."""

    HALF = "half"


@dataclass(frozen=True, slots=True)
class EmbeddingSpace:
    """Provider family, model, dimensions and precision. The base URL is not part of a space: the same model at another
    address gives the same space.
    """

    provider: str
    model: str
    dimensions: int
    precision: Precision = Precision.HALF

    @property
    def is_local(self) -> bool:
        """Whether this machine computes the vectors."""
        return self.provider in LOCAL_PROVIDERS

    @property
    def floor(self) -> float:
        """The cosine that likeness counts from (`models.embedding.local_models`)."""
        known = find_local_model(self.model)
        return 0.0 if known is None else known.floor

    def as_question(self, text: str) -> str:
        """A question as the model was trained to be given questions."""
        known = find_local_model(self.model)
        return text if known is None else known.question_prefix + text

    def as_passage(self, text: str) -> str:
        """The same of a passage."""
        known = find_local_model(self.model)
        return text if known is None else known.passage_prefix + text

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
        """Check that a question's vector belongs to this space. Errors: `SpaceMismatch`."""
        if space_id != self.space_id or dimensions != self.space.dimensions:
            raise SpaceMismatch(
                f"The question was embedded in space {space_id} with {dimensions} dimensions; the workspace answers in "
                f"space {self.space_id} ({self.space.name}). Configure the embedder that made the corpus, or embed "
                "the corpus anew."
            )


class SpaceState(enum.Enum):
    """The state of a space in a workspace."""

    FILLING = "FILLING"
    """A job computes its vectors; nothing reads them."""
    ACTIVE = "ACTIVE"
    """Answers questions and receives the vectors of new publications. A workspace has one."""
    RETIRED = "RETIRED"
    """Was active before a switch; its vectors stay for a grace period, so that switching back is cheap."""
    ABANDONED = "ABANDONED"
    """Its switch was refused by the gate or cancelled; its vectors stay for the same grace period."""
    DROPPED = "DROPPED"
    """Its vectors and its row are deleted."""


SPACE_TRANSITIONS: Mapping[SpaceState, frozenset[SpaceState]] = MappingProxyType(
    {
        SpaceState.FILLING: frozenset({SpaceState.ACTIVE, SpaceState.ABANDONED}),
        SpaceState.ACTIVE: frozenset({SpaceState.RETIRED}),
        SpaceState.RETIRED: frozenset({SpaceState.ACTIVE, SpaceState.FILLING, SpaceState.DROPPED}),
        SpaceState.ABANDONED: frozenset({SpaceState.FILLING, SpaceState.DROPPED}),
        SpaceState.DROPPED: frozenset(),
    }
)
"""The legal transitions. RETIRED to ACTIVE requires every vector; otherwise the space is filled again first."""


@dataclass(frozen=True, slots=True)
class SpaceRecord:
    """A space of a workspace and its progress: `done` of `total` readable passages have a vector in it."""

    registered: RegisteredSpace
    state: SpaceState
    done: int
    total: int
    since: datetime
    drop_after: datetime | None = None
    """The time from which a retired or abandoned space may be dropped."""
    verdict: RecallComparison | None = None
    """The quality gate's measurement at the last switch to this space."""


def must_start_fill(record: SpaceRecord | None, under_way: Sequence[SpaceRecord]) -> bool:
    """Whether a switch must change the space's state to FILLING; False when it is already filling.

    `record` is the space's record, `under_way` the workspace's spaces in FILLING. Errors: `InvalidInput` codes
    SPACE_ALREADY_ACTIVE and SWITCH_UNDER_WAY.
    """
    if record is not None and record.state is SpaceState.ACTIVE:
        raise InvalidInput(
            f"The workspace already uses {record.registered.space.name}.",
            code="SPACE_ALREADY_ACTIVE",
            path=("to",),
        )
    for other in under_way:
        if record is None or other.registered.space_id != record.registered.space_id:
            raise InvalidInput(
                f"A switch to {other.registered.space.name} is running. Wait for it, or cancel it with "
                "`rag embeddings cancel`.",
                code="SWITCH_UNDER_WAY",
                path=("to",),
            )
    return record is None or record.state is not SpaceState.FILLING


@dataclass(frozen=True, slots=True)
class SpaceChoice:
    """A space as users name it: `deterministic`, `onnx[:NAME]`, or `PROVIDER:MODEL[:DIMENSIONS]`."""

    provider: str
    model: str | None = None
    dimensions: int | None = None


def parse_choice(text: str) -> SpaceChoice:
    """Parse `deterministic`, `onnx[:NAME]` or `PROVIDER:MODEL[:DIMENSIONS]`. A model's name may contain colons; its
    last part is the dimensions when it is a number. Errors: `InvalidInput` code SPACE_UNKNOWN.
    """
    provider, _, rest = text.strip().partition(":")
    if provider in LOCAL_PROVIDERS and not rest:
        return SpaceChoice(provider)
    if provider == MODEL_PROVIDER and rest in LOCAL_MODELS:
        return SpaceChoice(provider, LOCAL_MODELS[rest].name, LOCAL_MODELS[rest].dimensions)
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
        f"{text[:100]!r} names no embedding space: write `deterministic`, `onnx`, `onnx:NAME` with one of "
        f"{', '.join(LOCAL_MODELS)}, or `PROVIDER:MODEL[:DIMENSIONS]` with one of openai, gemini, compatible.",
        code="SPACE_UNKNOWN",
        path=("to",),
    )


def min_cosine(threshold: float, space: EmbeddingSpace, exponent: float | None = None) -> float:
    """The smallest cosine that satisfies `threshold`. It grows with the threshold: 0 accepts every passage, 1 only the
    question itself. `exponent` is the one measured for the workspace; None: the model's.
    """
    return threshold ** (exponent or _exponent(space))


def similarity(cosine: float, space: EmbeddingSpace, exponent: float | None = None) -> float:
    """A cosine on the scale of thresholds, 0 to 1: the inverse of `min_cosine`."""
    return min(1.0, max(0.0, cosine)) ** (1 / (exponent or _exponent(space)))


def _exponent(space: EmbeddingSpace) -> float:
    if space.provider == HASHED_PROVIDER:
        return HASHED_EXPONENT
    known = find_local_model(space.model)
    return MODEL_EXPONENT if known is None else known.exponent
