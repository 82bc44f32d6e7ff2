"""What retrieval hands to synthesis: passages with their scores."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.candidates import Candidate

CORPUS = "corpus"
"""Origin of evidence that retrieval found; a tool's evidence carries the tool's name."""

SECTION = "section"
"""Origin of evidence beside a passage in its section. It has the scores of that passage."""

FIGURES = "figures"
"""Origin of evidence that was found by its measure inside a document that the question means."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk and its fused candidate. `parts` are the positions of the sub-questions that found it."""

    chunk: Chunk
    candidate: Candidate
    parts: tuple[int, ...] = (0,)
    origin: str = CORPUS
    table_head: str = ""
    """Caption, header row and rule of the table in which the chunk opens, a line each, when they stand before it."""

    @property
    def text_with_table_head(self) -> str:
        """The chunk's text as rows of a table that began before it need it read."""
        return self.table_head + self.chunk.text
