"""Citations: a quoted span of a chunk placed in its revision, checked against the stored text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.answer import Citation, TextSpan
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import FENCES, UnitKind, holds_code
from agentic_rag.documents.document import RevisionSpan, SpanRequest
from agentic_rag.language.prompt_injection import find_suspicions
from agentic_rag.retrieval.candidates import Passage

_NUMBERS = re.compile(r"(?<![^\s(])(?:\[\d{1,4}(?: ?[,;–-] ?\d{1,4})*\])+")
"""Numbers in square brackets that stand by themselves: a source's references. `values[3]` is none, nor is the one of
`[more][3]`, which round brackets would make a link.
"""
_ROUND = str.maketrans("[]", "()")


@dataclass(frozen=True, slots=True)
class ComposedText:
    """The text of an answer, and the span of each sentence in it (markers included)."""

    text: str
    spans: tuple[TextSpan, ...]
    markers: tuple[tuple[int, ...], ...]
    """Of each sentence's quotes, in order."""

    def spans_citing(self, marker: int) -> tuple[TextSpan, ...]:
        """The sentences that carry a marker."""
        return tuple(span for span, markers in zip(self.spans, self.markers, strict=True) if marker in markers)


def all_quotes(sentences: Sequence[DraftSentence]) -> list[DraftSentence]:
    """The quotes of sentences, in their order."""
    return [quote for sentence in sentences for quote in quotes_of(sentence)]


def quotes_of(sentence: DraftSentence) -> tuple[DraftSentence, ...]:
    """The sentence once for each span that it quotes; each becomes a citation."""
    return (sentence, *sentence.more_quotes)


def span_request(sentence: DraftSentence, passages: Sequence[Passage]) -> SpanRequest:
    """The place of the sentence's quote in its revision."""
    chunk = passages[sentence.passage].chunk
    return SpanRequest(chunk.revision_id, chunk.start + sentence.start, chunk.start + sentence.end)


def matches(sentence: DraftSentence, passages: Sequence[Passage], stored: RevisionSpan | None) -> bool:
    """True when the stored text equals that of the passage."""
    quote = passages[sentence.passage].chunk.text[sentence.start : sentence.end]
    return stored is not None and bool(quote) and stored.text == quote


def compose(sentences: Sequence[DraftSentence]) -> ComposedText:
    """Join sentences with the markers of their quotes `[1]`, `[2]` …; list items have lines of their own. A source's
    own numbers in square brackets get round ones, outside of code: beside markers they would name other citations.
    """
    pieces: list[str] = []
    spans: list[TextSpan] = []
    marked: list[tuple[int, ...]] = []
    length = count = 0
    for sentence in sentences:
        own_line = sentence.kind in (UnitKind.LIST_ITEM, UnitKind.TABLE_ROW, UnitKind.TITLED) and len(sentences) > 1
        text = sentence.text
        if not holds_code(text):
            text = _NUMBERS.sub(lambda found: found[0].translate(_ROUND), text)
        lead = ("\n- " if own_line else " ") if pieces else ("- " if own_line else "")
        if pieces and (sentence.kind is UnitKind.LIST or own_line is False) and "\n" in text:
            lead = "\n"
        if pieces and not own_line and pieces[-1].startswith(("\n- ", "- ")):
            lead = "\n"
        markers = tuple(range(count + 1, count + 1 + len(quotes_of(sentence))))
        count += len(markers)
        # A fence with a marker behind it would not close its code.
        gap = "\n" if text.endswith(FENCES) else " "
        piece = f"{lead}{text}{gap}" + "".join(f"[{one}]" for one in markers)
        spans.append(TextSpan(length + len(lead), length + len(piece)))
        marked.append(markers)
        pieces.append(piece)
        length += len(piece)
    return ComposedText("".join(pieces), tuple(spans), tuple(marked))


def cite(
    marker: int,
    sentence: DraftSentence,
    passages: Sequence[Passage],
    stored: RevisionSpan,
    answer_spans: tuple[TextSpan, ...],
) -> Citation:
    """The citation of a sentence whose quote equals the stored text (`matches`)."""
    passage = passages[sentence.passage]
    chunk = passage.chunk
    first_line = chunk.line_start + chunk.text.count("\n", 0, sentence.start)
    return Citation(
        marker=marker,
        document_id=chunk.document_id,
        revision_id=chunk.revision_id,
        chunk_id=chunk.chunk_id,
        ordinal=chunk.ordinal,
        title=chunk.document_title,
        source_path=chunk.source_path,
        url=chunk.url,
        snippet=stored.text,
        source_span=TextSpan(chunk.start + sentence.start, chunk.start + sentence.end),
        answer_spans=answer_spans,
        page=stored.page,
        line_start=first_line,
        line_end=first_line + chunk.text.count("\n", sentence.start, sentence.end),
        heading_path=chunk.heading_path,
        score=passage.candidate.score,
        arms=passage.candidate.arms,
        origin=stored.web_origin or passage.origin,
        verified=True,
        path=passage.candidate.path,
        read_at=stored.read_at,
        flags=find_suspicions(chunk.text),
        published=stored.published,
        is_recognised=stored.is_recognised,
    )


def keep_followed_paths(citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """The citations; a path stays only where the answer followed it, that is, where it begins in a cited passage."""
    cited = {citation.chunk_id for citation in citations}
    return tuple(
        replace(one, path=()) if one.path and one.path[0].from_chunk_id not in cited else one for one in citations
    )
