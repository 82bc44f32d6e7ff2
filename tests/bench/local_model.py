"""The local model's embedder against the runtime under it: the same model, texts cut into tokens before the clock
starts, sorted by length over all of them, run with no other work between. And what it takes to read the units of a
question, against embedding them.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tests.bench.reports import Row, at_least, at_most
from tests.local_model import minilm

from agentic_rag.adapters.onnx.embedder import BATCH, OnnxEmbedder
from agentic_rag.adapters.onnx.unit_reader import OnnxUnitReader
from agentic_rag.answering.extraction.reading import PlacedUnit
from agentic_rag.answering.extraction.unit_ranking import MAX_READ
from agentic_rag.kernel.errors import AgenticRagError

MAX_TOKENS = 256
"""As the embedder cuts."""
UNIT = 150
"""Characters of a unit: a sentence of about 35 tokens."""


def rows(texts: Sequence[str], rounds: int) -> list[Row]:
    """The row, by the best of so many rounds, or none where there is no model: standard error then says so."""
    name = "local model, texts/s over raw onnxruntime"
    try:
        directory = minilm()
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401
    except (AgenticRagError, ImportError) as problem:
        print(f"  SKIPPED: {name}: {problem}", file=sys.stderr)
        return []
    ours: list[float] = []
    raw: list[float] = []
    for _ in range(rounds):
        ours.append(asyncio.run(_embedded(directory, texts)))
        raw.append(_raw(directory, texts))
    print(f"  local model: {max(ours):.0f} texts/s, raw onnxruntime {max(raw):.0f}", file=sys.stderr)
    units = [text[:UNIT] for text in texts[:MAX_READ]]
    read, embedded = (min(times) for times in zip(*(asyncio.run(_read(directory, units)) for _ in ours), strict=True))
    print(f"  {len(units)} units: read {1000 * read:.0f} ms, embedded {1000 * embedded:.0f} ms", file=sys.stderr)
    return [
        at_least(name, max(ours) / max(raw), 0.8),
        at_most(
            "local model, reading the units of a question over embedding them, processor time", read / embedded, 0.6
        ),
    ]


async def _read(directory: Path, units: Sequence[str]) -> tuple[float, float]:
    """Seconds of the processor to read units that were never read; to embed them."""
    embedder, reader = OnnxEmbedder(directory), OnnxUnitReader()
    await embedder.embed(units[:1])
    await reader.read(units[0], ())
    began = time.process_time()
    await reader.read("What does a pump need to start?", [PlacedUnit(unit) for unit in units])
    halfway = time.process_time()
    await embedder.embed(units)
    return halfway - began, time.process_time() - halfway


async def _embedded(directory: Path, texts: Sequence[str]) -> float:
    """Texts per second through the embedder, in the batches that ingestion sends."""
    embedder = OnnxEmbedder(directory)
    await embedder.embed(texts[:1])
    began = time.perf_counter()
    for start in range(0, len(texts), BATCH):
        await embedder.embed(texts[start : start + BATCH])
    return len(texts) / (time.perf_counter() - began)


def _raw(directory: Path, texts: Sequence[str]) -> float:
    """Texts per second of the runtime alone, at the better of two batch sizes."""
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(directory / "model.onnx", providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.no_padding()
    cut = sorted((one.ids for one in tokenizer.encode_batch([*texts])), key=len)
    names = [one.name for one in session.get_inputs()]
    best = 0.0
    for size in (8, 32):
        feeds = []
        for start in range(0, len(cut), size):
            batch = cut[start : start + size]
            ids = np.zeros((len(batch), len(batch[-1])), np.int64)
            for row, one in enumerate(batch):
                ids[row, : len(one)] = one
            given = {"input_ids": ids, "attention_mask": (ids != 0).astype(np.int64), "token_type_ids": ids * 0}
            feeds.append({name: given[name] for name in names})
        session.run(None, feeds[0])
        began = time.perf_counter()
        for feed in feeds:
            session.run(None, feed)
        best = max(best, len(cut) / (time.perf_counter() - began))
    return best
