"""What the reranker that a workspace may wish for adds to the time of a run, where it orders as many passages as it
may: beside a workspace that wishes for none.
"""

from __future__ import annotations

import asyncio
from statistics import median
from time import process_time

from agentic_rag.adapters.onnx.reader_reranker import ReaderReranker
from agentic_rag.adapters.onnx.unit_reader import OnnxUnitReader
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.retrieval.rerank import Rerank
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.workspaces.rag_config import MAX_RERANKED, RagConfig
from tests.bench.reports import ROOT, Row, at_most
from tests.unit.answering.answering_world import Telemetry, World
from tests.unit.answering.corpus import Corpus

MOST_LONGER = 1.1
"""Requirement C17: +10 %."""
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


def longer(short: bool) -> Row:
    """Processor time of runs over the sample corpus with the reranker, over that without, in turn. The reader remembers
    nothing of an earlier run: of a corpus of some size it does not remember most passages.
    """
    ratio = asyncio.run(_ratio(1 if short else 8))
    return at_most(
        f"the reader as reranker of {MAX_RERANKED} passages: p50 of a run, over one without", ratio, MOST_LONGER
    )


def corpus() -> Corpus:
    """The sample corpus as far as it is Markdown, by paragraphs."""
    made = Corpus()
    for path in sorted(FOLDER.glob("*.md")):
        made.add(path.name, path.stem.replace("-", " "), path.read_text(encoding="utf-8").strip())
    return made


async def _ratio(rounds: int) -> float:
    reader, telemetry = OnnxUnitReader(), Telemetry()
    rerank = Rerank(ReaderReranker(reader), SECONDS, telemetry)
    retrieve, defaults = Retrieve(telemetry, wished=rerank), AnswerDefaults(wished_reranker=ReaderReranker.name)
    worlds = [World(corpus(), reader=reader, retrieve=retrieve, defaults=defaults) for _ in range(2)]
    for world, wished in zip(worlds, (MAX_RERANKED, 0), strict=True):
        world.corpus.rag_config = RagConfig(defaults.top_k, 0.0, wished)
    taken: list[list[float]] = [[], []]
    for number in range(rounds + 1):
        for question in QUESTIONS:
            for world, seconds in zip(worlds, taken, strict=True):
                reader.drop()
                began = process_time()
                run = await world.ask(question, options=BYPASS)
                # What the first run of a process loads counts for neither.
                seconds += [process_time() - began] if number else []
                search, wished = run.answer.debug.search, world is worlds[0]
                if run.answer.degraded or search is None or (search.reranker is not None) != wished:
                    raise AssertionError(f"The reranker did not answer, or nobody asked it: {telemetry.told}")
    for world in worlds:
        await world.recorder.aclose()
    reranked, plain = map(median, taken)
    return reranked / plain
