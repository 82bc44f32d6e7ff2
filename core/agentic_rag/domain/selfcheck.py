"""The self-check: nothing leaves that is not cited, verified against the stored text, and said by what it cites."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.domain.answers import Citation, SelfCheckReport
from agentic_rag.domain.citations import cite, compose, matches
from agentic_rag.domain.contradiction import figures
from agentic_rag.domain.documents import RevisionSpan
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.hops import followed
from agentic_rag.domain.sentence_units import UnitKind
from agentic_rag.domain.synthesis import DraftSentence

MIN_OVERLAP = 0.6
"""Share of a sentence's words that its quote (with its table's header and its document's title) must hold."""

_WORD = re.compile(r"[^\W_]+")
_LINK = re.compile(r"https?://[^\s)\]>\"']+")
_HIDDEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sentence that may not be said, and the guardrail that stopped it."""

    sentence: DraftSentence
    guardrail: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What passed and what did not."""

    passed: tuple[tuple[DraftSentence, RevisionSpan], ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The text of an answer and its citations."""

    text: str
    citations: tuple[Citation, ...]


def check(
    sentences: Sequence[DraftSentence], passages: Sequence[Passage], stored: Sequence[RevisionSpan | None]
) -> Checked:
    """Check each drafted sentence against the stored span of its quote (same order)."""
    passed: list[tuple[DraftSentence, RevisionSpan]] = []
    refused: list[Refusal] = []
    for sentence, span in zip(sentences, stored, strict=True):
        guardrail = _broken_guardrail(sentence, passages, span)
        if guardrail is None and span is not None:
            passed.append((sentence, span))
        else:
            refused.append(Refusal(sentence, guardrail or "citation_not_stored"))
    return Checked(tuple(passed), tuple(refused))


def write(checked: Checked, passages: Sequence[Passage]) -> Written:
    """The answer made of the sentences that passed, each with its citation."""
    sentences = [sentence for sentence, _ in checked.passed]
    composed = compose(sentences)
    citations = tuple(
        cite(marker, sentence, passages, span, (composed.spans[marker - 1],))
        for marker, (sentence, span) in enumerate(checked.passed, start=1)
    )
    return Written(composed.text, followed(citations))


def quoted_only(checked: Checked, passages: Sequence[Passage]) -> tuple[Citation, ...]:
    """Verified citations that no sentence uses: the nearest evidence of an abstention."""
    return tuple(
        replace(cite(marker, sentence, passages, span, ()), path=())
        for marker, (sentence, span) in enumerate(checked.passed, start=1)
    )


def report(
    checked: Checked, unsupported: Sequence[str], *, repaired: bool, earlier: Sequence[Refusal]
) -> SelfCheckReport:
    """What the check found, for `debug`. Only verified sentences are written, so coverage is 1 or, without any, 0."""
    refused = (*earlier, *checked.refused)
    return SelfCheckReport(
        citation_coverage=1.0 if checked.passed else 0.0,
        unsupported_claims=tuple(unsupported),
        guardrails=tuple(dict.fromkeys(refusal.guardrail for refusal in refused)),
        repaired=repaired,
    )


def _broken_guardrail(sentence: DraftSentence, passages: Sequence[Passage], stored: RevisionSpan | None) -> str | None:
    if not 0 <= sentence.passage < len(passages):
        return "citation_not_retrieved"
    if not matches(sentence, passages, stored):
        return "citation_not_stored"
    chunk = passages[sentence.passage].chunk
    quote = chunk.text[sentence.start : sentence.end]
    if _HIDDEN.search(sentence.text):
        return "hidden_characters"
    links = _LINK.findall(sentence.text)
    if any(link not in quote and link != chunk.url for link in links):
        return "link_to_uncited_source"
    source = quote if sentence.kind is not UnitKind.TABLE_ROW else chunk.text[: sentence.end]
    if sentence.kind in (UnitKind.TABLE_ROW, UnitKind.LABELLED):
        source = f"{chunk.document_title}\n{source}"
    said = _WORD.findall(_LINK.sub(" ", sentence.text).lower())
    held = frozenset(_WORD.findall(source.lower()))
    if not said or sum(word in held for word in said) < MIN_OVERLAP * len(said):
        return "low_overlap"
    if figures(sentence.text) - figures(source):
        return "figure_not_in_source"
    return None
