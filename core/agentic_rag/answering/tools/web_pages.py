"""Pages that a question names, as evidence: what the plan asks for, and the passages of a page that was read.

Only the words of the question can name a page. What a page or a document says never does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, UUID, uuid5

from agentic_rag.answering.answer import FetchedText
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.documents.chunking import chunk_document
from agentic_rag.documents.document import Chunk, ParsedDocument, RevisionSpan, SpanRequest
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.retrieval.candidates import SCORE_DIGITS, Candidate, Passage
from agentic_rag.workspaces.chunk_profiles import chunk_profile

HTTP_FETCH = "http_fetch"
MAX_PAGES = 2
"""Of one question."""

PAGE_CHUNK_PROFILE = "small"
MAX_PASSAGES = 6
"""Of one page."""

MAX_KEPT_CHARACTERS = 200_000
"""Of a page's text, which is kept with the run."""

_ADDRESS = re.compile(r"https?://[^\s<>\"'“”‘’`|]+", re.IGNORECASE)
_ENDING = ".,;:!?…)]}"
_THE_PAGE = "the page"


def find_addresses(question: str) -> tuple[str, ...]:
    """The addresses that the question names, at most `MAX_PAGES`."""
    named = dict.fromkeys(address.rstrip(_ENDING) for address in _ADDRESS.findall(question))
    return tuple(named)[:MAX_PAGES]


def strip_addresses(question: str) -> str:
    """The question as it is searched for: “the page” for each address."""

    def replace(match: re.Match[str]) -> str:
        return _THE_PAGE + match[0][len(match[0].rstrip(_ENDING)) :]

    return _ADDRESS.sub(replace, question)


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page's text and its chunks; their ordinals are negative, so that none is one of the corpus."""

    fetched: FetchedText
    chunks: tuple[Chunk, ...]


def web_page(url: str, parsed: ParsedDocument, place: int, count_tokens: Callable[[str], int]) -> WebPage:
    """The page at position `place` of those that the run read."""
    text = strip_unstorable(parsed.text[:MAX_KEPT_CHARACTERS])
    document_id = uuid5(NAMESPACE_URL, url)
    revision_id = uuid5(document_id, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())
    title = parsed.title or url
    drafts = chunk_document(document_id, parsed, chunk_profile(PAGE_CHUNK_PROFILE), count_tokens)
    chunks = tuple(
        Chunk(
            ordinal=-1 - place * MAX_KEPT_CHARACTERS - draft.index,
            chunk_id=uuid5(revision_id, str(draft.index)),
            document_id=document_id,
            revision_id=revision_id,
            index=draft.index,
            text=draft.text,
            start=draft.start,
            end=draft.end,
            page=draft.page,
            line_start=draft.line_start,
            line_end=draft.line_end,
            heading_path=draft.heading_path,
            document_title=title,
            source_path=url,
            url=url,
            media_type=parsed.media_type,
        )
        for draft in drafts
        if draft.end <= len(text)
    )
    return WebPage(FetchedText(revision_id, url, title, text), chunks)


def page_passages(page: WebPage, parts: Sequence[Subquery]) -> tuple[Passage, ...]:
    """The chunks that hold most of what some part asks, best first; each counts for all parts."""
    everywhere = tuple(range(len(parts)))
    scored = [(_score(chunk, parts), chunk) for chunk in page.chunks]
    best = sorted(scored, key=lambda one: (-one[0], one[1].index))[:MAX_PASSAGES]
    return tuple(
        Passage(chunk, Candidate(chunk.ordinal, score, ()), everywhere, origin=HTTP_FETCH) for score, chunk in best
    )


def _score(chunk: Chunk, parts: Sequence[Subquery]) -> float:
    low = lower_text(" ".join((*chunk.heading_path, chunk.text)))
    held = max((weight_of(mask_of(low, part.terms), part.terms) for part in parts), default=0.0)
    return round(held, SCORE_DIGITS)


def page_span(request: SpanRequest, fetched: Sequence[FetchedText]) -> RevisionSpan | None:
    """The asked span of a page that is kept with the run; None for what no page is."""
    for page in fetched:
        if page.revision_id == request.revision_id:
            return RevisionSpan(page.text[request.start : request.end], None)
    return None


def is_page_revision(revision_id: UUID, fetched: Sequence[FetchedText]) -> bool:
    """Whether a revision is a page of the run, and none of the corpus."""
    return any(page.revision_id == revision_id for page in fetched)
