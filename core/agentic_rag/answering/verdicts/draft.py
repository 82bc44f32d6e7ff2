"""Searches the passages for the sentences that decide a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.extraction.candidate_units import segment_passage
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.verdicts.rules import parse_decidable
from agentic_rag.answering.verdicts.statements import DecidableQuestion, QuotedSentence, SideFact
from agentic_rag.retrieval.candidates import Passage

_READ = frozenset([UnitKind.PROSE, UnitKind.LIST_ITEM])


@dataclass(frozen=True, slots=True)
class _SourceQuote:
    passage: int
    start: int
    end: int
    kind: UnitKind
    source: QuotedSentence


def draft_verdict(
    question: str, passages: Sequence[Passage], excluded: ExcludedSpans = frozenset()
) -> DraftSentence | None:
    """The verdict as a sentence with one quote for each side; None when no rule proves one, or when passages contradict
    each other about a side.
    """
    asked = parse_decidable(question)
    if not asked:
        return None
    quotes = list(_quotes(passages, excluded))
    return next((found for one in asked if (found := _decide(one, question, quotes)) is not None), None)


def _decide(asked: DecidableQuestion, question: str, quotes: Sequence[_SourceQuote]) -> DraftSentence | None:
    chosen: list[tuple[SideFact, _SourceQuote]] = []
    for side in range(asked.sides):
        found = [(stated, one) for one in quotes if (stated := asked.read_side(side, one.source)) is not None]
        if not found or any(not first.agrees(other) for first, _ in found for other, _ in found):
            return None
        chosen.append(found[0])
    text = asked.verdict([stated for stated, _ in chosen])
    if text is None:
        return None
    quoted = [
        DraftSentence(0, one.passage, one.start, one.end, text, one.kind, 0.0, verdict_question=question)
        for _, one in chosen
    ]
    return replace(quoted[0], kind=UnitKind.PROSE, more_quotes=tuple(quoted[1:]))


def _quotes(passages: Sequence[Passage], excluded: ExcludedSpans) -> Iterator[_SourceQuote]:
    for place, passage in enumerate(passages):
        reading = segment_passage(passage)
        chunk = passage.chunk
        for block in range(len(reading.ends)):
            for start, end in reading.sentences(reading.block(block))[0]:
                kind = reading.kind((start, end))
                if kind in _READ and (chunk.ordinal, start) not in excluded:
                    yield _SourceQuote(
                        place, start, end, kind, QuotedSentence(chunk.document_title, chunk.text[start:end])
                    )
