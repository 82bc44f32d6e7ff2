"""The bench corpus: prepared chunks and known-item questions, from the shared data or generated."""

from __future__ import annotations

import gzip
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SHARED = Path(os.environ.get("AGENTIC_RAG_TEST_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk of the bench corpus: its number, its document and its text."""

    number: int
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class KnownItem:
    """A question whose words stand in one chunk."""

    question: str
    gold: int


@dataclass(frozen=True, slots=True)
class BenchCorpus:
    """Chunks in document order, and the questions whose gold chunk is among them."""

    origin: str
    chunks: tuple[PreparedChunk, ...]
    questions: tuple[KnownItem, ...]


def load_corpus(limit: int) -> BenchCorpus:
    """At most `limit` chunks of whole documents. Generated (same sizes, Zipfian words) where the data is absent."""
    source = SHARED / "bench-20k.jsonl.gz"
    if not source.is_file():
        return generated_corpus(limit)
    with gzip.open(source, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    rows.sort(key=lambda row: (row["doc"], row["pos"], row["id"]))
    chunks = tuple(PreparedChunk(row["id"], row["doc"], row["text"]) for row in rows[:limit])
    present = {chunk.number for chunk in chunks}
    questions = tuple(
        KnownItem(row["question"], row["gold_ids"][0])
        for row in map(json.loads, (SHARED / "bench-20k.queries.jsonl").read_text().splitlines())
        if row["gold_ids"][0] in present
    )
    return BenchCorpus("bench-20k", chunks, questions)


def generated_corpus(limit: int) -> BenchCorpus:
    """The same without any data."""
    draw = random.Random(7)  # a fixed corpus: the same in every run
    syllables = [c + v for c in "bcdfghjklmnprstvz" for v in "aeiou"]
    words = ["".join(draw.choices(syllables, k=draw.randint(2, 4))) for _ in range(30_000)]
    weights = [1 / (rank + 3) for rank in range(len(words))]
    sentences = [[draw.choices(words, weights, k=12) for _ in range(9)] for _ in range(limit)]
    chunks = tuple(
        PreparedChunk(number, f"doc{number // 9}.md", " ".join(" ".join(one).capitalize() + "." for one in said))
        for number, said in enumerate(sentences)
    )
    rank = {word: position for position, word in enumerate(words)}
    questions = tuple(
        KnownItem("what does it say about " + " ".join(_rarest(draw.choice(sentences[number]), rank)), number)
        for number in draw.sample(range(limit), min(500, limit // 4))
    )
    return BenchCorpus("generated", chunks, questions)


def _rarest(sentence: Sequence[str], rank: Mapping[str, int]) -> list[str]:
    """The five rarest words of a sentence, in its order."""
    rare = sorted(dict.fromkeys(sentence), key=lambda word: -rank[word])[:5]
    return [word for word in dict.fromkeys(sentence) if word in rare]
