"""The shipped reader as reranker of the workspaces that wish for one."""

from __future__ import annotations

from collections.abc import Sequence

from tests.unit.answering.corpus import Corpus

from agentic_rag.adapters.onnx.reader_reranker import ReaderReranker
from agentic_rag.answering.extraction.reading import PlacedUnit, Reading
from agentic_rag.retrieval.candidates import Candidate, Passage


class LikesLongTexts:
    """Implements `answering.ports.UnitReader`."""

    def __init__(self) -> None:
        self.read_texts: list[PlacedUnit] = []

    async def read(self, question: str, units: Sequence[PlacedUnit]) -> Reading:
        self.read_texts = [*units]
        return Reading(tuple(float(len(one.text)) for one in units), 0.0)

    async def judge(self, question: str, units: Sequence[PlacedUnit]) -> tuple[float, ...]:
        raise AssertionError("it is asked for likeness alone")


def passages() -> list[Passage]:
    corpus = Corpus()
    corpus.add("short.md", "Short", "It is short.")
    corpus.add("long.md", "Long", "This one is much longer than the other one is.")
    return [Passage(one, Candidate(one.ordinal, 0.5, ())) for one in corpus.chunks]


async def test_passages_are_read_below_their_titles() -> None:
    reader = LikesLongTexts()

    short, long = await ReaderReranker(reader).scores("Which of them is longer?", passages())

    assert short < long
    assert [one.headings[0] for one in reader.read_texts] == ["Short", "Long"]


async def test_it_reads_english_alone_and_leaves_the_order_of_other_questions() -> None:
    assert len(set(await ReaderReranker(LikesLongTexts()).scores("Welches von beiden ist länger?", passages()))) == 1
