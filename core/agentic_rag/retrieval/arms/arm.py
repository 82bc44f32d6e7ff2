"""The columns of the table of retrieval arms."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.retrieval.candidates import ArmHit, ExtractedEntity, Retriever
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.graph.graph_search import GraphHits
from agentic_rag.retrieval.query import RetrievalQuery

SeedSearch = Callable[[CorpusSnapshot, RetrievalQuery, int, bool], Coroutine[Any, Any, list[ArmHit] | None]]
"""The best hits for a query, at most so many, with or without an exact scan; None where the arm cannot be asked."""


@dataclass(frozen=True, slots=True)
class SeedHits:
    """The hits of all seed arms, and what expanding arms need to know of the question."""

    arms: Mapping[Retriever, Sequence[ArmHit]]
    entities: Sequence[ExtractedEntity]
    lexical_share: float


Expansion = Callable[[CorpusSnapshot, RetrievalQuery, SeedHits], Coroutine[Any, Any, GraphHits]]
"""Passages around the seeds. Errors: `DependencyUnavailable`."""


@dataclass(frozen=True, slots=True)
class Arm:
    """A retrieval arm. `weight` is its weight in fusion, from the weights of the request and the lexical share."""

    name: Retriever
    weight: Callable[[FusionWeights, float], float]


@dataclass(frozen=True, slots=True)
class SeedArm(Arm):
    """An arm that searches for the question itself."""

    search: SeedSearch


@dataclass(frozen=True, slots=True)
class ExpandingArm(Arm):
    """An arm that starts from the hits of the seed arms. Without its dependency the answer is degraded."""

    expand: Expansion
    dependency: Dependency
