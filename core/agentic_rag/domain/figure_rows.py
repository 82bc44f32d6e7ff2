"""The rows of tables that a question about a measure is answered by: revenue, cash flow, a tax rate, inventories.

A row says what it is in two or three words, so it is not matched like a sentence: what counts is how much of its label
the question asks for, and whether the lines above it speak of the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.domain.bare_tables import bare_cells, bare_row
from agentic_rag.domain.document_fit import LONG_DOCUMENT, document_fit
from agentic_rag.domain.english import FUNCTION_WORDS
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.lexical import terms
from agentic_rag.domain.passage_units import PartQuery, Unit, best_units, reading_of
from agentic_rag.domain.sentence_units import UnitKind
from agentic_rag.domain.term_match import mask_of, weight_of

MOST_ROWS = 4
"""Rows that an answer takes: as many as a year has quarters."""
ROWS_OF_A_DOCUMENT = 2
MOST_SENTENCES = 2
"""Sentences with a figure beside the rows."""
LABEL_SHARE = 0.5
"""Of a label's words, those that the question must ask for."""
SENTENCE_SHARE = 0.1
"""Of what the question asks for beside the documents, that a sentence must speak of."""
CLOSE_TO_BEST = 0.6
_EVERY = 100
"""Sentences of a paragraph that are looked at: a page of a PDF is one."""
MEASURE_SHARE = 0.5
"""What the word for the measure counts beside the words for whose it is: every statement has sales."""

_MEASURE = re.compile(
    r"\b(?:revenues?|(?:net )?sales|incomes?|profits?|loss(?:es)?|earnings|margins?|cash|expenses?|expenditures?|"
    r"costs?|inventor(?:y|ies)|assets|liabilit(?:y|ies)|debts?|equity|dividends?|repurchases?|buybacks?|tax(?:es)?|turnover|"
    r"receivables?|payables?|depreciation|goodwill|shares?|R&D|capital|exchange rates?|acquisitions?|financials?)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[$€£]\s?\d|\d\s?%|\b\d[\d,.]* (?:percent|million|billion|basis points)\b")
_CONCEPTS = {
    "revenu": "sale", "turnov": "sale", "cost": "expens", "expenditur": "expens", "spend": "expens", "profit": "incom",
    "earn": "incom", "buyback": "repurchas", "stock": "share", "r&d": "research", "loan": "debt", "borrow": "debt",
    "compens": "payrol", "wage": "payrol",
}  # fmt: skip
"""Stems of words that statements and questions use for one another."""
_MEASURES = frozenset(["sale", "expens", "incom", "cash", "flow", "tax", "rate", "asset", "share", "margin", "chang"])
_SAYING_LITTLE = frozenset(
    [
        "total",
        "net",
        "us",
        "gener",
        "provid",
        "other",
        "per",
        "level",
        "amount",
        "report",
        "quarter",
        "period",
        "result",
    ]
)


@dataclass(frozen=True, slots=True)
class _Found:
    unit: Unit
    document: UUID
    text: str
    worth: float


def asks_for_measure(question: str) -> bool:
    """Whether a question is about something that tables of figures state."""
    return _MEASURE.search(question) is not None


def figure_units(part: PartQuery, position: int, passages: Sequence[Passage]) -> list[Unit]:
    """What states figures of the documents that a part means: rows without ruling lines whose labels it asks for, then
    the sentences nearest to it that hold an amount or a percentage. None for a part that asks for no measure.
    """
    if not asks_for_measure(part.text):
        return []
    mine = [(place, one) for place, one in enumerate(passages) if position in one.parts]
    fits = document_fit(part.text, [one.chunk.document_title for _, one in mine for _ in range(LONG_DOCUMENT)])
    best = fits.max(initial=0.0)
    meant = [one for at, one in enumerate(mine) if fits[LONG_DOCUMENT * at] >= best]
    asked = _asked(part)
    rows = [found for place, one in meant for found in _rows_of(part, place, one, asked)]
    if not rows and not means_documents(part.text, [one for _, one in mine]):
        return []
    sentences = [found for place, one in meant for found in _sentences_of(part, place, one, asked)]
    return [*_spread(rows, MOST_ROWS), *_spread(sentences, MOST_SENTENCES)]


def means_documents(question: str, passages: Sequence[Passage]) -> bool:
    """Whether a question speaks of the titles of long documents: of a company's report, not of what it is about."""
    found = Counter(one.chunk.document_id for one in passages)
    fits = document_fit(question, [one.chunk.document_title for one in passages for _ in range(LONG_DOCUMENT)])
    return any(
        fits[LONG_DOCUMENT * place] > 0 and found[one.chunk.document_id] >= LONG_DOCUMENT
        for place, one in enumerate(passages)
    )


def _asked(part: PartQuery) -> dict[str, float]:
    """What a word of the question is worth in a label, by concept."""
    found: dict[str, float] = {}
    for term in part.terms:
        concept = _concept(term.term)
        share = MEASURE_SHARE if concept in _MEASURES else 1.0
        found[concept] = max(found.get(concept, 0.0), share * term.weight)
    return found


def _spread(found: Sequence[_Found], most: int) -> list[Unit]:
    """The best, one of every document before a second one of any."""
    ranked = sorted(found, key=lambda one: (-one.worth, one.unit.passage, one.unit.start))
    close = [one for one in ranked if one.worth >= CLOSE_TO_BEST * ranked[0].worth]
    turns: dict[UUID, int] = {}
    placed: list[tuple[int, int, Unit]] = []
    said: set[tuple[UUID, str]] = set()
    for rank, one in enumerate(close):
        turn = turns.get(one.document, 0)
        if turn < ROWS_OF_A_DOCUMENT and (one.document, one.text) not in said:
            said.add((one.document, one.text))
            turns[one.document] = turn + 1
            placed.append((turn, rank, one.unit))
    return [unit for _, _, unit in sorted(placed, key=lambda one: one[:2])[:most]]


def _rows_of(part: PartQuery, place: int, passage: Passage, asked: Mapping[str, float]) -> Iterator[_Found]:
    text = passage.chunk.text
    low = reading_of(passage).low
    title = frozenset(_concept(term) for term in terms(passage.chunk.document_title))
    for start, end in _lines(text):
        held = bare_cells(text[start:end])
        if held is None or len(held[1]) == held[1].count("—"):
            continue
        label = {_concept(term) for term in terms(held[0]) if not term.isdigit()} - _SAYING_LITTLE - FUNCTION_WORDS
        own = {concept for concept in label if concept in asked and concept not in title}
        if not own or len(own) < LABEL_SHARE * len(label):
            continue
        row = bare_row(text, start, end)
        above = [] if row is None else [span for span in (row.section, row.caption) if span is not None]
        beside = {_concept(term) for span in above for term in terms(text[slice(*span)])} - own
        worth = (
            sum(asked[concept] for concept in own)
            + 0.5 * sum(asked[concept] for concept in beside if concept in asked and concept not in title)
            + 0.3 * len(own) / len(label)
            + 0.1 * passage.candidate.score
        )
        mask = mask_of(low[start:end], part.terms)
        context = mask_of(passage.chunk.document_title.lower(), part.terms)
        for span in above:
            context |= mask_of(low[slice(*span)], part.terms)
        unit = Unit(place, start, end, UnitKind.TABLE_ROW, mask, context, 0, mask, True, (start, end), None, worth)
        yield _Found(unit, passage.chunk.document_id, text[start:end], round(worth, 6))


def _sentences_of(part: PartQuery, place: int, passage: Passage, asked: Mapping[str, float]) -> Iterator[_Found]:
    text = passage.chunk.text
    title = frozenset(_concept(term) for term in terms(passage.chunk.document_title))
    telling = {concept: weight for concept, weight in asked.items() if concept not in title}
    whole = sum(telling.values())
    for unit in best_units(part, 0, [replace(passage, parts=(0,))], units_per_block=_EVERY):
        quote = text[unit.start : unit.end]
        if unit.kind is not UnitKind.PROSE or _FIGURE.search(quote) is None:
            continue
        spoken = {_concept(term) for term in terms(quote)}
        if sum(weight for concept, weight in telling.items() if concept in spoken) >= SENTENCE_SHARE * whole:
            worth = weight_of(unit.mask, part.terms) + 0.1 * passage.candidate.score
            yield _Found(replace(unit, passage=place), passage.chunk.document_id, quote, round(worth, 6))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            start = at + line.index(stripped)
            yield start, start + len(stripped)
        at += len(line) + 1


def _concept(term: str) -> str:
    return _CONCEPTS.get(term, term)
