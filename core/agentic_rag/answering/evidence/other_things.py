"""Whether what is quoted is said of another thing of the kind that the question names: of pontoon B where pontoon D is
asked about, of the PX-3 instead of the PX-5, of full-time instead of part-time staff, of another setting, of the
insured instead of the insurer, of who warns instead of the WARN act.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.answering.evidence.named import lacks_word_of_name, stands_in
from agentic_rag.answering.evidence.stated import split_rows, text_before
from agentic_rag.answering.extraction.candidate_units import column_names
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.verification.citations import all_quotes, quotes_of
from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.counterparts import asked_role, says_only_counterpart
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tables import is_row, pair_cells
from agentic_rag.language.words.word_tables import function_words_of, table_of
from agentic_rag.retrieval.candidates import Passage

_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_MARK = rf"(?:[A-Z]|\d{{1,3}}(?:\.\d{{1,3}})*|[IVX]{{2,4}}|(?i:{'|'.join(_NUMBER_WORDS)}))(?![\w%.,-]\w|\w)"
_MARKED = re.compile(rf"\b(?P<noun>[^\W\d_]{{3,}})[ \u00a0](?P<mark>{_MARK})")
"""A noun and what tells one of its kind from the others: pontoon D, clause 4.2, phase two."""
_MODEL = re.compile(r"(?<![\w.-])(?P<noun>[A-Z]{1,5})[- ]?(?P<mark>\d{1,4}[a-z]?)(?![\w%]|[.,]\d)")
"""Letters and digits in one: G5, PX-200, TK 410."""
_COMPOUND = re.compile(r"(?<![\w-])(?P<mark>[^\W\d_]{2,})-(?P<noun>[^\W\d_]{3,})(?![\w-])")
"""A word that another one tells apart: part-time, two-stroke."""
_ORDERED = re.compile(
    rf"(?<![\w-])(?P<mark>{'|'.join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th)) (?P<noun>[^\W\d_]{{3,}})\b", re.I
)
_OPTION = re.compile(r"(?<![\w-])(?P<noun>--)(?P<mark>[a-z][\w-]+)")
"""An option of a command: --retry-max."""
_KEY = re.compile(
    r"(?<![\w.@/-])(?P<noun>[a-z]{2,}|[A-Z]{2,})(?:[._](?=[A-Za-z])|(?=[A-Z][a-z]))(?P<mark>\w+(?:\.\w+)*)(?![\w@/-])"
)
"""A name of a setting or of a field: limits.connections, MAX_WORKERS, maxBodySize. Its first part is its kind."""
_WORD = re.compile(r"[^\W_]+")
_NAMES = (_OPTION, _KEY)
_FORMS = (_MARKED, _MODEL, _COMPOUND, _ORDERED, *_NAMES)
_SPELLED = (_COMPOUND, *_NAMES)
"""Forms whose marks are words, and numbers no more than others."""
_RANGE = re.compile(
    rf"(?<![\w-])(?P<first>{_MARK}) ?(?:[–—-]|to|through|until|bis|a|hasta) ?(?:[^\W\d_]{{3,}} )?(?P<last>{_MARK})"
)
_YEARS = re.compile(
    r"(?<!\w)(?<!\d,)(?P<first>(?:19|20)\d\d)(?: ?(?:[–/-]|to|until|bis|a|hasta) ?(?P<last>\d\d(?:\d\d)?))?"
    r"(?![\w%]|[.,]\d)"
)
"""A year, or the first and the last of several: 2021/22, 2019–2023."""
_PAIRED_YEARS = re.compile(r"(?<!\w)(?P<first>(?:19|20)\d\d) ?[/–-] ?(?P<last>\d\d(?:\d\d)?)(?![\w%/–-])")
"""Two years that are named as one, or a span of years; the beginning of a date, 2024-12-31, is none."""
_COVERS = re.compile(
    r"\b(?:up to|from (?=\d)|over|above|below|under|larger|smaller|lower|higher|others?|all|any|rest|remaining|both|"
    r"more|bis|ab|über|unter|alle[nrs]?|übrigen?|andere[nrs]?|todos|todas|otros|otras|desde|hasta)\b",
    re.IGNORECASE,
)
"""Words that speak of more things than are named."""
_COVERS_MODELS = re.compile(
    r"\b(?:(?:up to|from|over|above|below|under|bis|ab|über|unter|desde|hasta) (?:the )?(?=[A-Z]{1,5}[- ]?\d)|"
    r"others?|all|any|rest|remaining|both|alle[nrs]?|übrigen?|andere[nrs]?|todos|todas|otros|otras)\b",
    re.IGNORECASE,
)
"""The same of models: up to the F75, but not for up to 45 minutes."""
_OF_NAME = re.compile(
    r"^(?P<who>(?i:who) ?(?i:is|was|are|were|[’']s) )?(?:(?i:what|which) ?(?i:is|was|are|were|[’']s) )?"
    r"(?:(?i:the) )?(?:(?!of\b)[\w-]+ ){0,2}?"
    r"(?P<noun>[A-Za-z]{3,}) of (?:the )?"
    r"(?P<name>(?![A-Z]+\b)[A-ZÀ-Þ][\w-]+(?: (?:of (?:the )?|the )?[A-ZÀ-Þ][\w-]+)*)"
    r"(?:,? (?:in|on|at|by|since|now|today|currently)\b[\w ]{0,24})?\s*[?.]*$"
)
"""A question for what is of something with a name, and for nothing else: the president of France."""
_OF_PLACES = re.compile(
    r"(?:president|mayor|king|queen|chancellor|governor|minister|monarch|emperor|capital|population|currency|flag|area|"
    r"language|parliament|anthem|motto|religion|climate|economy|constitution|gdp)s?",
    re.IGNORECASE,
)
"""What places and states have: of other nouns, as in "the date of Birth", a capital may make no name."""
_OTHER_NAME = r" of (?:the )?(?P<other>[A-ZÀ-Þ][\w-]+(?: (?:of (?:the )?)?[A-ZÀ-Þ][\w-]+)*)"
_CAPITALS = re.compile(r"(?<![\w-])[A-Z]{2,8}(?![\w-])")
_NOT_KINDS = (
    FUNCTION_WORDS
    | frozenset(MONTH_NAMES)
    | {*("q", "h", "fy", "cost", "pay", "take", "weigh", "last", "about", "over", "under", "least", "most", "than")}
)
"""Words before a number that it does not tell apart, in the singular."""


@dataclass(frozen=True, slots=True)
class _Thing:
    """One of a kind, with the pattern that found it."""

    form: re.Pattern[str]
    noun: str
    mark: str


def is_of_other_things(question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where the quotes name another thing of a kind, and neither they nor what stands above and before them the
    one that the question names; where they are rows under other years than it names; and where they tell of the other
    side of the role that it asks for.
    """
    asked, years = frozenset(_things(question)), years_of(question)
    quotes = all_quotes(sentences)
    if _is_of_another_name(question, quotes, passages):
        return True
    role, letters = asked_role(question), _abbreviations(question)
    if not asked and not years and role is None and not letters:
        return False
    own = [_text(passages[one.passage], one) for one in quotes]
    headed = [_model_above(passages[one.passage], one) for one in quotes]
    if role is not None and says_only_counterpart(role, "\n".join(own)):
        return True
    around = [_context_below_model(passages[one.passage], one) for one in quotes]
    if any(_is_common_word(one, " ".join(own), " ".join(around)) for one in letters):
        return True
    if years and any(_names_years(passages[one.passage], one) for one in quotes):
        said = frozenset[int]().union(*map(years_of, (*own, *around)))
        if years.isdisjoint(said):
            return True
    return bool(asked) and _says_another(asked, own, around, headed)


def without_other_models(
    question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> tuple[DraftSentence, ...]:
    """The sentences less those that name, or stand under a heading that names, another model than the one that the
    question names: the clearance of the F140 beside that of the F75. All of them where no other is left.
    """
    asked = frozenset(one for one in _things(question) if one.form is _MODEL)
    if len(asked) != 1:
        return tuple(sentences)
    return tuple(one for one in sentences if not _is_of_another(asked, one, passages)) or tuple(sentences)


def _is_of_another(asked: frozenset[_Thing], sentence: DraftSentence, passages: Sequence[Passage]) -> bool:
    quotes = [(passages[one.passage], one) for one in quotes_of(sentence)]
    own, around, headed = ([of(*one) for one in quotes] for of in (_text, _context_below_model, _model_above))
    return _says_another(asked, own, around, headed)


def _model_above(passage: Passage, quote: DraftSentence) -> str:
    """The nearest heading above a quote that names a model."""
    return next((one for one in reversed(headings_above(passage, quote.start)) if _names_model(one)), "")


def _names_model(heading: str) -> bool:
    """True for a heading with a model of at least two digits, since A1 may number a section, or of a marked noun alone:
    Vidar 7.
    """
    marks = (one["mark"] for one in _MODEL.finditer(heading))
    return _MARKED.fullmatch(heading) is not None or any(one[:2].isdigit() and len(one) > 1 for one in marks)


def leaves_name_out(question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where the question names something of which no word stands in the quotes, or above or shortly before them:
    the gas limit of Bitcoin, by a sentence on other gas of a page that mentions Bitcoin.
    """
    return lacks_word_of_name(question, text_around(sentences, passages))


def text_around(sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> str:
    """What the quotes of sentences say, each behind what stands above and shortly before it."""
    quotes = all_quotes(sentences)
    return " ".join(f"{context_of(passages[one.passage], one)} {_text(passages[one.passage], one)}" for one in quotes)


def _abbreviations(question: str) -> frozenset[str]:
    """The words in capitals of a question that is not written in them throughout."""
    return frozenset(_CAPITALS.findall(question)) if question != question.upper() else frozenset()


def _is_common_word(letters: str, own: str, around: str) -> bool:
    """True where the quotes have the word of ordinary language that an abbreviation is spelled like, "to warn of a
    stall", and neither they nor what stands above them the abbreviation: WARN.
    """
    word = letters.lower()
    common = rf"\b{word}\b" if word in FUNCTION_WORDS else rf"\bto {word}\b|\b{word}(?:ed|ing)\b"
    written = r"\.?".join(letters)
    return re.search(common, own.lower()) is not None and re.search(rf"\b{written}\b", f"{own} {around}") is None


def _is_of_another_name(question: str, quotes: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where the question asks for what is of something with a name, and no passage that is quoted has that name,
    its initials or such a form of it as "French" is of France; and where a quote tells of that of another one, and no
    heading above it has the name.
    """
    match = None if table_of(question) is not None else _OF_NAME.search(question)
    if match is None or match["name"].lower() in _NOT_KINDS:
        return False
    if match["who"] is None and _OF_PLACES.fullmatch(match["noun"]) is None:
        return False
    quoted = [passages[one.passage] for one in quotes]
    texts = [" ".join((one.chunk.document_title, *one.chunk.heading_path, one.chunk.text)) for one in quoted]
    if not any(_has_name(text, match) for text in texts):
        return True
    return any(
        _tells_of_another(passage.chunk.text[one.start : one.end], match)
        and not _has_name(" ".join(headings_above(passage, one.start)), match)
        for passage, one in zip(quoted, quotes, strict=True)
    )


def _tells_of_another(said: str, asked: re.Match[str]) -> bool:
    """True for a text that tells of what is of another one with a name, and nowhere of that of the one asked for."""
    noun = rf"(?<!\w)(?i:{re.escape(asked['noun'])})"
    others = [one["other"] for one in re.finditer(noun + _OTHER_NAME, said)]
    last = re.escape(asked["name"].rsplit(" ", 1)[-1])
    return (
        bool(others)
        and not any(_has_name(one, asked) for one in others)
        and re.search(rf"(?<!\w){last}(?:['’]s?)? (?:\w+ )?{noun}", said) is None
    )


def _has_name(text: str, asked: re.Match[str]) -> bool:
    """True for a text with the name, its initials, or a form of it: before the noun one that begins like it is enough,
    as in "the French president".
    """
    words = [word for word in _WORD.findall(asked["name"]) if word.lower() not in FUNCTION_WORDS]
    if stands_in(text, asked["name"]) or all(stands_in(text, word) for word in words):
        return True
    letters = "".join(word[0] for word in words)
    if len(letters) > 1 and re.search(rf"(?<!\w){letters}(?!\w)", text):
        return True
    begun = rf"(?<!\w){re.escape(words[-1][:2])}\w+ (?i:{re.escape(asked['noun'])})"
    return re.search(begun, text) is not None and all(stands_in(text, word) for word in words[:-1])


def _names_years(passage: Passage, quote: DraftSentence) -> bool:
    """True for rows of a table whose columns are named by years."""
    rows = (one for one in split_rows(quote, passage) if is_row(passage.chunk.text[one.start : one.end]))
    return any(years_of(column_names(passage, one.start)) for one in rows)


def years_of(text: str) -> frozenset[int]:
    """The years that a text names, those within a range of them too."""
    found: set[int] = set()
    for match in _YEARS.finditer(text):
        first, last = match["first"], match["last"] or ""
        found.update((int(first), *range(int(first), int(first[: len(first) - len(last)] + last) + 1)))
    return frozenset(found)


def paired_years_of(text: str) -> frozenset[int]:
    """The first one of each two years that a text names as one: 2024 of 2024/25."""
    pairs = ((int(one["first"]), int(one["last"])) for one in _PAIRED_YEARS.finditer(text))
    return frozenset(first for first, last in pairs if (first + 1 - last) % 100 == 0)


def _context_below_model(passage: Passage, quote: DraftSentence) -> str:
    """What stands above a quote and shortly before it, but not before the heading that names its model."""
    model, before = _model_above(passage, quote), text_before(passage, quote)
    return _context(passage, quote, before[max(0, before.rfind(model)) :] if model else before)


def _says_another(asked: frozenset[_Thing], own: Sequence[str], around: Sequence[str], headed: Sequence[str]) -> bool:
    """The same of texts, and of models that the headings `headed` name."""
    above = frozenset(
        thing for text in headed for thing in _things(text) if thing.form is _MODEL or _MARKED.fullmatch(text)
    )
    named = above | frozenset(thing for text in own for thing in _things(text))
    names = frozenset(one for one in asked if one.form in _NAMES)
    models = frozenset(one for one in asked if one.form is _MODEL)
    if names & named:
        asked -= names
    # They cover things that they do not name, but no settings, and none of a kind that a heading names.
    if any(map(_COVERS.search, own)):
        headed_kinds = {(thing.form, thing.noun) for thing in above}
        asked = frozenset(one for one in asked if one in names | models or (one.form, one.noun) in headed_kinds)
    if any(_COVERS_MODELS.search(text) and _MODEL.search(text) for text in own):
        asked -= models
    everywhere = " ".join((*own, *around))
    kinds = {(thing.form, thing.noun) for thing in named}
    are_models = any(thing.form is _MODEL for thing in named)
    missing = (one for one in asked - named if (one.form, one.noun) in kinds or (are_models and one in models))
    return any(not (_stands(one, everywhere) or _lies_within(one, everywhere)) for one in missing)


def _things(text: str) -> Iterator[_Thing]:
    function_words = function_words_of(text)
    for form in _FORMS:
        for match in form.finditer(text):
            noun = _singular(match["noun"].lower())
            if noun not in _NOT_KINDS and noun not in function_words:
                yield _Thing(form, noun, _mark(form, match["mark"]))


def _mark(form: re.Pattern[str], mark: str) -> str:
    """What tells a thing apart; of a compound in the singular: "titre-restaurant" has its plural inside."""
    if form is _COMPOUND:
        return _singular(mark.lower())
    return mark.lower() if form in _SPELLED else _plain_mark(mark)


def _stands(thing: _Thing, text: str) -> bool:
    """The mark stands somewhere as a word of its own, or the compound or the words of a key in any spelling."""
    if thing.form in _NAMES:
        words = re.sub("[._-]", "[-._ ]?", thing.mark)
        return re.search(rf"(?<![^\W_])(?:{thing.noun}s?[-._ ]?)?{words}(?![^\W_])", text, re.IGNORECASE) is not None
    if thing.form is _COMPOUND:
        return re.search(rf"\b{thing.mark}s?[- ]?{thing.noun}", text, re.IGNORECASE) is not None
    if thing.form is _MODEL:
        return re.search(rf"{thing.noun}[- ]?{thing.mark}(?!\d)", text, re.IGNORECASE) is not None
    return any(_plain_mark(word) == thing.mark for word in re.findall(r"\w+(?:\.\d+)*", text))


def _lies_within(thing: _Thing, text: str) -> bool:
    """A range of marks holds it: floors 3 to 5, departments A–F."""
    ends = ((_plain_mark(one["first"]), _plain_mark(one["last"])) for one in _RANGE.finditer(text))
    return any(_order(first) <= _order(thing.mark) <= _order(last) for first, last in ends)


def _order(mark: str) -> tuple[int, str]:
    """Numbers by size, then letters."""
    return (int(mark), "") if mark.isdigit() else (sys.maxsize, mark)


def _singular(noun: str) -> str:
    return noun.removesuffix("s")


def _plain_mark(mark: str) -> str:
    """Number words, ordinals and Roman numbers as digits; letters stay."""
    low = mark.lower()
    for words in (_NUMBER_WORDS, _ORDINALS, _ROMAN if len(mark) > 1 else ()):
        if low in words:
            return str(words.index(low) + 1)
    return re.sub(r"(?<=\d)(?:st|nd|rd|th)$", "", mark if len(mark) == 1 else low)


def _text(passage: Passage, quote: DraftSentence) -> str:
    """A quote; the cells of a row each behind the name of its column."""
    text = passage.chunk.text[quote.start : quote.end]
    if not is_row(text):
        return text
    named = pair_cells(text, column_names(passage, quote.start))
    return "; ".join(f"{name} {cell}" for name, cell in named if cell) or text


def context_of(passage: Passage, quote: DraftSentence) -> str:
    """What stands above a quote and shortly before it."""
    return _context(passage, quote, text_before(passage, quote))


def _context(passage: Passage, quote: DraftSentence, before: str) -> str:
    return " ".join((*headings_above(passage, quote.start), column_names(passage, quote.start), before))
