"""What a reranker adds to the time of a run: the shipped reader over the first passages of each search, beside no
reranker. The product brings none of its own; this is the one that it could have without another model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from statistics import median
from time import process_time

from agentic_rag.adapters.onnx.unit_reader import OnnxUnitReader
from agentic_rag.answering.extraction.reading import PlacedUnit
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.retrieval.rerank import Rerank
from agentic_rag.retrieval.retrieve import Retrieve
from tests.bench.reports import ROOT, Row, at_most
from tests.unit.answering.answering_world import Telemetry, World
from tests.unit.answering.corpus import Corpus

MOST_LONGER = 1.1
"""Requirement C17: +10 %."""
DEPTH = 10
SECONDS = 5.0
"""More than the 500 ms that the product gives a reranker: a late one would cost nothing more."""
FOLDER = ROOT / "simulated_ingestion"
QUESTIONS = (
    "Who issues the sailing decision?",
    "How often are the pitch bearings greased?",
    "What caused the incident at Brannoch?",
    "How many days of annual leave do employees receive?",
    "Who may remove an isolation lock?",
    "What does the community fund pay for?",
    "Which supplier delivers the gearbox oil?",
    "When did the operations board meet?",
)
BYPASS = AnswerOptions(cache=CacheMode.BYPASS)


class ReaderReranker:
    """Implements `retrieval.ports.Reranker` with the reader that chooses units of an answer."""

    name = "reader"
    depth = DEPTH

    def __init__(self, reader: OnnxUnitReader) -> None:
        self._reader = reader

    async def scores(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        units = [PlacedUnit(one.chunk.text, (one.chunk.document_title, *one.chunk.heading_path)) for one in passages]
        return (await self._reader.read(question, units)).scores


def longer(short: bool) -> Row:
    """Processor time of runs over the sample corpus with the reranker, over that without, in turn. The reader remembers
    nothing of an earlier run: of a corpus of some size it does not remember most passages.
    """
    ratio = asyncio.run(_ratio(1 if short else 8))
    return at_most(f"the reader as reranker of {DEPTH} passages: p50 of a run, over one without", ratio, MOST_LONGER)


def corpus() -> Corpus:
    """The sample corpus as far as it is Markdown, by paragraphs."""
    made = Corpus()
    for path in sorted(FOLDER.glob("*.md")):
        made.add(path.name, path.stem.replace("-", " "), path.read_text(encoding="utf-8").strip())
    return made


async def _ratio(rounds: int) -> float:
    reader, telemetry = OnnxUnitReader(), Telemetry()
    rerank = Rerank(ReaderReranker(reader), SECONDS, telemetry)
    worlds = [World(corpus(), reader=reader, retrieve=Retrieve(telemetry, rerank=one)) for one in (rerank, None)]
    taken: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for question in QUESTIONS:
            for world, seconds in zip(worlds, taken, strict=True):
                reader.drop()
                began = process_time()
                run = await world.ask(question, options=BYPASS)
                # What the first run of a process loads counts for neither.
                seconds += [process_time() - began] if number else []
                if run.answer.degraded:
                    raise AssertionError(f"The reranker did not answer: {telemetry.told}")
    for world in worlds:
        await world.recorder.aclose()
    reranked, plain = map(median, taken)
    return reranked / plain
