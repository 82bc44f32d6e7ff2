"""The measures that a question asks for: operating expenses, revenue from services, an effective tax rate.

Statements of different companies call the same thing by different names, so measures and labels are compared by
concept: revenue and sales are one, and so are costs and expenses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from agentic_rag.answering.extraction.term_matching import root_of
from agentic_rag.answering.figures.names import find_names
from agentic_rag.language.english import FUNCTION_WORDS, QUESTION_WORDS
from agentic_rag.language.tokenizer import tokenize
from agentic_rag.retrieval.title_match import strip_references

_SYNONYMS = (
    ("sale", "revenu", "turnov"),
    ("expens", "cost", "expenditur", "spend"),
    ("incom", "profit", "earn"),
    ("repurchas", "buyback"),
    ("share", "stock"),
    ("debt", "loan", "borrow"),
    ("payrol", "compens", "wage"),
    ("acquir", "acquisition"),
    ("exchang", "currenc"),
    ("flow", "provid", "generat"),
    ("research", "r&d"),
)
"""Stems that statements and questions use for one another; the first names the concept."""
_DERIVED = ((("gross margin", "gross profit"), ("net sales", "cost of sales")),)
"""Measures that a statement may leave to be worked out, and the rows it is worked out from."""

KIND_WEIGHT = 0.5
"""What the word for the kind of measure counts beside the words for whose it is: every statement has sales."""
GENERIC_WEIGHT = 0.15
"""What a word counts that says little in a label."""
FULL_WEIGHT_RARITY = 0.5
"""The rarity from which a word counts in full."""

_MEASURE = re.compile(
    r"\b(?:revenues?|(?:net )?sales|incomes?|profits?|loss(?:es)?|earnings|margins?|cash|expenses?|expenditures?|"
    r"costs?|inventor(?:y|ies)|assets|liabilit(?:y|ies)|liquidity|debts?|equity|dividends?|repurchases?|buybacks?|"
    r"tax(?:es)?|turnover|receivables?|payables?|depreciation|goodwill|shares?|R&D|research and development|capital|"
    r"exchange rates?|acquisitions?|compensation|provisions?|financials?)\b",
    re.IGNORECASE,
)
_WORDS_BEFORE = r"(?:(?!(?:and|or|of|on|to|in|for|from|between|that|behind|financial) )[\w&’'-]+ )"
_HOW_MUCH = re.compile(
    r"\bhow (?:much|many)\b|"
    rf"\b(?:what|which) (?:is|was|are|were) {_WORDS_BEFORE}{{0,6}}?(?!financial)(?:{_MEASURE.pattern})|"
    rf"\b(?:what|which) {_WORDS_BEFORE}{{0,3}}?(?:{_MEASURE.pattern})(?: \w+)?"
    r"(?: (?:of|from|in|for|by) [\w &’'-]{1,60}?)? (?:did|does|do|has|have|is|was|are|were)\b",
    re.IGNORECASE,
)
"""What is (whose) measure, and which measure (of something) did they report."""
_CLAUSE = re.compile(rf"[;?]|,? and (?={'|'.join(sorted(QUESTION_WORDS))}\b)", re.IGNORECASE)
_SOURCE = re.compile(r"\b(?:from|by (?=its|their)) ?(?:its |their |the |all )?((?:[a-z][\w&-]+ ?){1,3})")
"""What a measure comes from, said apart from it: how much did they *earn from ferries*?"""
_COMPOUND = re.compile(r"\b(research|selling|general|plant|property|cash) and (?=\w)", re.IGNORECASE)
"""One name with an "and" in it."""
_WORD = re.compile(r"[^\W_][\w&-]*|[^\w\s]")
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?(?!\w)")
_PART_OF_DOCUMENT = re.compile(r"\b(?:[\w’'-]+ ){1,2}(?:sections?|chapters?)\b", re.IGNORECASE)
_CONNECTORS = frozenset(["of", "from", "for", "by", "per"])
"""What joins the words of one measure: cost of sales, cash flow from operating activities."""
_SEPARATORS = frozenset(["and", "across", "over", "among", "during", "between", "throughout"])
_MANNER = re.compile(r".{4,}ly", re.IGNORECASE)
_PERIOD_LENGTH = re.compile(r"\b(?:three|six|nine|twelve) months\b", re.IGNORECASE)
_BREAKDOWN = re.compile(
    r"\b(?:break(?:s|ing)? ?down|distribut\w+|composition|split|mix|make-?up|components|details|"
    r"by (?:segment|category|product|region|geograph\w+|type))\b|"
    r"\bacross (?:\w+ ){1,4}(?:segments|categories|offerings|products|regions|lines)\b",
    re.IGNORECASE,
)


def periods_of(text: str) -> frozenset[str]:
    """How long the periods are that a text names: a statement has columns for a quarter and for the year up to it."""
    return frozenset(match[0].lower() for match in _PERIOD_LENGTH.finditer(text))


@lru_cache(8192)
def concept(term: str) -> str:
    """What a stemmed term stands for."""
    root = root_of(term)
    return _CONCEPTS.get(root) or _CONCEPTS.get(term) or root


def _concepts(text: str) -> frozenset[str]:
    return frozenset(concept(term) for term in tokenize(text))


_CONCEPTS = {root_of(other): group[0] for group in _SYNONYMS for other in group} | {
    other: group[0] for group in _SYNONYMS for other in group
}
_GROUPS = {group[0]: group for group in _SYNONYMS}

CONTRASTING_CONCEPTS = _concepts(
    "sales expenses income tax assets liabilities unearned accumulated receivable payable interest"
)
"""Words that turn a label into a different measure: 'cost of sales' is not 'sales'."""
KIND_CONCEPTS = _concepts("sales expenses income cash flow tax rate assets shares margin")
"""Words for the kind of measure."""
GENERIC_CONCEPTS = _concepts(
    "total net generally other amount level segment consolidated per activities used long short term current "
    "non-current provision worldwide global overall whole entire"
)
"""Words that say little in a label."""
COMMON_CONCEPTS = KIND_CONCEPTS | GENERIC_CONCEPTS
_ASKING = _concepts(
    "changed trend fluctuated quarter period reported significant notable consistent considerable increased decreased "
    "analyze correlated related discussion statement section impact affected specific listed percentage proportion "
    "shift main cause driver activity performance contribution historical compared identified engaged implications "
    "financial scale details information management disclosed allocated revealed company business notes distribution "
    "breakdown various examine report reflects suggest time indicate separate given during filing quarterly latest "
    "recent year month key"
)
"""Words of a question that do not name a measure."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that a question asks for."""

    weights: Mapping[str, float]
    """What each of its concepts counts."""
    context_weights: Mapping[str, float]
    """The concepts of the rest of the question; their shares sum to 1."""
    search_terms: tuple[str, ...]
    """The terms that passages are searched for, with those that mean the same."""

    @property
    def is_generic(self) -> bool:
        """Whether it names a kind of measure and nothing more specific."""
        return self.weights.keys() <= COMMON_CONCEPTS

    @property
    def total_weight(self) -> float:
        """What all its concepts count together."""
        return sum(self.weights.values())


def asks_for_measure(question: str) -> bool:
    """Whether a question is about something that tables of figures state."""
    return _MEASURE.search(question) is not None


def asks_how_much(question: str) -> bool:
    """Whether a question is answered by a figure of a measure, not by what is said of it."""
    return asks_for_measure(question) and _HOW_MUCH.search(question) is not None


def breakdown_concepts(question: str) -> frozenset[str] | None:
    """The concepts by which a question wants a measure broken down: the rows of a table rather than one of them; None
    for a question for no breakdown.
    """
    found = [match[0] for match in _BREAKDOWN.finditer(question)]
    return _concepts(" ".join(found)) - _ASKING if found else None


def measures_of(question: str, titled: frozenset[str], rarity: Mapping[str, float]) -> tuple[Measure, ...]:
    """The measures that a question asks for, in its order, then those that one of them is worked out from; of the
    things that their clause names. `titled` are the terms of titles: they say whose the measure is. `rarity` as from
    the lexical store (1 where unknown).
    """
    text = _PART_OF_DOCUMENT.sub(";", strip_references(question))
    phrases: list[list[str]] = []
    derived: list[list[str]] = []
    for clause in _CLAUSE.split(text):
        things = _things(clause, titled)
        for phrase in _phrases(clause, titled):
            whole = [*phrase, *(term for term in things if term not in phrase)]
            if whole not in phrases:
                phrases.append(whole)
        for names, others in _DERIVED:
            if any(name in clause.lower() for name in names):
                derived += [
                    [term for term in tokenize(other) if term not in FUNCTION_WORDS] + things for other in others
                ]
    phrases += derived
    rest = _weights([term for term in tokenize(text) if _is_distinctive(term, titled)], rarity)
    return tuple(_measure(phrase, rest, rarity) for phrase in phrases)


def concept_weight(found: str, rarity: Mapping[str, float]) -> float:
    """What a concept counts in a label, in (0, 1]."""
    return (KIND_WEIGHT if found in GENERIC_CONCEPTS else 1.0) * min(1.0, rarity.get(found, 1.0) / FULL_WEIGHT_RARITY)


def _measure(phrase: Sequence[str], rest: Mapping[str, float], rarity: Mapping[str, float]) -> Measure:
    weights = _weights(phrase, rarity)
    beside = {found: weight for found, weight in rest.items() if found not in weights}
    total = sum(beside.values()) or 1.0
    searched = dict.fromkeys(phrase)
    for term in phrase:
        searched |= dict.fromkeys(_GROUPS.get(concept(term), ()))
    return Measure(weights, {found: weight / total for found, weight in beside.items()}, tuple(searched))


def _phrases(text: str, titled: frozenset[str]) -> list[list[str]]:
    """The terms of each stretch of the question that names a measure."""
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(_COMPOUND.sub(r"\1 of ", _POSSESSIVE.sub(" ;", text))):
        low = word.lower()
        if low in _SEPARATORS or not word[0].isalnum() or (low in FUNCTION_WORDS and low not in _CONNECTORS):
            runs.append([])
        elif _MANNER.fullmatch(word) is None:
            runs[-1].append(word)
    found: list[list[str]] = []
    for run in runs:
        named = " ".join(run)
        if _MEASURE.search(named) is None and _MEASURE.search(named.replace(" of ", " and ")) is None:
            continue
        phrase = [term for term in dict.fromkeys(tokenize(named)) if _is_distinctive(term, titled)]
        if phrase and phrase not in found:
            found.append(phrase)
    return found


def _things(clause: str, titled: frozenset[str]) -> list[str]:
    """The terms of what a clause wants a measure of, wherever in it that stands: its names, and what something came
    from.
    """
    said = [word for name in find_names(clause) for word in name]
    if breakdown_concepts(clause) is None:
        sources = (match[1] for match in _SOURCE.finditer(clause) if _MEASURE.search(match[1]) is None)
        said += [
            word for source in sources for word in takewhile(lambda word: word not in FUNCTION_WORDS, source.split())
        ]
    return [term for term in dict.fromkeys(tokenize(" ".join(said))) if _is_distinctive(term, titled)]


def _is_distinctive(term: str, titled: frozenset[str]) -> bool:
    known = term.isalpha() or "&" in term
    return known and term not in FUNCTION_WORDS and term not in titled and concept(term) not in _ASKING


def _weights(phrase: Sequence[str], rarity: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for term in phrase:
        one = concept(term)
        share = GENERIC_WEIGHT if one in GENERIC_CONCEPTS else KIND_WEIGHT if one in KIND_CONCEPTS else 1.0
        found[one] = max(found.get(one, 0.0), share * min(1.0, rarity.get(term, 1.0) / FULL_WEIGHT_RARITY))
    return found
