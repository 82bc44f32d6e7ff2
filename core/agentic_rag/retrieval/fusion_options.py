"""How a caller wants the arms to be fused."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class FusionMethod(enum.Enum):
    """How the arms' results are merged."""

    WEIGHTED = "WEIGHTED"
    RRF = "RRF"


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Shares of the arms. `vector` is that of the two text arms together, divided by `lexical_share` (None: decided
    per question).
    """

    vector: float = 0.7
    graph: float = 0.3
    lexical_share: float | None = None
