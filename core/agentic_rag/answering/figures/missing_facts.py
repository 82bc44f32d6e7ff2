"""Finds a fact that a question requires and that the quoted sentences do not state.

Reports of one kind resemble each other: a passage on the sales of another year or company looks like the passage that
was asked for. So the quotes must state each fact that the question names, and a figure counts only for the names beside
it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.figures.measures import (
    COMMON_CONCEPTS,
    CONTRASTING_CONCEPTS,
    KIND_CONCEPTS,
    Measure,
    asks_for_measure,
    asks_how_much,
    concept,
    measures_of,
)
from agentic_rag.answering.figures.names import find_names, keep_names
from agentic_rag.answering.figures.rows import years_of
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tokenizer import tokenize
from agentic_rag.retrieval.candidates import Passage

STEM_CHARACTERS = 4
"""Letters by which a measure is known again in words of its family: operations, operational."""
_OWNER = re.compile(r"\b([A-Z][\w&-]*(?: [A-Z][\w&-]*)*)['’](?:s\b|(?= ))")
_OF_OTHERS = re.compile(
    r"\bof (?:(?:[A-Z][\w&-]*['’]s?|its|their|our) (?P<theirs>[a-z]{4,})|"
    r"(?:the |all |other )?(?P<others>competitors?|rivals?|peers?|suppliers?|customers?))\b"
)
"""Of whom a measure is asked beside the company that reports: the sales of its competitors."""
_WORD = re.compile(r"[\w&-]+")
_NUMBER = re.compile(r"(?<![A-Za-z])\d+(?:,\d{3})*(?:\.\d+)?")
_NO_FIGURE = re.compile(
    rf"\b(?:{'|'.join(MONTH_NAMES)}) \d{{1,2}}\b|\b(?:19|20)\d\d\b|\bQ[1-4]\b|\d+-[A-Z]|\(\d\)|"
    r"\b(?:Note|Item|Part) \d+",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\bhow many (?:\w+ ){0,2}?(\w+)(?= (?:did|do|does|were|was|are|is|has|have|had|in|of|at)\b)", re.IGNORECASE
)
_RATE = re.compile(r"((?:(?<!['’])\b[a-z][\w-]* ){1,3})(?:rate|ratio)s?\b")
_SEVERAL = re.compile(r"\b(?:and|or|versus|vs|than|with|between|against)\b", re.IGNORECASE)
"""Joins things that are asked for beside one another; others are one within the other: sales of a boat in a port."""


@dataclass(frozen=True, slots=True)
class _QuoteFacts:
    """What a sentence of the draft rests on."""

    is_row: bool
    own_concepts: frozenset[str]
    """What the sentence says."""
    concepts: frozenset[str]
    """With its quotes, and the title and headings of their passage."""
    years: frozenset[str]
    has_figure: bool
    """One that is not in the question."""


def find_missing_fact(part: Subquery, passages: Sequence[Passage], sentences: Sequence[DraftSentence]) -> str | None:
    """The first required fact that the quotes do not state, as it is shown to readers; None when none is missing.

    Required are:
    - the owner, in a title or the first quote;
    - each year, in a title or a quote;
    - each other name, in a title or a quote; without a measure in the question any passage will do, and the word for
      what is asked is required as well;
    - whoever else the measure is asked of, in a title or a quote;
    - the thing counted and the measure, in a quote; where a figure is asked for, one quote states owner, year, measure
      and figure together.
    """
    titles = " ".join(dict.fromkeys(one.chunk.document_title for one in passages))
    quotes = [_quote_text(one, passages) for one in sentences]
    said = " ".join([titles, *quotes])
    first = _concepts_in(" ".join([titles, *quotes[:1]]))
    missing = [owner for owner in _possessors(part.text) if not _concepts_in(owner) <= first]
    # A report names many a thing of which it states no figure.
    told = [said] if asks_for_measure(part.text) else [said, *(one.chunk.text for one in passages)]
    source = _words(" ".join(told))
    known = _concepts_in(" ".join(told))
    missing += [name for name in _remaining_names(part.text, known) if f" {name.lower()} " not in source]
    missing += [word for word in _others(part.text) if not _concepts_in(word) <= known]
    missing += [word for word in _target_words(part) if not _matching_concepts(_concepts_in(word), known)]
    if missing:
        return f"“{missing[0]}”"
    years = sorted(years_of(part.text) - years_of(said))
    if years:
        return years[0]
    unsaid = _missing_count(part.text, _concepts_in(" ".join(quotes))) or _missing_measure(
        part.text, titles, [_read_facts(one, part.text, passages) for one in sentences]
    )
    if unsaid is None and part.answer_type is AnswerType.FIGURE and not any(_has_figure(one.text) for one in sentences):
        return "a figure for it"
    return unsaid


def _missing_count(question: str, said: frozenset[str]) -> str | None:
    """The thing counted, or of which a rate is asked for, that no quote speaks of."""
    counted = _COUNTED.search(question)
    if counted is not None and not _concepts_in(counted[1]) & said:
        return f"“{counted[1]}”"
    for rate in () if asks_for_measure(question) else _RATE.findall(question):
        of = " ".join(word for word in rate.split() if word not in FUNCTION_WORDS)
        if not _covers_most(_concepts_in(of) - COMMON_CONCEPTS, said):
            return f"“{of}”"
    return None


def _missing_measure(question: str, titles: str, quotes: Sequence[_QuoteFacts]) -> str | None:
    """What a measure is asked of, or the measure, that no quote of whose it is and of that year states."""
    measures = measures_of(question, frozenset(tokenize(titles)), {})
    if not measures:
        return None
    owners = _owners(question, _concepts_in(titles))
    things = _things(question, owners)
    years = years_of(question)
    theirs = [
        one
        for one in quotes
        if (not owners or any(owner <= one.concepts for owner in owners)) and (not years or years & one.years)
    ]
    if not asks_how_much(question):
        held = frozenset[str]().union(*(one.concepts for one in quotes))
        said = any(
            2 * len(_matching_concepts(_distinctive_concepts(measure), held)) >= len(_distinctive_concepts(measure))
            for measure in measures
        )
        return _missing_name(question, things, theirs) or (None if said else _measure_text(question, measures[0]))
    figures = [one for one in theirs if one.has_figure]
    unsaid = _missing_name(question, things, figures)
    named = frozenset[str]().union(*things.values())
    if unsaid is None and not any(_states(one, measure, named) for measure in measures for one in figures):
        unsaid = _measure_text(question, measures[0])
    return None if unsaid is None else f"a figure for {unsaid}"


def _owners(question: str, titled: frozenset[str]) -> list[frozenset[str]]:
    """Whose a measure is: who has something in the question, or else those of its names that titles say."""
    having = [_concepts_in(owner) for owner in _possessors(question)]
    return having or [named for name in find_names(question) if (named := _concepts_in(" ".join(name))) <= titled]


def _possessors(question: str) -> list[str]:
    """Who has something in the question, without the word that opens it: "Compare Harbour's sales …"."""
    found: list[tuple[str, ...]] = []
    for match in _OWNER.finditer(question):
        words = match[1].split()
        opens = match.start() == 0 and len(words) > 1
        found.append(keep_names([word for word in words[opens:] if word.lower() not in FUNCTION_WORDS]))
    return [" ".join(name) for name in found if name]


def _things(question: str, owners: Sequence[frozenset[str]]) -> dict[str, frozenset[str]]:
    """The names of a question that are not whose the measure is, with what tells each from others."""
    known = COMMON_CONCEPTS.union(*owners)
    spoken = {" ".join(name): _concepts_in(" ".join(name)) - known for name in find_names(question)}
    return {thing: named for thing, named in spoken.items() if named}


def _missing_name(question: str, things: Mapping[str, frozenset[str]], quotes: Sequence[_QuoteFacts]) -> str | None:
    """The thing that no quote names; all of them where none names them together, unless they are asked for apart."""
    for thing, named in things.items():
        if not any(named <= one.concepts for one in quotes):
            return f"“{thing}”"
    together = frozenset[str]().union(*things.values())
    if not things or _SEVERAL.search(question) or any(together <= one.concepts for one in quotes):
        return None
    return " and ".join(f"“{thing}”" for thing in things) + " together"


def _states(quote: _QuoteFacts, measure: Measure, named: frozenset[str]) -> bool:
    """Whether a quote with a figure is of the measure: most of what tells it from others, beside the things it is asked
    of, and its kind. A row may leave its kind to the table, but may not be of another.
    """
    if not _covers_most(_distinctive_concepts(measure) - named, quote.concepts):
        return False
    kinds = measure.weights.keys() & KIND_CONCEPTS
    if not kinds:
        return True
    return (
        bool(kinds & quote.concepts) or not CONTRASTING_CONCEPTS & quote.concepts
        if quote.is_row
        else bool(kinds & quote.own_concepts)
    )


def _distinctive_concepts(measure: Measure) -> frozenset[str]:
    return frozenset(measure.weights.keys() - COMMON_CONCEPTS or measure.weights)


def _covers_most(telling: Collection[str], said: frozenset[str]) -> bool:
    return 3 * len(_matching_concepts(telling, said)) >= 2 * len(telling)


def _matching_concepts(telling: Collection[str], said: frozenset[str]) -> list[str]:
    return [one for one in telling if any(one[:STEM_CHARACTERS] == other[:STEM_CHARACTERS] for other in said)]


def _measure_text(question: str, measure: Measure) -> str:
    """The measure in the words of the question."""
    return (
        f"“{' '.join(word for word in _WORD.findall(question) if _concepts_in(word) & _distinctive_concepts(measure))}”"
    )


def _target_words(part: Subquery) -> list[str]:
    """The word for what is asked, as the question has it; none where a measure is."""
    if asks_for_measure(part.text):
        return []
    asked = (
        frozenset(concept(term.term) for place, term in enumerate(part.terms) if part.target_mask >> place & 1)
        - COMMON_CONCEPTS
    )
    return [word for word in _WORD.findall(part.text) if _concepts_in(word) & asked]


def _others(question: str) -> list[str]:
    """Of whom or of what of the company's a figure of a measure is asked: its competitors, its subsidiaries."""
    found = _OF_OTHERS.search(question) if asks_how_much(question) else None
    word = None if found is None else found["theirs"] or found["others"]
    return [] if word is None or _concepts_in(word) <= COMMON_CONCEPTS else [word]


def _remaining_names(question: str, said: frozenset[str]) -> list[str]:
    """The names in a question, without their words that are said."""
    names = ([word for word in name if not _concepts_in(word) <= said] for name in find_names(question))
    return [" ".join(words) for words in names if words]


def _has_figure(text: str, question: str = "") -> bool:
    """Whether a text has a figure that the question does not."""
    asked = frozenset(_NUMBER.findall(question))
    return any(number not in asked for number in _NUMBER.findall(_NO_FIGURE.sub("", text)))


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _concepts_in(text: str) -> frozenset[str]:
    return frozenset(concept(term) for term in tokenize(text))


def _read_facts(sentence: DraftSentence, question: str, passages: Sequence[Passage]) -> _QuoteFacts:
    whole = f"{passages[sentence.passage].chunk.document_title} {_quote_text(sentence, passages)}"
    return _QuoteFacts(
        is_row=sentence.kind is UnitKind.TABLE_ROW,
        own_concepts=_concepts_in(sentence.text),
        concepts=_concepts_in(whole),
        years=years_of(whole),
        has_figure=_has_figure(sentence.text, question),
    )


def _quote_text(sentence: DraftSentence, passages: Sequence[Passage]) -> str:
    chunk = passages[sentence.passage].chunk
    quotes = (chunk.text[one.start : one.end] for one in (sentence, *sentence.more_quotes))
    return " ".join((sentence.text, *quotes, *chunk.heading_path))
