"""Tells pages apart whose text is the same, or nearly so."""

from __future__ import annotations

import hashlib
import re

import numpy as np
from numpy.typing import NDArray

HASHES = 64
SHINGLE_WORDS = 4
NEAR = 0.85
"""Share of equal minima from which two texts are one page: a print version, another skin."""
AT_ONCE = 4_096
"""Shingles that are mixed at once: a text of 2 MB has half a million, of which each takes a kilobyte."""
LEAST_WORDS = 12
"""Shorter texts are compared as a whole only."""

_WORD = re.compile(r"\w+")
_PRIME = (1 << 61) - 1
_RANDOM = np.random.default_rng(21)
_FACTORS = _RANDOM.integers(1, 1 << 31, HASHES, dtype=np.int64)
_OFFSETS = _RANDOM.integers(0, 1 << 31, HASHES, dtype=np.int64)

Signature = tuple[int, ...]


def text_hash(text: str) -> bytes:
    """SHA-256 of the words of a text, whatever stands between them."""
    return hashlib.sha256(" ".join(_WORD.findall(text.lower())).encode()).digest()


def signature(text: str) -> Signature:
    """MinHash of the text's shingles; empty for a text that is too short."""
    words = _WORD.findall(text.lower())
    if len(words) < LEAST_WORDS:
        return ()
    shingles = {" ".join(words[at : at + SHINGLE_WORDS]) for at in range(len(words) - SHINGLE_WORDS + 1)}
    hashed: NDArray[np.int64] = np.array(
        [int.from_bytes(hashlib.blake2b(one.encode(), digest_size=4).digest(), "big") >> 1 for one in sorted(shingles)],
        dtype=np.int64,
    )
    least = np.full(HASHES, _PRIME, dtype=np.int64)
    for at in range(0, len(hashed), AT_ONCE):
        mixed = (hashed[at : at + AT_ONCE, None] * (_FACTORS[None, :] >> 1) + _OFFSETS[None, :]) % _PRIME
        least = np.minimum(least, mixed.min(axis=0))
    return tuple(int(one) for one in least)


def are_near(left: Signature, right: Signature) -> bool:
    """Whether two texts are nearly the same."""
    if not left or not right:
        return False
    return sum(one == other for one, other in zip(left, right, strict=True)) >= NEAR * HASHES
