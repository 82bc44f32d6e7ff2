"""What retrieval hands to synthesis: passages with their scores."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.domain.documents import Chunk
from agentic_rag.domain.retrieval import Candidate

CORPUS = "corpus"
"""Origin of evidence that retrieval found; a tool's evidence carries the tool's name."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk and its fused candidate. `parts` are the positions of the sub-questions that found it."""

    chunk: Chunk
    candidate: Candidate
    parts: tuple[int, ...] = (0,)
    origin: str = CORPUS
