"""The self-check: every sentence must be cited, its quotes stored as they are, and its words supported by them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.answer import Citation, SelfCheckReport
from agentic_rag.answering.extraction.contradiction import extract_figures
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.verification.citations import cite, compose, keep_followed_paths, matches, quotes_of
from agentic_rag.answering.verification.claim_support import find_unsupported
from agentic_rag.answering.verification.defang_links import NO_HOSTS, defang_links
from agentic_rag.documents.document import RevisionSpan
from agentic_rag.language.hidden_characters import HIDDEN
from agentic_rag.language.orders import is_order
from agentic_rag.language.tables import caption_span, header_span
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.web.url_policy import HostList

MIN_OVERLAP = 0.6
"""Share of a sentence's words that its quote (with its table's header and its document's title) must hold."""

_WORD = re.compile(r"[^\W_]+")
_EMPHASIS = re.compile(r"[*_]+")
_LINK = re.compile(r"https?://[^\s)\]>\"']+")


@dataclass(frozen=True, slots=True)
class RefusedSentence:
    """A sentence that may not be written, and the guardrail that refuses it."""

    sentence: DraftSentence
    guardrail: str


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """The sentences that passed, and those that were refused."""

    passed: tuple[tuple[DraftSentence, tuple[RevisionSpan, ...]], ...]
    """Each with the stored text of its quotes."""
    refused: tuple[RefusedSentence, ...]


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """The text of an answer and its citations."""

    text: str
    citations: tuple[Citation, ...]


def check(
    sentences: Sequence[DraftSentence], passages: Sequence[Passage], stored: Sequence[RevisionSpan | None]
) -> CheckedDraft:
    """Check each drafted sentence against the stored spans of its quotes (`quotes_of` all sentences, in order)."""
    passed: list[tuple[DraftSentence, tuple[RevisionSpan, ...]]] = []
    refused: list[RefusedSentence] = []
    at = 0
    for sentence in sentences:
        spans = stored[at : at + len(quotes_of(sentence))]
        at += len(spans)
        guardrail = _broken_guardrail(sentence, passages, spans)
        if guardrail is None:
            passed.append((sentence, tuple(span for span in spans if span is not None)))
        else:
            refused.append(RefusedSentence(sentence, guardrail))
    return CheckedDraft(tuple(passed), tuple(refused))


def write(checked: CheckedDraft, passages: Sequence[Passage], link_hosts: HostList = NO_HOSTS) -> WrittenAnswer:
    """The answer made of the sentences that passed, each with its citations. Links to a cited source or to one of
    `link_hosts` stay live; the others are defanged.
    """
    cited = {
        url
        for sentence, _ in checked.passed
        for quote in quotes_of(sentence)
        if (url := passages[quote.passage].chunk.url) is not None
    }
    sentences = [replace(one, text=defang_links(one.text, cited, link_hosts)) for one, _ in checked.passed]
    composed = compose(sentences)
    stored = {
        marker: (quote, span)
        for (sentence, spans), markers in zip(checked.passed, composed.markers, strict=True)
        for quote, span, marker in zip(quotes_of(sentence), spans, markers, strict=True)
    }
    citations = tuple(
        cite(marker, quote, passages, span, composed.spans_citing(marker)) for marker, (quote, span) in stored.items()
    )
    return WrittenAnswer(composed.text, keep_followed_paths(citations))


def cite_nearest(checked: CheckedDraft, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Verified citations that no sentence uses: the nearest evidence of an abstention."""
    return tuple(
        replace(cite(marker, sentence, passages, spans[0], ()), path=())
        for marker, (sentence, spans) in enumerate(checked.passed, start=1)
    )


def report(
    checked: CheckedDraft, unsupported: Sequence[str], *, repaired: bool, earlier: Sequence[RefusedSentence]
) -> SelfCheckReport:
    """The findings of the check, for `debug`. Only what passed is written: coverage is 1, or 0 without any sentence."""
    refused = (*earlier, *checked.refused)
    return SelfCheckReport(
        citation_coverage=1.0 if checked.passed else 0.0,
        unsupported_claims=tuple(unsupported),
        guardrails=tuple(dict.fromkeys(refusal.guardrail for refusal in refused)),
        repaired=repaired,
    )


def _broken_guardrail(
    sentence: DraftSentence, passages: Sequence[Passage], stored: Sequence[RevisionSpan | None]
) -> str | None:
    quotes = quotes_of(sentence)
    if not all(0 <= quote.passage < len(passages) for quote in quotes):
        return "citation_not_retrieved"
    if not all(matches(quote, passages, span) for quote, span in zip(quotes, stored, strict=True)):
        return "citation_not_stored"
    if any(is_order(_quote_text(quote, passages)) for quote in quotes):
        return "order_to_whoever_answers"
    if HIDDEN.search(sentence.text):
        return "hidden_characters"
    links = _LINK.findall(sentence.text)
    if any(not any(_links_to(quote, passages, link) for quote in quotes) for link in links):
        return "link_to_uncited_source"
    source = "\n".join((_row if sentence.is_model_text else _source)(quote, passages) for quote in quotes)
    if sentence.text == source and not links:
        # A literal quote contains each word, figure and name of the sentence.
        return None if _WORD.search(source) else "low_overlap"
    said = _WORD.findall(_LINK.sub(" ", sentence.text).lower())
    held = frozenset(_WORD.findall(source.lower()))
    if not said or sum(word in held for word in said) < MIN_OVERLAP * len(said):
        return "low_overlap"
    if sentence.is_model_text:
        return find_unsupported(sentence.text, source, [_title(quote, passages) for quote in quotes])
    if extract_figures(sentence.text) - extract_figures(_EMPHASIS.sub(" ", source)):
        return "figure_not_in_source"
    return None


def _title(quote: DraftSentence, passages: Sequence[Passage]) -> str:
    return passages[quote.passage].chunk.document_title


def _quote_text(quote: DraftSentence, passages: Sequence[Passage]) -> str:
    return passages[quote.passage].chunk.text[quote.start : quote.end]


def _links_to(quote: DraftSentence, passages: Sequence[Passage], link: str) -> bool:
    return link in _quote_text(quote, passages) or link == passages[quote.passage].chunk.url


def _row(quote: DraftSentence, passages: Sequence[Passage]) -> str:
    """The text that a model's sentence with this quote may use: of a table, the row with header and caption."""
    if quote.kind is not UnitKind.TABLE_ROW:
        return _source(quote, passages)
    passage = passages[quote.passage]
    text = passage.table_head + passage.chunk.text
    start, end = (at + len(passage.table_head) for at in (quote.start, quote.end))
    line = text.rfind("\n", 0, start) + 1
    header = header_span(text, line)
    named: tuple[str, ...] = ()
    if header is not None:
        caption = caption_span(text, header[0])
        named = (text[header[0] if caption is None else caption[0] : header[1]],)
    return "\n".join((passage.chunk.document_title, *named, text[line:end]))


def _source(quote: DraftSentence, passages: Sequence[Passage]) -> str:
    """The text that a sentence with this quote may use. A table row includes all rows above it and the document's
    title, one behind titles all headings above it.
    """
    chunk = passages[quote.passage].chunk
    source = chunk.text[quote.start : quote.end]
    if quote.kind is UnitKind.TABLE_ROW:
        source = passages[quote.passage].table_head + chunk.text[: quote.end]
    if quote.kind in (UnitKind.TABLE_ROW, UnitKind.LABELLED):
        source = f"{chunk.document_title}\n{source}"
    if quote.kind is UnitKind.TITLED:
        source = "\n".join((*headings_above(passages[quote.passage], quote.start), source))
    return source
