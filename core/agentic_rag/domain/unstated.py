"""What a question says of documents, or asks of them, that the sentences found for it do not state.

Reports of one kind resemble each other: a passage on the sales of another year, or of another company, has all that
makes a passage on the sales asked for look right. So what the question names must stand there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.domain.answers import AnswerType
from agentic_rag.domain.contradiction import MONTH_NAMES, MONTHS
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.figure_rows import years_of
from agentic_rag.domain.lexical import terms
from agentic_rag.domain.measures import PLAIN, Measure, asks_for_measure, concept, measures_of
from agentic_rag.domain.passage_units import PartQuery
from agentic_rag.domain.synthesis import DraftSentence

ROOT = 4
"""Letters by which a measure is known again in words of its family: operations, operational."""
_OWNER = re.compile(r"\b([A-Z][\w&-]*(?: [A-Z][\w&-]*)*)['’](?:s\b|(?= ))")
_NAME = re.compile(r"(?<=[\w,;:)&’'] )[A-Z][\w&’-]*(?: [A-Z][\w&’-]*)*")
_WORD = re.compile(r"[\w&-]+")
_OPENING = frozenset(["in", "for", "from", "at", "on", "of", "by", "to", "with"])
"""Words that open a question with a capital."""
_POSSESSIVE = re.compile(r"['’]s$")
_FIGURE = re.compile(r"\d")
_NO_FIGURE = re.compile(
    rf"\b(?:{'|'.join(MONTH_NAMES)}) \d{{1,2}}\b|\b(?:19|20)\d\d\b|\bQ[1-4]\b|\d+-[A-Z]", re.IGNORECASE
)
_COUNTED = re.compile(
    r"\bhow many (?:\w+ ){0,2}?(\w+)(?= (?:did|do|does|were|was|are|is|has|have|had|in|of|at)\b)", re.IGNORECASE
)
_REGULATORY = re.compile(
    r"\W*(?:\w*\d[\w-]*|Form|Inc|Corp|Item|Note|Part|Company|U\.?S\.?|GAAP|CEO|CFO|January|February|March|April|May|June|"
    r"July|August|September|October|November|December)\W*"
)
"""Words with a capital that name nothing a passage must repeat."""


def unstated(part: PartQuery, passages: Sequence[Passage], sentences: Sequence[DraftSentence]) -> str | None:
    """What is missing of a question about long documents, as a reader is told; None when nothing is.

    Whose it is must stand in a title or the first quote, a year in a title or a quote, another name there or, where no
    measure is asked for, in some passage; the figure, the thing counted and the measure asked for in a quote.
    """
    titles = " ".join(dict.fromkeys(one.chunk.document_title for one in passages))
    quotes = [_quoted(one, passages) for one in sentences]
    said = " ".join([titles, *quotes])
    first = _spoken(" ".join([titles, *quotes[:1]]))
    missing = [match[1] for match in _OWNER.finditer(part.text) if not _spoken(match[1]) - _OPENING <= first]
    # A report names many a thing of which it states no figure.
    told = [said] if asks_for_measure(part.text) else [said, *(one.chunk.text for one in passages)]
    source = _words(" ".join(told))
    known = _spoken(" ".join(told))
    missing += [name for name in _names(part.text, known) if f" {name.lower()} " not in source]
    if missing:
        return f"“{missing[0]}”"
    years = sorted(years_of(part.text) - years_of(said))
    if years:
        return years[0]
    if part.answer_type is AnswerType.FIGURE and not any(_has_figure(one.text) for one in sentences):
        return "a figure for it"
    return _unmeasured(part, titles, " ".join(quotes))


def _names(question: str, said: frozenset[str]) -> list[str]:
    """The names in a question, without their words that titles and quotes say."""
    found: list[str] = []
    for match in _NAME.finditer(question):
        words = [_POSSESSIVE.sub("", word) for word in match[0].split() if _REGULATORY.fullmatch(word) is None]
        left = [word for word in words if not _spoken(word) <= said and word.lower() not in MONTHS]
        if left:
            found.append(" ".join(left))
    return found


def _has_figure(text: str) -> bool:
    return _FIGURE.search(_NO_FIGURE.sub("", text)) is not None


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _spoken(text: str) -> frozenset[str]:
    return frozenset(concept(term) for term in terms(text))


def _unmeasured(part: PartQuery, titles: str, said: str) -> str | None:
    """The measure or the thing counted that no quote speaks of."""
    held = _spoken(said)
    counted = _COUNTED.search(part.text)
    if counted is not None and not _spoken(counted[1]) & held:
        return f"“{counted[1]}”"
    measures = measures_of(part.text, frozenset(terms(titles)), {})
    if not measures or any(_is_said(measure, held) for measure in measures):
        return None
    return "the measure that is asked for"


def _is_said(measure: Measure, held: frozenset[str]) -> bool:
    telling = measure.weights.keys() - PLAIN or measure.weights.keys()
    return 2 * sum(any(one[:ROOT] == other[:ROOT] for other in held) for one in telling) >= len(telling)


def _quoted(sentence: DraftSentence, passages: Sequence[Passage]) -> str:
    chunk = passages[sentence.passage].chunk
    quotes = (chunk.text[one.start : one.end] for one in (sentence, *sentence.also))
    return " ".join((sentence.text, *quotes, *chunk.heading_path))
