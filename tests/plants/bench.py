"""The lies of `make bench`, by the figure that must miss them."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from tests.plants import Mutant, Patch, Where

AT_NIGHT = partial(Mutant, where=Where.CHILDREN, is_slow=True)
PAUSE = 0.3
"""Seconds: longer than anything that a row compares it with takes."""


def _paused(owner: Any, name: str, patch: Patch, seconds: float = PAUSE) -> None:
    """The method of a class waits before it does its work."""
    work = getattr(owner, name)

    async def slowly(*arguments: Any, **more: Any) -> Any:
        await asyncio.sleep(seconds)
        return await work(*arguments, **more)

    patch(owner, name, slowly)


def _slow_retrieval(patch: Patch) -> None:
    from agentic_rag.retrieval.retrieve import Retrieve

    _paused(Retrieve, "rank", patch, seconds=0.1)


def _slow_graph(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.retrieval.graph import PostgresGraphReader

    _paused(PostgresGraphReader, "vicinity", patch, seconds=0.1)


def _slower_retrieval(patch: Patch) -> None:
    from agentic_rag.retrieval.retrieve import Retrieve

    _paused(Retrieve, "rank", patch)


def _texts_one_by_one(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.documents.document_reader import PostgresDocumentReader

    chunks = PostgresDocumentReader.chunks

    async def each(self: Any, ordinals: Any, access_ids: Any, **named: Any) -> Any:
        return [chunk for one in ordinals for chunk in await chunks(self, [one], access_ids, **named)]

    patch(PostgresDocumentReader, "chunks", each)


def _nothing_found(patch: Patch) -> None:
    from agentic_rag.retrieval.retrieve import Retrieve

    run = Retrieve.run

    async def empty(*arguments: Any, **more: Any) -> Any:
        return replace(await run(*arguments, **more), chunks=())

    patch(Retrieve, "run", empty)


def _slow_drafts(patch: Patch) -> None:
    from agentic_rag.answering.stages.synthesize import SynthesizeStage

    _paused(SynthesizeStage, "run", patch)


def _slow_cache(patch: Patch) -> None:
    from agentic_rag.adapters.redis.cache import RedisAnswerCache

    _paused(RedisAnswerCache, "get", patch)


def _other_quotes(patch: Patch) -> None:
    from agentic_rag.answering.verification import check

    cite = check.cite
    patch(check, "cite", lambda *given: replace(cite(*given), snippet="Nobody ever wrote this."))


def _no_quotes(patch: Patch) -> None:
    from agentic_rag.answering.verification import check

    patch(check, "keep_followed_paths", lambda _: ())


def _seeded_scores(patch: Patch) -> None:
    from agentic_rag.answering.verification import check

    cite = check.cite
    patch(check, "cite", lambda *given: replace(cite(*given), score=hash("score") % 1000 / 1000))


def _slow_start(_: Patch) -> None:
    time.sleep(6)


def _large_process(_: Patch) -> None:
    sys.modules["a large process"] = bytearray(os.urandom(1 << 10) * (160 << 10))  # type: ignore[assignment]


def _slow_ingestion(patch: Patch) -> None:
    from agentic_rag.ingestion.ingest_chunks import IngestChunks

    _paused(IngestChunks, "run", patch, seconds=2.0)


def _texts_of_two_versions(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.documents.document_reader import PostgresDocumentReader

    chunks = PostgresDocumentReader.chunks

    async def mixed(*arguments: Any, **named: Any) -> Any:
        first, *others = await chunks(*arguments, **named)
        return [replace(first, text=f"older {first.text}"), *others]

    patch(PostgresDocumentReader, "chunks", mixed)


def _half_a_document(patch: Patch) -> None:
    from agentic_rag.adapters.postgres.documents.document_reader import PostgresDocumentReader

    chunks = PostgresDocumentReader.chunks

    async def half(*arguments: Any, **named: Any) -> Any:
        return (await chunks(*arguments, **named))[1:]

    patch(PostgresDocumentReader, "chunks", half)


def _busy(owner: Any, name: str, patch: Patch) -> None:
    work = getattr(owner, name)

    async def busily(*arguments: Any) -> Any:
        began = time.process_time()
        while time.process_time() < began + 10 * PAUSE:
            pass
        return await work(*arguments)

    patch(owner, name, busily)


def _slow_model(patch: Patch) -> None:
    from agentic_rag.adapters.onnx.embedder import OnnxEmbedder

    _busy(OnnxEmbedder, "embed", patch)


def _slow_reading(patch: Patch) -> None:
    from agentic_rag.adapters.onnx.unit_reader import OnnxUnitReader

    _busy(OnnxUnitReader, "read", patch)


GROUPS: Mapping[str, tuple[str, Mutant]] = {
    mutant.figure: (group, mutant)
    for group, mutant in (
        ("local", Mutant("the embedder takes 3 s a call", _slow_model, "local model, texts/s", is_slow=True)),
        ("local", Mutant("reading takes 3 s", _slow_reading, "local model, reading", is_slow=True)),
        (
            "retrieval",
            Mutant("retrieval waits", _slow_retrieval, "p50 without the graph over the reference", is_slow=True),
        ),
        ("retrieval", Mutant("the graph waits", _slow_graph, "p50 with the graph over without it", is_slow=True)),
        ("retrieval", Mutant("the graph waits", _slow_graph, "p50 by default over the reference", is_slow=True)),
        ("pace", Mutant("retrieval waits", _slow_retrieval, "p50 without the graph over floor3", is_slow=True)),
        ("pace", Mutant("the graph waits", _slow_graph, "p50 by default over floor3", is_slow=True)),
        ("pace", Mutant("retrieval waits longer", _slower_retrieval, "clients over floor3's", is_slow=True)),
        (
            "pace",
            Mutant("each text is read alone", _texts_one_by_one, "statements of an uncached answer", is_slow=True),
        ),
        ("retrieval", Mutant("nothing is found", _nothing_found, "known-item hit@10")),
        ("answers", AT_NIGHT("drafting waits", _slow_drafts, "uncached, minus retrieval alone")),
        ("answers", AT_NIGHT("the cache waits", _slow_cache, "cached answer over replayed, p50")),
        ("answers", AT_NIGHT("the cache waits", _slow_cache, "cached answer over replayed, requests/s")),
        ("answers", AT_NIGHT("quotes are invented", _other_quotes, "citations whose span is not the stored text")),
        ("answers", AT_NIGHT("answers cite nothing", _no_quotes, "citations checked")),
        ("start", AT_NIGHT("a process thinks for 6 s first", _slow_start, "start to first answer")),
        ("start", AT_NIGHT("a process holds 160 MB", _large_process, "resident when idle")),
        ("determinism", AT_NIGHT("scores hang on the hash seed", _seeded_scores, "distinct answers")),
        ("ingestion", Mutant("ingestion waits for 2 s", _slow_ingestion, "ingest of prepared chunks")),
        ("publishing", Mutant("a text is of another version", _texts_of_two_versions, "mixed versions")),
        ("publishing", Mutant("a chunk is missing", _half_a_document, "half documents", is_slow=True)),
    )
}
"""By figure, with the group of measures that it belongs to."""

MUTANTS: Mapping[str, Mutant] = {figure: mutant for figure, (_, mutant) in GROUPS.items()}
