"""What the server answers, as values. Places count in Unicode code points, end exclusive."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it is stored, and why it was found."""

    text: str
    title: str
    source_path: str
    source_id: str
    chunk_id: str
    url: str | None
    media_type: str
    span: Span
    page: int | None
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    similarity: float | None
    """To the query, 0 to 1, on the scale of `min_similarity`; None without an embedding of the query."""
    cosine: float | None
    score: float
    flags: tuple[str, ...]
    """Signs that the passage was written to steer a model."""
    recognised: bool
    """Whether words of it were recognised in a picture of their page (OCR): they may be misread."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The passages for a text, best first."""

    passages: tuple[Passage, ...]
    corpus_version: int
    embedding_space: str | None
    degraded: tuple[str, ...]
    """Parts of the server that did not answer."""


@dataclass(frozen=True, slots=True)
class ContextSource:
    """A text that a context holds."""

    source_id: str
    chunk_id: str
    workspace_id: str
    title: str
    source_path: str
    span: Span
    is_cut: bool
    similarity: float | None
    agent: str
    flags: tuple[str, ...]
    recognised: bool
    """As `Passage.recognised`."""


@dataclass(frozen=True, slots=True)
class PromptContext:
    """A section for a prompt. `fault` is the code of what failed; the text then lacks what that would have given."""

    text: str
    step: str
    """PASSAGES, INLINE (plain-text guidelines) or NOTHING."""
    tokens: int
    template: str
    template_version: int
    sources: tuple[ContextSource, ...]
    fault: str | None


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A verified quote behind sentences of an answer."""

    marker: int
    snippet: str
    title: str
    source_path: str
    source_id: str
    chunk_id: str
    url: str | None
    source_span: Span
    answer_spans: tuple[Span, ...]
    page: int | None
    line_start: int
    line_end: int
    heading_path: tuple[str, ...]
    score: float
    verified: bool
    flags: tuple[str, ...]
    recognised: bool
    """Whether words of the quote were recognised in a picture of their page (OCR): they may be misread."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why there is no established answer."""

    reason: str
    explanation: str


@dataclass(frozen=True, slots=True)
class Run:
    """The stored run behind an answer."""

    id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. Its text is empty when the outcome is ABSTAINED."""

    text: str
    outcome: str
    citations: tuple[Citation, ...]
    abstention: Abstention | None
    degraded: tuple[str, ...]
    run: Run | None


@dataclass(frozen=True, slots=True)
class Upload:
    """An accepted upload; a worker reads it."""

    id: str
    workspace_id: str
    source_path: str
    size: int
    content_sha256: str
    unchanged: bool
    """Whether these very bytes were there already."""
    job_id: str | None
    status_url: str


@dataclass(frozen=True, slots=True)
class TextPage:
    """A page of a text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a text."""

    heading_path: tuple[str, ...]
    start: int


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A part of a document's text."""

    text: str
    start: int
    end: int
    characters: int
    """Of the whole text."""
    corpus_version: int
    pages: tuple[TextPage, ...]
    outline: tuple[Section, ...]
