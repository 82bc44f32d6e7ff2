"""A deterministic embedding without a model: hashed word 1–2-grams and character 3–5-grams in 384 dimensions.

Signed feature hashing (Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009): each gram
is hashed to a component and a sign and weighted 1 + log(count); the sum is scaled to unit length. All hashing is
integer arithmetic modulo 2⁶⁴, so vectors do not depend on process, platform or hash seed. It matches shared words and
spellings, not meaning: a substitute where no model may be called, and a weak retrieval arm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tokenizer import key_bytes, tokenize

DIMENSIONS = 384

_WORD, _PAIR, _CHARACTERS = 0, 1, 2
_WEIGHTS = np.array([1.0, 0.6, 0.3, 0.0])
"""Weights of words, word pairs and character grams; there are about six character grams per word."""

_GROUP_MASK = np.uint64(3)
_LOGARITHMS = np.array([0.0] + [1.0 + math.log(count) for count in range(1, 256)])
"""1 + log(count), from `math` so that no vector instruction set can change a last bit."""

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
"""Constants of splitmix64 (Steele, Lea, Flood, OOPSLA 2014)."""

_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_SIGN_BIT = np.uint64(63)
_INDEX_SHIFT = np.uint64(8)
_INDEX_MASK = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
"""A component is the upper half of the product of 32 mixed bits and the dimensions: as uniform as a remainder,
and faster.
"""


def _mix_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64, in place."""
    values ^= values >> _SHIFTS[0]
    values *= _MIX_1
    values ^= values >> _SHIFTS[1]
    values *= _MIX_2
    values ^= values >> _SHIFTS[2]
    return values


def _grams(words: list[str]) -> NDArray[np.uint64]:
    """Hashes of all grams, with repeats; the two lowest bits are the kind."""
    keys = np.frombuffer(b"".join(map(key_bytes, words)), "<u8")
    codes = np.frombuffer(f" {' '.join(words)} ".encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    count, length = len(keys), len(codes)
    sizes = [count, max(0, count - 1)] + [max(0, length - size + 1) for size in (3, 4, 5)]
    grams = np.empty(sum(sizes), np.uint64)
    pairs = count + sizes[1]
    grams[:count] = keys
    np.multiply(keys[:-1], _MULTIPLIER, out=grams[count:pairs])
    grams[count:pairs] += keys[1:]
    rolling = codes[:-1] * _MULTIPLIER + codes[1:]
    start = pairs
    for size, grams_of_size in zip((3, 4, 5), sizes[2:], strict=True):
        rolling = rolling[:-1] * _MULTIPLIER + codes[size - 1 :]
        grams[start : start + grams_of_size] = rolling
        start += grams_of_size
    _mix_bits(grams)
    grams &= ~_GROUP_MASK
    grams[count:pairs] |= np.uint64(_PAIR)
    grams[pairs:] |= np.uint64(_CHARACTERS)
    return grams


def _unit(words: list[str]) -> NDArray[np.float32]:
    grams = _grams(words)
    grams.sort()
    first = np.empty(len(grams), np.bool_)
    first[0] = True
    np.not_equal(grams[1:], grams[:-1], out=first[1:])
    starts = first.nonzero()[0]
    counts = np.minimum(np.diff(starts, append=len(grams)), len(_LOGARITHMS) - 1)
    distinct = grams[starts]
    weights = _LOGARITHMS[counts] * _WEIGHTS[(distinct & _GROUP_MASK).astype(np.intp)]
    weights *= 1.0 - 2.0 * (distinct >> _SIGN_BIT)
    places = ((((distinct >> _INDEX_SHIFT) & _INDEX_MASK) * np.uint64(DIMENSIONS)) >> _HALF).astype(np.intp)
    vector = np.bincount(places, weights, DIMENSIONS)
    norm = math.sqrt(math.fsum((vector * vector).tolist()))
    if norm == 0.0:
        vector[0] = norm = 1.0
    return (vector / norm).astype(np.float32)


def embed_texts(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit-length vectors, shape (len(texts), 384). A text without any letter or digit gets the first axis."""
    vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
    for row, text in enumerate(texts):
        every = tokenize(text)
        words = [word for word in every if word not in FUNCTION_WORDS] or every
        if words:
            vectors[row] = _unit(words)
        else:
            vectors[row, 0] = 1.0
    return vectors
