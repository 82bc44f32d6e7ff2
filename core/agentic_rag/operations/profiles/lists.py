"""The word lists beside this file, read once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path


@cache
def word_lists() -> Mapping[str, tuple[str, ...]]:
    """The lists of words.toml, by name."""
    read = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
    return {name: tuple(phrases) for name, phrases in read.items()}


@cache
def valences() -> Mapping[str, float]:
    """The lexicon of valences.tsv, a word's mean rating from -4 to 4, with our own additions, which come before it."""
    return {**_ratings("valences.tsv"), **_ratings("own_valences.tsv")}


def _ratings(name: str) -> Mapping[str, float]:
    read = Path(__file__).with_name(name).read_text(encoding="utf-8")
    pairs = (line.split("\t") for line in read.splitlines() if not line.startswith("#"))
    return {word: float(valence) for word, valence in pairs}
