"""Chunk sizes and the overlap between chunks."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agentic_rag.kernel.errors import InvalidInput

_SMALLEST_SIZE = 16
"""A smaller chunk could be smaller than one character's tokens, and the size limit could not hold."""


class ChunkUnit(enum.Enum):
    """The unit of `ChunkProfile.size` and `overlap`."""

    TOKENS = "tokens"
    CHARACTERS = "characters"


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """A named chunk size. No chunk is larger than `size`; at most `overlap` of it repeats the previous chunk.

    Raises InvalidInput for a size below 16 or an overlap outside [0, size / 2].
    """

    name: str
    unit: ChunkUnit
    size: int
    overlap: int

    def __post_init__(self) -> None:
        if self.size < _SMALLEST_SIZE:
            raise InvalidInput(f"chunk profile {self.name!r}: size must be at least {_SMALLEST_SIZE}, not {self.size}")
        if not 0 <= self.overlap <= self.size // 2:
            raise InvalidInput(
                f"chunk profile {self.name!r}: overlap must lie between 0 and half the size, not {self.overlap}"
            )

    @property
    def fingerprint(self) -> str:
        """Part of the revision id: the same profile gives the same chunks. It includes the chunker's version."""
        return f"{self.name}/{self.unit.value}/{self.size}/{self.overlap}/chunker-1"


DEFAULT_PROFILE = ChunkProfile("default", ChunkUnit.TOKENS, 512, 64)
CHUNK_PROFILES: Mapping[str, ChunkProfile] = MappingProxyType(
    {
        profile.name: profile
        for profile in (
            DEFAULT_PROFILE,
            ChunkProfile("small", ChunkUnit.TOKENS, 256, 32),
            ChunkProfile("agent", ChunkUnit.CHARACTERS, 1000, 200),
        )
    }
)


def chunk_profile(name: str) -> ChunkProfile:
    """The profile of that name. Raises InvalidInput, which lists the known names."""
    try:
        return CHUNK_PROFILES[name]
    except KeyError:
        raise InvalidInput(f"unknown chunk profile {name!r}: use one of {', '.join(CHUNK_PROFILES)}") from None
