"""What a question names and the sentence or row that answers does not account for, though the documents know it as a
thing of its own: the family card where the fees of the child's and the adult's card are quoted, the musical where the
auditions of the pantomime are.

A word is accounted for where the sentence or row has it, what stands above it, or the sentence that it leans on; that
another quoted sentence has it does not count. What no document speaks of, a question may say in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.answering.evidence.stated import split_rows, text_before
from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.candidate_units import (
    Subquery,
    column_names,
    depends_on_previous,
    segment_passage,
)
from agentic_rag.answering.extraction.extractive import VALUES, DraftSentence
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.term_matching import join_masks, lower_text, mask_of, weight_of
from agentic_rag.answering.siblings.asked_words import SHORTEST, AskedWord, says_how, words_of
from agentic_rag.answering.siblings.labels import entry_above, sibling_labels
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.language import english
from agentic_rag.language.calendar import MONTH_NAMES, weekdays_of
from agentic_rag.language.english import FUNCTION_WORDS, QUESTION_WORDS
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import is_row
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MOST_WORDS = 4
"""Content words of a label; what is longer says more than which thing it is."""
FEWEST_SHARE = 0.5
"""Of the words by which two labels differ, that what is quoted must have of the other one."""
_WORD = re.compile(r"[^\W\d_](?:[^\W_]|[-’'](?=[^\W_]))*")
_PART = re.compile(r"[^\W_](?:[^\W_]|[-’'](?=[^\W_]))*|[(,;–—]")
_DIGIT = re.compile(r"\d")
_VERBAL = (
    "i we you they he she it me us them there to am is are was were be been being have has had do does did will would "
    "shall should can could may might must cannot not if and or but so than then as"
)
_NO_PHRASE = (QUESTION_WORDS - {"which", "what"}) | frozenset(_VERBAL.split())
"""English function words that open no noun phrase."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A quoted sentence or row that may answer, with what stands above it and the sentence that it leans on; `held` has
    the bits of the question's terms that they have.
    """

    text: str
    nearest_above: str
    leans_on: str
    columns: str
    shortly_before: str
    held: int


def unaccounted_words(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> tuple[str, ...]:
    """The words of a question that name a thing which documents tell from others of its kind, and that what answers
    does not account for: what is quoted tells of another of these things, or, of a name, has it elsewhere alone.
    """
    table = table_of(part.text)
    asked = [one for one in words_of(part.text, part, table) if one.mask]
    said = _answering(part, asked, sentences, passages, table)
    if said is None:
        return ()
    elsewhere = _masked_by(part, passages) & ~said.held
    lacked = [one for one in _in_phrases(part, table) if one.mask & elsewhere and not says_how(one.low, table)]
    if not lacked:
        return ()
    own = _stems(f"{said.nearest_above} {said.leans_on} {said.text}", table)
    known = _known_as_others(lacked, own, part, passages, table) | _known_names(lacked, said, part, passages, table)
    return tuple(one.text for one in lacked if one.mask & known)


def _masked_by(part: Subquery, passages: Sequence[Passage]) -> int:
    """The bits of the question's terms that any passage has, or what stands above it."""
    held = 0
    for one in passages:
        above = " ".join((one.chunk.document_title, *one.chunk.heading_path, one.table_head))
        held |= segment_passage(one).mask(part.terms) | mask_of(lower_text(above), part.terms)
    return held


def _answering(
    part: Subquery,
    asked: Sequence[AskedWord],
    sentences: Sequence[DraftSentence],
    passages: Sequence[Passage],
    table: WordTable | None,
) -> _Said | None:
    """Of the quoted sentences and rows that may answer, and have the noun that is asked for where any has it, the one
    that has the most of the question.
    """
    said = list(_all_said(part, sentences, passages, table))
    if part.answer_type in VALUES:
        said = [one for one in said if states_answer(one.text, part.answer_type, part.text, one.columns)]
    said = [one for one in said if one.held & part.target_mask] or said
    about = join_masks(word.mask for word in asked if not says_how(word.low, table))
    return max(said, key=lambda one: weight_of(one.held & about, part.terms), default=None)


def _all_said(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage], table: WordTable | None
) -> Iterator[_Said]:
    for whole in all_quotes(sentences):
        passage = passages[whole.passage]
        for quote in split_rows(whole, passage):
            text = passage.chunk.text[quote.start : quote.end]
            before = shortly_before = text_before(passage, quote)
            above, columns = headings_above(passage, quote.start), column_names(passage, quote.start)
            spans = [(0, len(text))] if is_row(text) else sentence_spans(text, table)
            for start, end in spans:
                one = text[start:end]
                leans_on = before if depends_on_previous(one) else ""
                entry = entry_above(passage.chunk.text, quote.start)
                held = mask_of(lower_text(" ".join((*above, columns, entry, leans_on, one))), part.terms)
                nearest = entry or (above[-1] if len(above) > 1 else "")
                yield _Said(one, nearest, leans_on, columns, shortly_before, held)
                before = one


def _in_phrases(part: Subquery, table: WordTable | None) -> Iterator[AskedWord]:
    """The content words of noun phrases, names among them: behind an article or a preposition, with a capital in the
    question; where nouns have capitals, those alone; all in other languages.
    """
    is_inside = False
    for word in words_of(part.text, part, table):
        is_capital = word.text[0].isupper() and (word.start > 0 or table is not None)
        if word.is_function:
            is_inside = word.low not in _NO_PHRASE
        elif not word.mask or _DIGIT.search(word.text):
            continue
        elif (is_capital if table.has_compounds else True) if table is not None else (is_inside or is_capital):
            yield word


def _known_as_others(
    lacked: Sequence[AskedWord],
    own: frozenset[str],
    part: Subquery,
    passages: Sequence[Passage],
    table: WordTable | None,
) -> int:
    """The bits of the lacked words that a label has whose words are all in the question, where what is quoted has those
    of one beside it.
    """
    bits = join_masks(word.mask for word in lacked)
    question = _stems(part.text, table)
    known = 0
    for labels in sibling_labels(passages, table):
        masks = [mask_of(lower_text(one), part.terms) & bits for one in labels]
        if len(labels) < 2 or not any(masks):
            continue
        for words in zip(*(_readings_of(one, table) for one in labels), strict=True):
            known |= _told_of_another(masks, words, own, question, part)
    return known


def _known_names(
    lacked: Sequence[AskedWord], said: _Said, part: Subquery, passages: Sequence[Passage], table: WordTable | None
) -> int:
    """The bits of the names among the lacked words of an English question for a value, where some passage has them and
    what stands shortly before the answer does not.
    """
    if table is not None or part.answer_type not in VALUES:
        return 0
    names = [one for one in lacked if one.text[0].isupper() and not one.text.isupper() and not _is_of_calendar(one.low)]
    near = mask_of(lower_text(said.shortly_before), part.terms)
    bits = 0
    for name in names:
        written = re.compile(rf"(?<!\w){re.escape(name.text.removesuffix('s'))}")
        if not name.mask & near and any(written.search(one.chunk.text) for one in passages):
            bits |= name.mask
    return bits


def _is_of_calendar(word: str) -> bool:
    """True for months and days of the week, which other rules compare."""
    return word in MONTH_NAMES or bool(weekdays_of(word))


def _told_of_another(
    masks: Sequence[int],
    words: Sequence[frozenset[str]],
    own: frozenset[str],
    question: frozenset[str],
    part: Subquery,
) -> int:
    """The bits of the lacked words of those of the labels that the question names, where what is quoted has those of
    another one; `words` are those by which the labels are told apart.
    """
    known = 0
    for mask, named in zip(masks, words, strict=True):
        if not mask or not named or not all(one in question or mask_of(one, part.terms) for one in named):
            continue
        others = (other for other, also in zip(words, masks, strict=True) if other and not also)
        if any(_is_of(other, named, own, question) for other in others):
            known |= mask
    return known


def _is_of(other: frozenset[str], label: frozenset[str], own: frozenset[str], question: frozenset[str]) -> bool:
    """True where what is quoted has the words by which another label differs from the one that the question names."""
    differing = other - label
    held = (differing & own) - question
    return bool(held) and len(held) >= FEWEST_SHARE * len(differing)


def _readings_of(label: str, table: WordTable | None) -> tuple[frozenset[str], frozenset[str]]:
    """The content words of a label, stemmed, none of one with digits or so long that it says more; and those of its
    head alone, which ends before the first bracket, comma or function word: the reading night of "Reading night for
    children from 8".
    """
    function_words = FUNCTION_WORDS if table is None else table.function_words
    head: list[str] = []
    for one in _PART.findall(label):
        if head and (one.lower() in function_words or not one[0].isalpha()):
            break
        head.append(one)
    every, first = (
        _stems(one, table) if not _DIGIT.search(one) else frozenset[str]() for one in (label, " ".join(head))
    )
    return (every if len(every) <= MOST_WORDS else frozenset(), first)


def _stems(text: str, table: WordTable | None) -> frozenset[str]:
    function_words = FUNCTION_WORDS if table is None else table.function_words
    stem = english.stem if table is None else table.stem
    words = (one.lower() for one in _WORD.findall(text))
    return frozenset(stem(one) for one in words if len(one) >= SHORTEST and one not in function_words)
