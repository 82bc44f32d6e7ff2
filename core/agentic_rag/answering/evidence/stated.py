"""Whether the sentences of a draft state such a thing as is asked for, or only speak of its subject."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agentic_rag.answering.extraction.answer_type_match import asks_for_place, gives_reason
from agentic_rag.answering.extraction.candidate_units import (
    Subquery,
    column_names,
    depends_on_previous,
    rows_below_names,
    unit_states_answer,
)
from agentic_rag.answering.extraction.extractive import VALUES, DraftSentence
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.subquery import ASKING_WORDS, terms_of
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.shapes.extreme import asks_for_extreme, things_asked_for
from agentic_rag.answering.shapes.forms import defines
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import is_row
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_PLACE = re.compile(
    r"\b(?:in|at|on|behind|under|near|next to|beside|between|above|below|inside|outside|into|from|to|via|opposite|"
    r"through|along|across) (?!(?:case|order|addition|fact|time|least|most|general|spite|particular|accordance)\b)"
    r"(?:(?:the|a|an|its|his|her|their|our|each|every|both|all) )?([^\W\d_][\w’'-]+)",
    re.IGNORECASE,
)
MIN_TIED_SHARE = 0.5
BEFORE = 200
"""Characters before a quote that may say what it is about."""
_ONE_OF_SEVERAL = re.compile(
    r"^(?:what|which|how [a-z]+)(?: [\w-]+){0,3}?(?:['’]s| is| are| was| were| do| does| did| has| have| had| will|"
    r" would| can| must| should) the (?P<mark>(?!\w+est\b)[a-z-]{4,}) (?P<noun>[\w-]+)",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"[,;\n]| and | or ")
_REQUIRED: tuple[tuple[Callable[[Subquery, QuestionKind], bool], Callable[[str, Subquery], bool]], ...] = (
    (lambda part, kind: asks_for_place(part.text), lambda said, part: _names_place(said, part.text)),
    (lambda part, kind: kind is QuestionKind.LIST, lambda said, part: _names_several(said, table_of(part.text))),
    (lambda part, kind: kind is QuestionKind.SUMMARY, lambda said, part: len(sentence_spans(said)) > 1),
    (lambda part, kind: kind is QuestionKind.REASON, lambda said, part: gives_reason(said, table_of(part.text))),
    (lambda part, kind: kind is QuestionKind.DEFINITION, lambda said, part: defines(said, part.text)),
    (lambda part, kind: _name_asked(part.text) is not None, lambda said, part: _names_kind(said, part.text)),
    (lambda part, kind: not _ASKS_FOR_WORD.search(part.text), lambda said, part: not _tells_of_words_alone(said)),
)
"""For each kind of question that asks for it: what the quotes must have to be more than the nearest text."""
_ASKS_FOR_WORD = re.compile(
    r"\b(?:words?|terms?|names?|named|mean\w*|called|origins?|etymolog\w+|stands? for|express\w+|translat\w+|refers?|"
    r"deriv\w+|defin\w+|languages?)\b",
    re.IGNORECASE,
)
_KIND_NAMED = re.compile(
    r"^what (?:is|are|do (?:you|we|they|people) call) (?P<thing>an? [\w' -]{2,60}?)(?: (?:called|named|known as))?\W*$",
    re.IGNORECASE,
)
_NAMING = re.compile(r"\b(?:called|named|names?|known as|termed|referred to as|terms?)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"\b(?:that|which|who)\b")
_OF_A_WORD = re.compile(r"\W*The (?:[a-z]+ )?word\b")
"""It tells of the word, not of what the word stands for."""


def is_stated(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True when a quote has a span of the type asked for that the question does not name; of rows of tables those that
    hold the most names of the question, and of those of one table such as no other holds all the words of, and more.
    """
    whole = [one for one in all_quotes(sentences) if not _names_columns(one, passages)]
    quotes = [row for one in whole for row in split_rows(one, passages[one.passage])]
    named = [_count_names(part, one, quotes, passages) for one in quotes]
    most = max((names for names in named if names is not None), default=0)
    return any(
        unit_states_answer(part, passages[one.passage], one.start, one.end)
        for one, names in zip(quotes, named, strict=True)
        if names is None or (names == most and not _is_beside_the_one_asked(part, one, quotes, passages))
    )


def split_rows(quote: DraftSentence, passage: Passage) -> list[DraftSentence]:
    """The rows of a table that is quoted whole, without those that name its columns; any other quote as it is."""
    text = passage.chunk.text[quote.start : quote.end]
    rows = rows_below_names(passage, (quote.start, quote.end)) if "\n" in text else []
    return [replace(quote, start=start, end=end, kind=UnitKind.TABLE_ROW) for start, end in rows] or [quote]


def _is_beside_the_one_asked(
    part: Subquery, row: DraftSentence, quotes: Sequence[DraftSentence], passages: Sequence[Passage]
) -> bool:
    """True where another row under the same names holds all that a row does of the question, and more."""
    columns = column_names(passages[row.passage], row.start)
    own = _mask(part, row, passages)
    return bool(columns) and any(
        own != (mask := _mask(part, other, passages)) and own & mask == own
        for other in quotes
        if other.kind is UnitKind.TABLE_ROW
        and other.passage == row.passage
        and column_names(passages[other.passage], other.start) == columns
    )


def _mask(part: Subquery, quote: DraftSentence, passages: Sequence[Passage]) -> int:
    return mask_of(lower_text(passages[quote.passage].chunk.text[quote.start : quote.end]), part.terms)


def _names_columns(quote: DraftSentence, passages: Sequence[Passage]) -> bool:
    """True for the header that a row is quoted with: it states nothing itself."""
    return quote.kind is UnitKind.HEADING and is_row(passages[quote.passage].chunk.text[quote.start : quote.end])


def _count_names(
    part: Subquery, quote: DraftSentence, quotes: Sequence[DraftSentence], passages: Sequence[Passage]
) -> int | None:
    """How many names of the question a row holds; of a form, whose lines have no columns, how many its quoted lines
    hold together. None for other quotes.
    """
    if quote.kind is not UnitKind.TABLE_ROW:
        return None
    held = _mask(part, quote, passages)
    if not column_names(passages[quote.passage], quote.start):
        for other in quotes:
            if other.kind is UnitKind.TABLE_ROW and other.passage == quote.passage:
                held |= _mask(part, other, passages)
    return (held & part.name_mask).bit_count()


def fits_question(
    part: Subquery,
    kind: QuestionKind,
    sentences: Sequence[DraftSentence],
    passages: Sequence[Passage],
    *,
    is_read: bool,
) -> bool:
    """True where the sentences have the form that a question of this kind asks for, and tell of the one thing and act
    that it is about; `is_read` where a model read the units.
    """
    return (
        has_form(part, kind, sentences, passages)
        and is_tied(part, sentences, passages)
        and tells_of_act(part, sentences, passages)
        and tells_of_the_one(part, sentences, passages, is_read=is_read)
    )


def has_form(
    part: Subquery, kind: QuestionKind, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> bool:
    """True when the quotes together have what a question of this kind asks for: a place, several things, a reason that
    is one of what the question is about, and more than rows of a table of other things, where it asks for the most.
    """
    quotes = all_quotes(sentences)
    said = "\n".join(texts_of(quotes, passages))
    if kind is QuestionKind.REASON and _gives_reason_of_another(part, quotes, passages):
        return False
    rows = [one for one in quotes if not _names_columns(one, passages)]
    if asks_for_extreme(part.text) and all(_is_row_of_others(part, one, passages) for one in rows):
        return False
    return all(holds(said, part) for asked, holds in _REQUIRED if asked(part, kind))


def _is_row_of_others(part: Subquery, quote: DraftSentence, passages: Sequence[Passage]) -> bool:
    """True for a row of a table that has the noun asked for neither itself nor in its columns or above it."""
    passage = passages[quote.passage]
    if not is_row(passage.chunk.text[quote.start : quote.end]):
        return False
    above = (*headings_above(passage, quote.start), column_names(passage, quote.start))
    return (
        things_asked_for(part) & ~(_mask(part, quote, passages) | mask_of(lower_text(" ".join(above)), part.terms)) != 0
    )


def _gives_reason_of_another(part: Subquery, quotes: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where no quote that gives a reason has a word of the question, in the headings above it or shortly before it
    either, and a quote without a reason has one: it is what the question is about.
    """
    held = {True: 0, False: 0}
    for one, said in zip(quotes, texts_of(quotes, passages), strict=True):
        passage = passages[one.passage]
        around = " ".join((*headings_above(passage, one.start), text_before(passage, one), said))
        held[gives_reason(said, table_of(part.text))] |= mask_of(lower_text(around), part.terms)
    return held[False] != 0 and held[True] == 0


def is_tied(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a value is asked for and a quote that states one holds half of what all quotes hold of the question,
    or leans on the one before it: else it is the value of another thing.
    """
    if part.answer_type not in VALUES:
        return True
    quotes = all_quotes(sentences)
    texts = texts_of(quotes, passages)
    held = [
        mask_of(lower_text(" ".join((*headings_above(passages[one.passage], one.start), text))), part.terms)
        for one, text in zip(quotes, texts, strict=True)
    ]
    together = 0
    for mask in held:
        together |= mask
    least = MIN_TIED_SHARE * weight_of(together, part.terms)
    return any(
        unit_states_answer(part, passages[one.passage], one.start, one.end)
        and (weight_of(mask, part.terms) >= least or (at > 0 and depends_on_previous(text)))
        for at, (one, text, mask) in enumerate(zip(quotes, texts, held, strict=True))
    )


def tells_of_the_one(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage], *, is_read: bool
) -> bool:
    """False where an English question asks for one of several by a word before its noun ("the default fee"), and the
    quotes have the noun, but neither they nor what stands above and shortly before them that word: then they tell of
    another one. Where no model reads (`is_read`), the same of a noun that says how is asked ("the effective date"),
    which the quotes need not have.
    """
    match = None if table_of(part.text) is not None else _ONE_OF_SEVERAL.match(part.text)
    if match is None:
        return True
    mark, noun = (part.bits_of(terms_of(match[name])) for name in ("mark", "noun"))
    if not mark or not ASKING_WORDS.isdisjoint(terms_of(match["mark"])):
        return True
    quotes = all_quotes(sentences)
    own = mask_of(lower_text("\n".join(texts_of(quotes, passages))), part.terms)
    is_asking = not is_read and not ASKING_WORDS.isdisjoint(terms_of(match["noun"]))
    if not (own & noun or is_asking):
        return True
    around: list[str] = []
    for one in quotes:
        passage = passages[one.passage]
        above = (*headings_above(passage, one.start), column_names(passage, one.start))
        around += (*above, text_before(passage, one))
    return bool(mark & (own | mask_of(lower_text("\n".join(around)), part.terms)))


def text_before(passage: Passage, quote: DraftSentence) -> str:
    """What stands shortly before a quote."""
    return passage.chunk.text[max(0, quote.start - BEFORE) : quote.start]


def tells_of_act(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """False where a question in a language with a word table asks who does something, or when it happens, and the
    quotes, and what stands above and shortly before them, tell of other acts alone: another act has another person.
    English is read by a model that tells.
    """
    table = table_of(part.text)
    verb = None if table is None else table.asked_act(part.text)
    if table is None or verb is None:
        return True
    act = sum(1 << place for place, term in enumerate(part.terms) if term.stem == verb)
    quotes = all_quotes(sentences)
    near = [*texts_of(quotes, passages)]
    for one in quotes:
        near += (*headings_above(passages[one.passage], one.start), text_before(passages[one.passage], one))
    said = lower_text(" ".join(near))
    return mask_of(said, part.terms) & act != 0 or table.changed_forms(verb).search(said) is not None


def texts_of(quotes: Sequence[DraftSentence], passages: Sequence[Passage]) -> list[str]:
    """What the quotes say."""
    return [passages[one.passage].chunk.text[one.start : one.end] for one in quotes]


def _tells_of_words_alone(said: str) -> bool:
    return all(map(_OF_A_WORD.match, said.splitlines()))


def _name_asked(question: str) -> re.Match[str] | None:
    """What a question says of a kind of thing for whose name it asks: a group of ducks."""
    if not _NAMING.search(question) and " call " not in question:
        return None
    return None if table_of(question) is not None else _KIND_NAMED.match(question)


def _names_kind(said: str, question: str) -> bool:
    """True for a text that names something, or has the words of the kind of thing in a row, of a clause about it the
    first: its name may stand there.
    """
    asked = _name_asked(question)
    kind, _, clause = ("", "", "") if asked is None else _CLAUSE.sub("\n", asked["thing"], 1).partition("\n")
    words, more = ([one for one in re.findall(r"\w+", text) if one not in FUNCTION_WORDS] for text in (kind, clause))
    words += more[:1]
    between = r"\W+(?:(?:of|the|an?|in|for|that|which|who)\W+){0,2}"
    in_a_row = between.join(rf"{re.escape(one.removesuffix('s'))}\w{{0,2}}" for one in words)
    return _NAMING.search(said) is not None or re.search(rf"\b{in_a_row}\b", said, re.IGNORECASE) is not None


def _names_several(said: str, table: WordTable | None) -> bool:
    return len((_SEVERAL if table is None else table.joining.pattern).findall(said)) > 1


def _names_place(said: str, question: str) -> bool:
    """True for a noun behind a preposition of place that the question does not have."""
    asked = frozenset(re.findall(r"[\w’'-]+", question.lower()))
    return any(match[1].lower() not in asked for match in _PLACE.finditer(said))
