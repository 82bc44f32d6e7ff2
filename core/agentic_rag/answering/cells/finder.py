"""Looks through the documents that a question means for the cell that it names by row and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from agentic_rag.answering.cells.asked_cell import AskedRow, PlacedRow, asked_rows, names_a_row
from agentic_rag.answering.cells.table_rows import table_rows
from agentic_rag.answering.evidence.expand_context import opens_in_table, table_head
from agentic_rag.answering.evidence.finder import FoundEvidence
from agentic_rag.answering.evidence.named import lacks_thing
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.shapes.question_kind import QuestionKind, question_kind
from agentic_rag.documents.document import Chunk, ChunkPosition, DocumentFilter
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.language.tables import CELL_SEPARATOR
from agentic_rag.language.tokenizer import query_terms, tokenize
from agentic_rag.retrieval.candidates import FIGURES, ArmHit, ArmScore, Candidate, Passage, Retriever, SearchScope

MOST_DOCUMENTS = 3
"""Documents that are searched, those first whose titles have most of the question."""
_NO_CELL = frozenset({
    QuestionKind.REASON, QuestionKind.STEPS, QuestionKind.COMPARISON, QuestionKind.YES_NO, QuestionKind.DOCUMENTS,
    QuestionKind.SUMMARY,
})  # fmt: skip
"""Kinds of questions that a figure does not answer."""
DEPTH = 16
"""Passages of them that are read."""


class TableCells:
    """Implements `answering.evidence.finder.EvidenceFinder` for questions that say the label of a row and the name of a
    column.
    """

    async def find(
        self, snapshot: CorpusSnapshot, question: str, passages: Sequence[Passage], scope: SearchScope
    ) -> FoundEvidence | None:
        kind = detect_answer_type(question)
        if question_kind(question, kind) in _NO_CELL:
            return None
        tabled = [one for one in passages if CELL_SEPARATOR in one.chunk.text]
        if not any(names_a_row(question, table_rows(one.text_with_table_head)) for one in tabled):
            return None
        whole = [*passages, *await _passages_beside(snapshot, question, passages, scope)]
        whole = await _with_heads(snapshot, whole, scope)
        if lacks_thing(question, kind, whole):
            return None
        found = asked_rows(question, (row for place, one in enumerate(whole) for row in _rows(place, one)))
        if not found:
            return None
        return _evidence(whole, len(passages), found)

    def missing_fact(
        self, part: Subquery, passages: Sequence[Passage], sentences: Sequence[DraftSentence]
    ) -> str | None:
        return None


async def _passages_beside(
    snapshot: CorpusSnapshot, question: str, passages: Sequence[Passage], scope: SearchScope
) -> list[Passage]:
    """Further passages of the documents that are meant, found by the words of the question that no title says."""
    asked = query_terms(question)
    titles: dict[UUID, str] = {}
    for one in passages:
        titles.setdefault(one.chunk.document_id, one.chunk.document_title)
    said = {document: len(asked.keys() & {*tokenize(title)}) for document, title in titles.items()}
    meant = sorted(titles, key=lambda document: -said[document])[:MOST_DOCUMENTS]
    titled = frozenset(term for document in meant for term in tokenize(titles[document]))
    terms = {term: count for term, count in asked.items() if term not in titled} or asked
    held = await snapshot.documents.ordinals_matching(DocumentFilter(document_ids=tuple(meant)), scope.access_ids)
    inside = replace(scope, ordinals=held if scope.ordinals is None else held & scope.ordinals)
    known = {one.chunk.ordinal for one in passages}
    hits = await snapshot.lexical.search(terms, DEPTH, inside)
    wanted = {hit.ordinal: (rank, hit) for rank, hit in enumerate(hits, 1) if hit.ordinal not in known}
    chunks = await snapshot.documents.chunks(sorted(wanted), scope.access_ids) if wanted else []
    return [Passage(one, _candidate(*wanted[one.ordinal]), (), FIGURES) for one in chunks if CELL_SEPARATOR in one.text]


async def _with_heads(snapshot: CorpusSnapshot, passages: Sequence[Passage], scope: SearchScope) -> list[Passage]:
    """The passages with what names the columns of the tables that began in the chunk before, then those chunks."""
    known = {_position(one.chunk): one.chunk for one in passages}
    opening = [one.chunk for one in passages if opens_in_table(one.chunk)]
    wanted = [place for one in opening if (place := replace(_position(one), index=one.index - 1)) not in known]
    before = await snapshot.documents.chunks_at(wanted, scope.access_ids) if wanted else []
    known |= {_position(one): one for one in before}
    candidates = {replace(_position(one.chunk), index=one.chunk.index - 1): one.candidate for one in passages}
    headed = [replace(one, table_head=table_head(one.chunk, known) or one.table_head) for one in passages]
    return [
        *headed,
        *(Passage(one, replace(candidates[_position(one)], ordinal=one.ordinal), (), FIGURES) for one in before),
    ]


def _position(chunk: Chunk) -> ChunkPosition:
    return ChunkPosition(chunk.document_id, chunk.revision_id, chunk.index)


def _rows(place: int, passage: Passage) -> list[PlacedRow]:
    above = len(passage.table_head)
    titles = "\n".join((passage.chunk.document_title, *passage.chunk.heading_path))
    return [
        PlacedRow(place, replace(row, start=row.start - above, end=row.end - above), titles)
        for row in table_rows(passage.text_with_table_head)
        if row.start >= above
    ]


def _evidence(whole: Sequence[Passage], known: int, found: Sequence[AskedRow]) -> FoundEvidence:
    """The rows as quotes; the passages that hold them, and those that name their columns, are added."""
    kept = list(whole[:known])  # With the heads of their tables.
    added: dict[int, int] = {}
    quotes: list[CandidateUnit] = []
    for one in found:
        place, row = one.placed.place, one.placed.row
        above = [at for at in range(known, len(whole)) if _is_before(whole[at].chunk, whole[place].chunk)]
        for at in (*(above if whole[place].table_head else ()), *((place,) if place >= known else ())):
            if at not in added:
                added[at] = len(kept)
                kept.append(whole[at])
        span = (row.start, row.end)
        at = added.get(place, place)
        quotes.append(CandidateUnit(at, *span, UnitKind.TABLE_ROW, 0, 0, 0, 0, True, span, None, one.worth))
    return FoundEvidence(tuple(kept), tuple(quotes), is_exact=True)


def _is_before(chunk: Chunk, other: Chunk) -> bool:
    return (chunk.revision_id, chunk.index + 1) == (other.revision_id, other.index)


def _candidate(rank: int, hit: ArmHit) -> Candidate:
    return Candidate(hit.ordinal, hit.score, (ArmScore(Retriever.LEXICAL, rank, hit.raw, hit.score, 1.0),))
