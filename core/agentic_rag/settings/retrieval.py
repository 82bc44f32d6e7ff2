"""Settings of hybrid retrieval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from agentic_rag.settings.variable import Env


def parse_lexical_share(text: str) -> float | None:
    """A number from 0 to 1; None for `auto`. Errors: ValueError."""
    try:
        share = None if text == "auto" else float(text)
    except ValueError:
        share = -1.0
    if share is not None and not 0 <= share <= 1:
        raise ValueError("expected `auto` or a number from 0 to 1")
    return share


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalConfig:
    """How the retrieval arms are weighed and merged."""

    vector_weight: Annotated[float, Env("HYBRID_VECTOR_WEIGHT"), Meta(ge=0, le=1)] = 0.7
    """Share of the two text arms (dense and lexical) in fusion."""
    graph_weight: Annotated[float, Env("HYBRID_GRAPH_WEIGHT"), Meta(ge=0, le=1)] = 0.3
    """Share of the graph arm in fusion."""
    lexical_share: Annotated[str, Env("HYBRID_LEXICAL_SHARE", check=parse_lexical_share)] = "auto"
    """Lexical part of the text arms' share, 0 to 1, or `auto` (per question)."""
    resident_mb: Annotated[int, Env("AGENTIC_RAG_RESIDENT_MB"), Meta(ge=0, le=65536)] = 256
    """Memory in MiB for vectors and mentions that a process holds and looks in itself, and above 256 as much for
    postings; 0 asks the database only.
    """

    @property
    def shares(self) -> tuple[float, float, float | None]:
        """The arguments of `FusionWeights`."""
        return self.vector_weight, self.graph_weight, parse_lexical_share(self.lexical_share)

    def problems(self) -> list[str]:
        """Settings that contradict each other, a line each."""
        if self.vector_weight == 0 and self.graph_weight == 0:
            return ["HYBRID_VECTOR_WEIGHT and HYBRID_GRAPH_WEIGHT are both 0: no arm would count"]
        return []
