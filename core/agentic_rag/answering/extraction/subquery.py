"""Makes the parts of a question ready for synthesis: their content terms, weighted by rarity."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.contradiction import MONTHS
from agentic_rag.answering.extraction.inflected_terms import weigh_inflected
from agentic_rag.answering.extraction.term_matching import QuestionTerm, weigh_terms
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.tokenizer import content_terms, query_terms
from agentic_rag.language.words.word_tables import table_of

_LITERAL = re.compile(r"(?<!\w)(?:[A-Za-z]{1,8}[-‑])*[A-Za-z]{0,8}\d[\d.,]*(?:[-‑/]\d+)*(?!\w)")
_PERIOD = re.compile(
    r"\b(?:(?:[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth) (?:quarter|half|phase|round)|"
    r"January|February|March|April|June|July|August|September|October|November|December|May(?= \d)|(?<=\d )May)\b"
)
_NAME = re.compile(r"(?<=[\w,;:)&’'] )(?-i:[A-Z])[\w’'-]*|(?<= [\"“‘'(])[A-Z][\w’'-]*")
"""A word with a capital that does not open the question."""
_ABBREVIATION = re.compile(r"[A-Z]{2,4}")
"""No name: a text may spell it out (RAM: memory)."""
_NAMES_IN_A_ROW = re.compile(r"(?<=[\w,;:)&’'] )(?:[A-ZÀ-Þ][\w’'-]*(?: |$|(?=\W))){2,}")
_AFTER_NOUN = (
    r"(?= (?:of|for|in|on|at|to|from|by|with|do|does|did|is|was|are|were|has|have|had|must|may|can|could|will|would|"
    r"that|which|who|should)\b|\W*$)"
)
_ASKED = re.compile(
    r"^(?:(?:in|at|on|by|for|from|to|under|with) )?(?:what|which)(?:'s| is| are| was| were)? (?:the |an? )?"
    rf"((?:[\w'’-]+ ){{0,3}}?[\w'’-]+?){_AFTER_NOUN}|^how (?:many|much) ((?:[\w'’-]+ ){{0,2}}?[\w'’-]+?){_AFTER_NOUN}",
    re.IGNORECASE,
)

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
        "summaris",
        "summariz",
        "summari",
        "overview",
        "brief",
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
        "greater",
        "larger",
        "bigger",
        "higher",
        "lower",
        "smaller",
        "longer",
        "shorter",
        "heavier",
        "lighter",
        "earlier",
        "later",
    ]
)
"""Stems that say how is asked rather than about what: passages answer without them."""
ASKING_WEIGHT = 0.4


CATEGORY_NOUNS = frozenset(
    [
        "role",
        "purpos",
        "exampl",
        "view",
        "status",
        "stage",
        "rate",
        "point",
        "meant",
        "mean",
        "aim",
        "goal",
        "function",
        "direction",
        "dai",
        "hour",
        "minut",
        "week",
        "month",
        "colour",
        "color",
        "genr",
        "similar",
        "disadvantag",
        "advantag",
        "effect",
        "featur",
        "form",
        "structur",
        "characterist",
        "reason",
        "caus",
        "result",
        "import",
        "relationship",
        "relat",
        "definition",
        "categori",
        "theme",
        "histori",
        "origin",
        "process",
        "method",
        "idea",
        "concept",
        "state",
        "plai",
        "led",
        "produc",
        "part",
        "level",
        "size",
        "length",
        "height",
        "share",
        "extent",
        "term",
        "word",
        "titl",
        "step",
        "side",
        "rule",
        "view",
        "job",
        "place",
        "countri",
    ]
)
"""Stems of nouns that a question asks with and an answer seldom repeats: "what role did it play?" is answered without
"role", while "what salary does she earn?" needs a salary."""


def terms_of(text: str) -> list[str]:
    """The distinct content terms of a text in reading order; a compound name gives its parts only."""
    found = list(query_terms(text))
    content = content_terms(found)
    terms = [term for term in found if term in content]
    parts = [term for term in terms if term.isalnum() or term.replace(".", "", 1).isdigit()]
    return parts or terms


def build_subquery(
    text: str,
    kind: AnswerType,
    rarity: Mapping[str, float],
    found: tuple[str, ...] = (),
    passages: Sequence[str] = (),
) -> Subquery:
    """A part with its terms weighted; `rarity` as from the lexical store (1 where unknown); `found` as in `Subquery`;
    `passages` are the texts whose words say how compounds divide.
    """
    weighted = _weigh(text, rarity, passages)
    named = frozenset(term for match in _names(text) if match.lower() not in MONTHS for term in terms_of(match))
    names = sum(1 << place for place, term in enumerate(weighted) if term.term in named)
    asked = next((term for term in reversed(_target_terms(text)) if term not in ASKING_WORDS), None)
    if asked in CATEGORY_NOUNS:
        asked = None
    wanted = sum(1 << place for place, term in enumerate(weighted) if term.term == asked)
    return Subquery(text, weighted, kind, find_literals(text), names, wanted, tuple(name.lower() for name in found))


def _weigh(text: str, rarity: Mapping[str, float], passages: Sequence[str]) -> tuple[QuestionTerm, ...]:
    terms, table = terms_of(text), table_of(text)
    if table is not None:
        return weigh_inflected(text, terms, table, rarity, passages)
    shares = {term: rarity.get(term, 1.0) * (ASKING_WEIGHT if term in ASKING_WORDS else 1.0) for term in terms}
    return weigh_terms(terms, shares)


def _names(text: str) -> list[str]:
    """The words that are written as names. Where nouns have a capital, only several in a row are."""
    table = table_of(text)
    pattern = _NAME if table is None or not table.has_compounds else _NAMES_IN_A_ROW
    found = (match[0] for match in pattern.finditer(text))
    return [name for name in found if _ABBREVIATION.fullmatch(name) is None]


def _target_terms(text: str) -> list[str]:
    """The terms of the noun phrase that follows the question word, the noun last."""
    match = _ASKED.match(text)
    return [] if match is None else terms_of(match[1] or match[2])


def find_literals(text: str) -> tuple[str, ...]:
    """The figures (at least two digits), identifiers, months and quarters that a question names, lower case, each
    once.
    """
    figures = (match[0].strip(".,").lower() for match in _LITERAL.finditer(text))
    marks = [mark for mark in figures if sum(sign.isdigit() for sign in mark) > 1]
    marks += [match[0].lower() for match in _PERIOD.finditer(text)]
    return tuple(dict.fromkeys(marks))
