"""Looks through the documents that a question about a measure means for the rows and sentences that state it.

A label of two words loses against pages of prose wherever whole questions are searched for. So each document that is
meant is searched by itself, for nothing but the measure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.answering.evidence.finder import FoundEvidence
from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.figures.borderless_tables import (
    has_rows,
    is_statement,
    parse_borderless_row,
    table_head_before,
)
from agentic_rag.answering.figures.measures import Measure, asks_for_measure, breakdown_concepts, measures_of
from agentic_rag.answering.figures.rows import FigureIndex, FigureQuote, years_of
from agentic_rag.documents.document import Chunk, ChunkPosition, DocumentFilter
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.language.tokenizer import query_terms, tokenize
from agentic_rag.retrieval.candidates import FIGURES, ArmHit, ArmScore, Candidate, Passage, Retriever, SearchScope
from agentic_rag.retrieval.title_match import match_titles

NEAR_FACTOR = 200
"""Passages whose titles are looked at for the documents that are meant."""
MOST_DOCUMENTS = 8
"""Documents that are searched: two years of quarterly reports."""
DEPTH = 14
"""Passages of a document that are read for one measure. Over twelve filings the figure asked for stood among the first
14 for 39 of 40 questions, among the first 8 for 35.
"""
ROWS, SENTENCES = 3, 3
ROWS_OF_SEVERAL, SENTENCES_OF_SEVERAL = 4, 4
"""The same where several documents are meant: one of each for every quarter of a year."""
MOST_QUOTES, MOST_OF_SEVERAL = 6, 8
MOST_ROWS_OF_A_TABLE = 7


async def find_figures(
    snapshot: CorpusSnapshot, question: str, passages: Sequence[Passage], scope: SearchScope
) -> FoundEvidence | None:
    """What the documents meant state of the measures asked for; None for a question that asks for no measure, or means
    no document with a financial statement.
    """
    if not asks_for_measure(question) or not passages:
        return None
    meant = await _find_target_documents(snapshot, question, passages, scope)
    if not meant.documents:
        return None
    titled = frozenset(term for title in meant.documents.values() for term in tokenize(title))
    measures = measures_of(question, titled, await snapshot.lexical.rarity(tokenize(question), scope))
    if not measures:
        return None
    hits = await _search_measures(snapshot, question, measures, meant.documents, scope)
    chunks = await snapshot.documents.chunks(sorted(hits), scope.access_ids)
    if not any(is_statement(one.text) for one in chunks):
        return None
    pool = FigureIndex(chunks, question)
    pool.set_rarity(await snapshot.lexical.rarity(sorted(pool.label_terms), scope))
    quotes = _choose_quotes(pool, question, measures, meant)
    return await _with_passages(snapshot, quotes, hits, passages, scope)


@dataclass(frozen=True, slots=True)
class _TargetDocuments:
    """The documents that are meant with their titles; not `named` where only their passages say so."""

    documents: Mapping[UUID, str]
    is_by_title: bool


async def _find_target_documents(
    snapshot: CorpusSnapshot, question: str, passages: Sequence[Passage], scope: SearchScope
) -> _TargetDocuments:
    near = await snapshot.lexical.search(query_terms(question), NEAR_FACTOR, scope)
    ordinals = sorted({hit.ordinal for hit in near} | {passage.chunk.ordinal for passage in passages})
    titles = await snapshot.documents.titles(ordinals, scope.access_ids)
    wanted = match_titles(question, list(titles.values()))
    if wanted:
        first: dict[str, list[int]] = {}
        for ordinal in ordinals:
            if titles.get(ordinal) in wanted:
                first.setdefault(titles[ordinal], []).append(ordinal)
        some = [ordinal for group in first.values() for ordinal in group[:2]]
        chunks = await snapshot.documents.chunks(some, scope.access_ids)
        found = {chunk.document_id: chunk.document_title for chunk in chunks}
        return _TargetDocuments(dict(list(found.items())[:MOST_DOCUMENTS]), is_by_title=True)
    counted: dict[UUID, int] = {}
    for passage in passages:
        counted[passage.chunk.document_id] = counted.get(passage.chunk.document_id, 0) + 1
    alone = {
        passage.chunk.document_id: passage.chunk.document_title
        for passage in passages
        if 2 * counted[passage.chunk.document_id] >= max(4, len(passages)) and has_rows(passage.chunk.text)
    }
    return _TargetDocuments(alone, is_by_title=False)


async def _search_measures(
    snapshot: CorpusSnapshot,
    question: str,
    measures: Sequence[Measure],
    documents: Mapping[UUID, str],
    scope: SearchScope,
) -> dict[int, tuple[int, ArmHit]]:
    """The passages of each document that are found by the measures' own words: ordinal → (rank from 1, hit)."""
    searches = [measure.search_terms for measure in measures]
    if breakdown_concepts(question) is not None:
        titled = frozenset(term for title in documents.values() for term in tokenize(title))
        rest = [term for term in tokenize(question) if term not in titled]
        searches.append(tuple(dict.fromkeys([*(term for one in searches for term in one), *rest])))
    found: dict[int, tuple[int, ArmHit]] = {}
    for document_id in documents:
        held = await snapshot.documents.ordinals_matching(DocumentFilter(document_ids=(document_id,)), scope.access_ids)
        inside = replace(scope, ordinals=held if scope.ordinals is None else held & scope.ordinals)
        for search in searches:
            for rank, hit in enumerate(await snapshot.lexical.search(dict.fromkeys(search, 1), DEPTH, inside), 1):
                found.setdefault(hit.ordinal, (rank, hit))
    return found


def _choose_quotes(
    pool: FigureIndex, question: str, measures: Sequence[Measure], meant: _TargetDocuments
) -> list[FigureQuote]:
    years = years_of(question)
    by = breakdown_concepts(question)
    table = [] if by is None else pool.table(measures, by, years, MOST_ROWS_OF_A_TABLE)
    if table:
        return table
    several = len(meant.documents) > 1
    rows, sentences = (ROWS_OF_SEVERAL, SENTENCES_OF_SEVERAL) if several else (ROWS, SENTENCES)
    quotes = pool.quotes(measures, years, rows, sentences if meant.is_by_title else 0)
    return quotes[: MOST_OF_SEVERAL if several else MOST_QUOTES]


async def _with_passages(
    snapshot: CorpusSnapshot,
    quotes: Sequence[FigureQuote],
    hits: Mapping[int, tuple[int, ArmHit]],
    passages: Sequence[Passage],
    scope: SearchScope,
) -> FoundEvidence:
    places = {passage.chunk.ordinal: place for place, passage in enumerate(passages)}
    whole = list(passages)
    above = await _heads(snapshot, quotes, scope)
    figures: list[CandidateUnit] = []
    for quote in quotes:
        ordinal = quote.chunk.ordinal
        place = places.get(ordinal)
        if place is None:
            place = places[ordinal] = len(whole)
            whole.append(Passage(quote.chunk, _candidate(*hits[ordinal]), (), FIGURES))
        if ordinal in above:
            whole[place] = replace(whole[place], table_head=above[ordinal])
        span = (quote.start, quote.end)
        figures.append(CandidateUnit(place, *span, quote.kind, 0, 0, 0, 0, True, span, None, quote.score))
    return FoundEvidence(tuple(whole), tuple(figures))


async def _heads(snapshot: CorpusSnapshot, quotes: Sequence[FigureQuote], scope: SearchScope) -> dict[int, str]:
    """What names the columns of the tables that began in the passage before, by ordinal."""
    headless = {
        quote.chunk.ordinal: quote
        for quote in quotes
        if quote.kind is UnitKind.TABLE_ROW and quote.chunk.index > 0 and _is_headless(quote)
    }
    wanted = [
        ChunkPosition(one.chunk.document_id, one.chunk.revision_id, one.chunk.index - 1) for one in headless.values()
    ]
    before = await snapshot.documents.chunks_at(wanted, scope.access_ids) if wanted else []
    earlier = {(chunk.revision_id, chunk.index): chunk for chunk in before}
    found: dict[int, str] = {}
    for ordinal, quote in headless.items():
        chunk = earlier.get((quote.chunk.revision_id, quote.chunk.index - 1))
        head = "" if chunk is None else _head(chunk, quote)
        if head:
            found[ordinal] = head
    return found


def _is_headless(quote: FigureQuote) -> bool:
    row = parse_borderless_row(quote.chunk.text, quote.start, quote.end)
    return row is not None and row.header is None


def _head(before: Chunk, quote: FigureQuote) -> str:
    chunk = quote.chunk
    if chunk.start - before.end > 2:
        return ""
    return table_head_before(before.text[: chunk.start - before.start], chunk.text, quote.start, quote.end)


def _candidate(rank: int, hit: ArmHit) -> Candidate:
    return Candidate(hit.ordinal, hit.score, (ArmScore(Retriever.LEXICAL, rank, hit.raw, hit.score, 1.0),))
