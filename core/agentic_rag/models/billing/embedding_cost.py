"""The cost of embedding a document. Chunks that are already published are not paid for again.

Tokens are estimated (`language.token_estimate`), so costs are estimates both before and after.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.models.billing.prices import TokenPrice
from agentic_rag.models.embedding.space import EmbeddingSpace

_PREFIX = "embedding_"
_SPACE, _CHUNKS, _REUSED, _COST, _FULL = (
    f"{_PREFIX}{name}" for name in ("space", "chunks", "reused_chunks", "cost_usd", "estimated_cost_usd")
)
_PAID_TOKENS, _REUSED_TOKENS = f"{_PREFIX}tokens", f"{_PREFIX}reused_tokens"
PROVENANCE_KEYS = frozenset({_SPACE, _CHUNKS, _REUSED, _COST, _FULL, _PAID_TOKENS, _REUSED_TOKENS})


@dataclass(frozen=True, slots=True)
class EmbeddingCost:
    """Chunks and tokens of one revision, embedded and reused, at the price of the day; None: the price is unknown."""

    space: str
    """`EmbeddingSpace.name`."""
    chunks: int
    """Chunks embedded for this revision."""
    tokens: int
    reused_chunks: int
    """Chunks reused from the previous revision (an edit pays only for its changes)."""
    reused_tokens: int
    cost_usd: float | None = None
    estimated_cost_usd: float | None = None
    """The cost of embedding all chunks; its difference from the actual cost was saved by reuse."""

    def provenance(self) -> Mapping[str, str]:
        """The cost as entries of a document's provenance."""
        found = {
            _SPACE: self.space,
            _CHUNKS: str(self.chunks),
            _PAID_TOKENS: str(self.tokens),
            _REUSED: str(self.reused_chunks),
            _REUSED_TOKENS: str(self.reused_tokens),
        }
        if self.cost_usd is not None and self.estimated_cost_usd is not None:
            found[_COST], found[_FULL] = f"{self.cost_usd:.8f}", f"{self.estimated_cost_usd:.8f}"
        return found


def compute_embedding_cost(
    paid: Sequence[int], reused: Sequence[int], space: EmbeddingSpace, price: TokenPrice | None
) -> EmbeddingCost:
    """The cost of embedding a revision. `paid` and `reused` are the tokens of its embedded and its reused chunks.
    Without a price only tokens are counted.
    """
    tokens, reused_tokens = sum(paid), sum(reused)
    return EmbeddingCost(
        space=space.name,
        chunks=len(paid),
        tokens=tokens,
        reused_chunks=len(reused),
        reused_tokens=reused_tokens,
        cost_usd=None if price is None else price.of(tokens),
        estimated_cost_usd=None if price is None else price.of(tokens + reused_tokens),
    )


def read_cost(provenance: Mapping[str, str]) -> EmbeddingCost | None:
    """The cost recorded at publication; None when the document was never published or predates cost records."""
    try:
        return EmbeddingCost(
            space=provenance[_SPACE],
            chunks=int(provenance[_CHUNKS]),
            tokens=int(provenance[_PAID_TOKENS]),
            reused_chunks=int(provenance[_REUSED]),
            reused_tokens=int(provenance[_REUSED_TOKENS]),
            cost_usd=_number(provenance.get(_COST)),
            estimated_cost_usd=_number(provenance.get(_FULL)),
        )
    except (KeyError, ValueError):
        return None


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)
