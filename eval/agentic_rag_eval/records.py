"""Questions and answers as the harness scores them, in process or over HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from agentic_rag.operations.evaluation import EvalQuestion as EvalQuestion


@dataclass(frozen=True, slots=True)
class EvalDocument:
    """A line of a corpus. Its id is its source path after ingestion; questions refer to it by the id."""

    document_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """The parts of a citation that scoring uses."""

    source_path: str
    snippet: str
    is_stored: bool | None = None
    """Whether the quote was found in the stored text at its place, read anew. None: not looked up."""


@dataclass(frozen=True, slots=True)
class RetrievedSpan:
    """A retrieved chunk: code points [start, end) of a document's stored text."""

    source_path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """Embedding of one question: estimated tokens, and their list price in USD (None: unknown)."""

    tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class AskRecord:
    """One answer: the same record from the use case in process and from GraphQL over HTTP.

    `retrieved` are the source paths of the fused candidates, best first, each once. Seconds are wall time.
    """

    answer: str
    outcome: str
    citations: tuple[CitedSpan, ...]
    retrieved: tuple[str, ...]
    citation_coverage: float
    seconds: float
    stage_seconds: Mapping[str, float]
    run_id: str = ""
    """The public id of the stored run."""
    spans: tuple[RetrievedSpan | None, ...] | None = None
    """The retrieved chunks, best first; an entry is None when its place was not looked up (its document is not gold).
    The whole field is None when places are unknown, as over HTTP.
    """
    usage: EmbeddingUsage | None = None
    """None: unknown, as over HTTP."""


Ask = Callable[[EvalQuestion], Awaitable[AskRecord]]
"""Asks one question. Errors propagate: a failed run is not a wrong answer."""
