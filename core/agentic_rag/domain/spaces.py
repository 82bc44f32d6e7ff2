"""Embedding spaces: vectors of different spaces are never compared."""

from __future__ import annotations

import enum
from dataclasses import dataclass


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
    def name(self) -> str:
        """`provider/model/dimensions/precision`, as recorded with every vector."""
        return f"{self.provider}/{self.model}/{self.dimensions}/{self.precision.value}"


@dataclass(frozen=True, slots=True)
class RegisteredSpace:
    """A space with its small number inside a workspace (the `space_id` of the vector table)."""

    space_id: int
    space: EmbeddingSpace
