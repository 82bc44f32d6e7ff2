"""Which sentences of an answer stand beside the one that answers and say nothing of what is asked, and quotes without
them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentic_rag.answering.evidence.stated import texts_of
from agentic_rag.answering.extraction.answer_type_match import gives_reason, states_answer
from agentic_rag.answering.extraction.candidate_units import (
    CandidateUnit,
    Subquery,
    column_names,
    depends_on_previous,
    unit_states_answer,
)
from agentic_rag.answering.extraction.extractive import VALUES, DraftSentence
from agentic_rag.answering.extraction.negation import has_negation
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.language.programming import name_set, names_above
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

EVEN_ODDS = 0.0
"""As a logarithm."""
_ONE_ANSWER = frozenset({QuestionKind.VALUE, QuestionKind.FACT, QuestionKind.YES_NO, QuestionKind.DEFINITION})
"""Kinds of questions that one sentence may answer, where they do not ask about several things."""
_TOLD_IN_FIGURES = frozenset({AnswerType.FIGURE, AnswerType.DATE})
_FIGURE = re.compile(r"\D\d")
"""Not the number of an item."""
LONGEST_GAP = 8
"""Code points between sentences in a row: a blank line and the mark of an item."""
_JOINING = re.compile(r"\b(?:and|or|both|each|respectively)\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|when|where|after|before|until|unless|except|during|with|without|(?:in|on)(?! \d)|at most|at least)\b",
    re.IGNORECASE,
)
"""What opens a condition or an exception in English."""


def without_padding(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage], read: Sequence[CandidateUnit]
) -> tuple[DraftSentence, ...]:
    """The sentences less those that rather do not answer, where the likeliest does, and that are of another document
    than that one or have no word of the question: by the odds of the units that a model judged. All of them where it
    judged none.
    """
    sentences = _without_other_settings(part, sentences, passages)
    odds = [_best_odds(one, read) for one in sentences]
    likely = max((one for one in odds if one is not None), default=EVEN_ODDS)
    if likely <= EVEN_ODDS:
        return tuple(sentences)
    home = passages[sentences[odds.index(likely)].passage].chunk.document_id
    return tuple(
        one
        for one, own in zip(sentences, odds, strict=True)
        if (own is not None and own > EVEN_ODDS)
        or (passages[one.passage].chunk.document_id == home and (own is None or not _is_besides(part, one, passages)))
    )


def without_farther(
    part: Subquery,
    kind: QuestionKind,
    sentences: Sequence[DraftSentence],
    passages: Sequence[Passage],
    read: Sequence[CandidateUnit],
) -> tuple[DraftSentence, ...]:
    """The sentences, where one of them may answer, less those that have less of the question than another one which
    states an answer and is as likely: how long monthly backups are kept beside how long nightly ones are. One that
    leans on another one, or is leant on, stays, and one that may limit what the other one says; in a language whose
    conditions are not known all of them.
    """
    table = table_of(part.text)
    joining, opening = (_JOINING, _CONDITION) if table is None else (table.joining.pattern, _opening_of(table))
    if kind not in _ONE_ANSWER or opening is None or joining.search(part.text):
        return tuple(sentences)
    held = [_held_with_above(part, one, passages) for one in sentences]
    odds = [_best_odds(one, read) or EVEN_ODDS for one in sentences]
    states = [
        any(unit_states_answer(part, passages[one.passage], one.start, one.end) for one in quotes_of(sentence))
        for sentence in sentences
    ]

    def is_farther(at: int) -> bool:
        nearer = [
            other
            for other in range(len(sentences))
            if states[other] and odds[other] >= odds[at] and held[at] != held[other] and not held[at] & ~held[other]
        ]
        if not nearer or _is_joined(sentences[at], sentences, passages):
            return False
        beside = [sentences[other] for other in nearer]
        return not _limits(part, sentences[at], beside, passages, opening, is_value=states[at])

    return tuple(one for at, one in enumerate(sentences) if not is_farther(at))


def _opening_of(table: WordTable) -> re.Pattern[str] | None:
    return None if table.conditions is None else table.conditions.pattern


def _limits(
    part: Subquery,
    sentence: DraftSentence,
    nearer: Sequence[DraftSentence],
    passages: Sequence[Passage],
    opening: re.Pattern[str],
    *,
    is_value: bool,
) -> bool:
    """True for a sentence that denies something where neither the question nor the others do ("Dogs may not enter in
    July"), and for a value in figures like theirs that holds under a condition which the question does not name ("With
    kidney disease the dose is 200 mg"); `opening` finds what opens one. A row says it of itself, and a question of the
    text says nothing.
    """
    said, *others = (" ".join(texts_of(quotes_of(one), passages)) for one in (sentence, *nearer))
    if "?" in said:
        return False
    if has_negation(said) and not any(map(has_negation, (part.text, *others))):
        return True
    has_figures = part.answer_type in _TOLD_IN_FIGURES or (
        part.answer_type is AnswerType.FACT and _FIGURE.search(said) and any(map(_FIGURE.search, others))
    )
    told, asked = (frozenset(one.lower() for one in opening.findall(text)) for text in (said, part.text))
    return is_value and bool(has_figures) and bool(told - asked) and sentence.kind is not UnitKind.TABLE_ROW


def _held_with_above(part: Subquery, sentence: DraftSentence, passages: Sequence[Passage]) -> int:
    """The bits of the question's terms that a sentence has with what stands above it."""
    said = [*texts_of(quotes_of(sentence), passages)]
    for one in quotes_of(sentence):
        said += (*headings_above(passages[one.passage], one.start), column_names(passages[one.passage], one.start))
    return mask_of(lower_text("\n".join(said)), part.terms)


def _is_joined(sentence: DraftSentence, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True for a sentence that leans on the one before it in the text, or that the next one leans on, where that is
    quoted too.
    """
    text = passages[sentence.passage].chunk.text
    return any(
        first.passage == second.passage
        and 0 <= second.start - first.end <= LONGEST_GAP
        and depends_on_previous(text[second.start : second.end])
        for other in sentences
        for first, second in ((sentence, other), (other, sentence))
    )


def _without_other_settings(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> Sequence[DraftSentence]:
    """The sentences, of those that set a value only such as set a name the question asks for whole, each where it holds
    the most of the question with what it stands under; where it asks for no name whole, those that hold the most.
    """
    held: dict[int, tuple[float, str]] = {}
    for at, one in enumerate(sentences):
        text = passages[one.passage].chunk.text
        name = name_set(text, one.start)
        if name is not None:
            said = " ".join((*names_above(text, one.start), text[one.start : one.end]))
            held[at] = (weight_of(mask_of(lower_text(said), part.terms), part.terms), name)
    if len(held) < 2:
        return sentences
    best = max(held.values(), key=lambda one: one[0])
    whole = {name for _, name in held.values() if _asks_for(part, name)}
    most = {name: max(held.values(), key=lambda one: (one[1] == name, one[0]))[0] for name in whole or {best[1]}}
    return tuple(one for at, one in enumerate(sentences) if at not in held or most.get(held[at][1]) == held[at][0])


def _asks_for(part: Subquery, name: str) -> bool:
    """True for a name all of whose words the question has."""
    words = terms_of(name)
    return bool(words) and all(mask_of(lower_text(word), part.terms) for word in words)


def cut_to_values(
    sentences: Sequence[DraftSentence],
    asked: Mapping[int, tuple[Subquery, Sequence[CandidateUnit]]],
    passages: Sequence[Passage],
) -> tuple[DraftSentence, ...]:
    """The sentences, those cut that quote more than the value which their part asks for; `asked` has the parts with the
    units that were read. Those of no part there stay as they are.
    """
    return tuple(
        _cut_to_value(asked[one.part][0], one, passages, asked[one.part][1]) if one.part in asked else one
        for one in sentences
    )


def _cut_to_value(
    part: Subquery, sentence: DraftSentence, passages: Sequence[Passage], units: Sequence[CandidateUnit]
) -> DraftSentence:
    """A quote of several sentences cut to the one that a model finds likeliest to answer, with those that it leans on,
    where a value is asked for and that sentence states one; any other quote as it is.
    """
    text = passages[sentence.passage].chunk.text[sentence.start : sentence.end]
    judged = [
        unit
        for unit in units
        if unit.odds is not None
        and unit.passage == sentence.passage
        and sentence.start <= unit.start
        and unit.end <= sentence.end
    ]
    best = max(judged, key=lambda unit: unit.odds or EVEN_ODDS, default=None)
    is_prose = sentence.text == text and not sentence.more_quotes
    if best is None or (best.odds or EVEN_ODDS) <= EVEN_ODDS or not is_prose or part.answer_type not in VALUES:
        return sentence
    start, end = best.start - sentence.start, best.end - sentence.start
    if not states_answer(text[start:end], part.answer_type, part.text):
        return sentence
    spans = list(sentence_spans(text, table_of(part.text)))
    held = [place for place, span in enumerate(spans) if span[0] < end and start < span[1]]
    if not held:
        return sentence
    first = held[0]
    while first > 0 and depends_on_previous(text[slice(*spans[first])]):
        first -= 1
    start, end = spans[first][0], spans[held[-1]][1]
    return replace(sentence, start=sentence.start + start, end=sentence.start + end, text=text[start:end])


def _is_besides(part: Subquery, sentence: DraftSentence, passages: Sequence[Passage]) -> bool:
    """True for a sentence without a word of the question that neither leans on another one nor gives a reason."""
    said = " ".join(texts_of(quotes_of(sentence), passages))
    gives = gives_reason(said, table_of(part.text))
    return mask_of(lower_text(said), part.terms) == 0 and not (gives or depends_on_previous(said))


def _best_odds(sentence: DraftSentence, read: Sequence[CandidateUnit]) -> float | None:
    """The best odds of the judged units that a sentence quotes; None where it quotes none."""
    return max(
        (
            unit.odds
            for unit in read
            if unit.odds is not None
            and any(one.passage == unit.passage and one.start <= unit.start < one.end for one in quotes_of(sentence))
        ),
        default=None,
    )
