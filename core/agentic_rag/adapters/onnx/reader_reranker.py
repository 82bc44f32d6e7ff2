"""`retrieval.ports.Reranker` over the shipped reader, for workspaces that wish for one."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.extraction.reading import PlacedUnit
from agentic_rag.answering.ports import UnitReader
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.workspaces.rag_config import MAX_RERANKED


class ReaderReranker:
    """The reader's likeness of the beginning of each passage, with its title and headings, to the question. It reads
    English: of questions in other languages the order stays.
    """

    name = "reader"
    depth = MAX_RERANKED

    def __init__(self, reader: UnitReader) -> None:
        self._reader = reader

    async def scores(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        if table_of(question) is not None:
            return (0.0,) * len(passages)
        units = [PlacedUnit(one.chunk.text, (one.chunk.document_title, *one.chunk.heading_path)) for one in passages]
        return (await self._reader.read(question, units)).scores
