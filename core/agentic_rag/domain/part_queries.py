"""Makes the parts of a question ready for synthesis: their content terms, weighted by rarity."""

from __future__ import annotations

from collections.abc import Mapping

from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.lexical import content_terms, query_terms
from agentic_rag.domain.passage_units import PartQuery
from agentic_rag.domain.term_match import weighted_terms

ASKING_WORDS = frozenset(
    [
        "long",
        "tall",
        "high",
        "far",
        "deep",
        "wide",
        "old",
        "often",
        "larg",
        "big",
        "heavi",
        "fast",
        "time",
        "year",
        "date",
        "number",
        "amount",
        "name",
        "type",
        "kind",
        "sort",
        "mean",
        "take",
        "happen",
        "document",
        "report",
        "file",
        "accord",
        "give",
        "list",
        "find",
        "show",
        "get",
        "us",
        "go",
        "make",
        "call",
        "mani",
        "thing",
        "way",
        "peopl",
        "person",
        "differ",
        "compar",
        "comparison",
        "first",
        "last",
        "current",
        "new",
        "main",
        "exact",
        "total",
        "need",
        "requir",
        "allow",
        "permit",
        "possibl",
    ]
)
"""Stems that say how is asked rather than about what: passages answer without them."""
ASKING_WEIGHT = 0.4


def terms_of(text: str) -> list[str]:
    """The distinct content terms of a text in reading order; a compound name gives its parts only."""
    found = list(query_terms(text))
    content = content_terms(found)
    terms = [term for term in found if term in content]
    parts = [term for term in terms if term.isalnum() or term.replace(".", "", 1).isdigit()]
    return parts or terms


def part_query(text: str, kind: AnswerType, rarity: Mapping[str, float]) -> PartQuery:
    """A part with its terms weighted; `rarity` as from the lexical store (1 where unknown)."""
    terms = terms_of(text)
    shares = {term: rarity.get(term, 1.0) * (ASKING_WEIGHT if term in ASKING_WORDS else 1.0) for term in terms}
    return PartQuery(text, weighted_terms(terms, shares), kind)
