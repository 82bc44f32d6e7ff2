"""Whether what is quoted says of something else what a short question asks for: the price of oak boards where that of
pine boards is asked, what adults may borrow instead of students, the rents of another year, what is planned instead of
what was, what must not be closed instead of what must.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from agentic_rag.answering.evidence.named import lacks_thing, text_with_titles
from agentic_rag.answering.evidence.numbered_names import is_of_other_number, is_of_other_size
from agentic_rag.answering.evidence.other_holder import tells_of_other_holder
from agentic_rag.answering.evidence.other_things import (
    context_of,
    leaves_name_out,
    paired_years_of,
    text_around,
    without_other_models,
    years_of,
)
from agentic_rag.answering.evidence.stated import text_before, texts_of
from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.candidate_units import Subquery, column_names
from agentic_rag.answering.extraction.extractive import VALUES, DraftSentence
from agentic_rag.answering.extraction.negation import has_negation, is_negative
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.extraction.term_matching import join_masks, lower_text, mask_of, weight_of
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.siblings.asked_words import SHORTEST, AskedWord, says_how, whole_sentences, words_of
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.language.calendar import weekdays_of
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.tables import is_row
from agentic_rag.language.words.contrasts import asked_poles
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_OF_A_THING = frozenset({"of", "for"})
"""Right behind a noun texts have one for the other: the list of the juniors, a list for the juniors."""
_PAUSE = re.compile(r"[,;:.!?()|\n–—\"“]")
_AUXILIARIES = frozenset({"may", "can", "cannot", "must", "will", "should", "shall", "is", "are", "was", "were"})
_PRONOUNS = frozenset({"i", "we", "you", "they", "he", "she", "it", "there"})
_WAS = re.compile(r"\b(?:did|was|were|had)\b", re.IGNORECASE)
_PLANNED = re.compile(
    r"\b(?:will|shall|plan(?:s|ned)?|intends?|(?:is|are) (?:to|(?:expected|scheduled|going|due) to))\b", re.IGNORECASE
)
_ASKS_WHICH = re.compile(
    r"(?:(?:in|on|at|to|from|for|with|by) )?(?:which|who|whom|where|what) "
    r"(?!(?:if|about|happens|happened|year|time|day|date|kind of)\b)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:(?:if|when|while|after|before|until|in|on|at|for|from|during)\b[^,.;:]*, )?"
    r"(?:(?!\b(?:if|when|unless|where|who|which|that|until|because|since|while|although)\b)[^,.;:])*?"
    r"\b(?:(?:must|may|shall|should|can|could|will|would|do|does|did|is|are|was|were|has|have|had) not|"
    r"(?:must|may|sha|should|ca|could|wo|would|do|does|did|is|are|was|were|has|have|had)n['’]t|"
    r"cannot|never|no longer) (?:be |been )?(?P<verb>[\w-]+)",
    re.IGNORECASE,
)
"""A main clause that denies its verb."""
_LIMITED = re.compile(
    r"\b(?:than|before|until|till|after|unless|without|except|but|only|instead|rather|if|when)\b|[,;:]|(?<![\w-])\d",
    re.IGNORECASE,
)
"""What tells a limit, an exception or an alternative behind it."""
_LIMITED_BY_FORM = re.compile(r"[,;:]|(?<![\w-])\d")
"""The same in any language."""
_MORE_DAYS = re.compile(
    r"\b(?:daily|(?:every|each|any) ?day|all days|week ?days?|working days?|weekends?|other days|otherwise|except)\b",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"^(?:may|can|could|am|are) (?:i|we|you|one|staff|employees|visitors|members|guests) (?:(?:allowed|permitted) to )?"
    r"(?P<verb>[a-z]{3,}) (?:(?:my|an?|the|our|your|any) )?(?P<thing>[a-z]{3,})"
    r"(?=\W*$|[,;]| (?:to|in|into|at|on|onto|with|for|from|of|by|during|over|through)\b)",
    re.IGNORECASE,
)
"""A question whether one may do something with a thing."""
_MOST_THINGS = 4
"""Content words of a question that is short: of a longer one some have other words in the text."""
_NO_VALUES = frozenset({AnswerType.YES_NO, AnswerType.LIST, AnswerType.COMPARISON})
_SHORTEST_NOUN = 5
"""Letters of the noun that two compounds end in."""
_DERIVED = re.compile(r".{0,3}(?:ung|heit|keit|schaft|ion|tät|ier|ismus|lich)\w{0,3}")
"""What ends many nouns and is none."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two content words of a question that stand together: the one that a sentence lacks beside the one it has, and the
    function words between them.
    """

    lacked: AskedWord
    held: AskedWord
    between: tuple[AskedWord, ...]

    @property
    def comes_first(self) -> bool:
        """True where the lacked word is the first of the two."""
        return self.lacked.start < self.held.start


def is_of_something_else(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where one of the rules below, or of other names, numbers and holders, finds that what is quoted is said of
    something else than what the question asks about.
    """
    of_times = (is_of_other_year, is_of_other_day)
    of_question = (leaves_name_out, tells_of_other_holder, is_of_other_number, is_of_other_size, *of_times)
    of_part = (says_it_of_another, lets_do_it_with_another, tells_of_plan, is_of_other_pole, denies_what_is_asked)
    return (
        lacks_thing(part.text, part.answer_type, passages)
        or any(one(part.text, sentences, passages) for one in of_question)
        or any(one(part, sentences, passages) for one in of_part)
    )


def without_others(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> tuple[DraftSentence, ...]:
    """The sentences less those of another model, size or year than the question names, where others are left: in the
    place of one of another size such as hold no less of the question.
    """
    kept = without_other_models(part.text, sentences, passages)
    of_size = tuple(one for one in kept if not is_of_other_size(part.text, [one], passages))
    if of_size and _most_held(part, of_size, passages) >= _most_held(part, kept, passages):
        kept = of_size
    return tuple(one for one in kept if not is_of_other_year(part.text, [one], passages)) or kept


def _most_held(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> float:
    texts = texts_of(all_quotes(sentences), passages)
    return max(weight_of(mask_of(lower_text(one), part.terms), part.terms) for one in texts)


def is_of_other_year(question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a question names a year, the quotes, or the titles and headings above them, name other years alone,
    and what stands shortly before them does not have it either; the same of two years that are named as one, 2024/25.
    """
    asked = years_of(question)
    quotes = all_quotes(sentences)
    if not asked or not quotes:
        return False
    pairs = paired_years_of(question)
    named = paired_years_of(text_around(sentences, passages)) if pairs else frozenset[int]()
    if named and pairs.isdisjoint(named):
        return True
    said = frozenset[int]().union(*map(years_of, texts_of(quotes, passages)))
    around = frozenset[int]().union(*(years_of(context_of(passages[one.passage], one)) for one in quotes))
    above = frozenset[int]().union(
        *(years_of(" ".join(headings_above(passages[one.passage], one.start))) for one in quotes)
    )
    return bool(said | above) and asked.isdisjoint(said | around)


def is_of_other_day(question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a question names days of the week, and the quotes name others alone and speak of no more days than
    they name; a row with the names of its columns.
    """
    asked = weekdays_of(question)
    quotes = all_quotes(sentences)
    if not asked or not quotes:
        return False
    texts = texts_of(quotes, passages)
    columns = [column_names(passages[one.passage], one.start) for one in quotes]
    named = weekdays_of(" ".join(texts))
    return (
        bool(named)
        and not asked <= named | weekdays_of(" ".join((*columns, text_around(sentences, passages))))
        and not any(_tells_more_days(text, question) for text in texts)
    )


def _tells_more_days(text: str, question: str) -> bool:
    """Whether a text speaks of more days than it names, in its language or that of the question: a line of hours is
    often too short to tell its own.
    """
    tables = (table_of(text), table_of(question))
    return any((_MORE_DAYS if one is None else one.more_days.pattern).search(text) is not None for one in tables)


def tells_of_plan(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a question for a value asks what was, and the quoted sentence that has one, and the most of the
    question, says what is planned.
    """
    table = table_of(part.text)
    was, planned = (_WAS, _PLANNED) if table is None else (table.was.pattern, table.planned.pattern)
    if part.answer_type not in VALUES or not was.search(part.text) or planned.search(part.text):
        return False
    texts = texts_of(all_quotes(sentences), passages)
    said = (text[slice(*span)] for text in texts for span in sentence_spans(text, table))
    telling = [one for one in said if states_answer(one, part.answer_type, part.text)]
    nearest = max(telling, key=lambda one: weight_of(mask_of(lower_text(one), part.terms), part.terms), default="")
    return planned.search(nearest) is not None and was.search(nearest) is None


def says_it_of_another(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a short question asks for a value, no quoted sentence that has one holds, with what stands above it,
    all that the question is about, and one holds all but a single word, or words in a row, in whose place beside
    another word of the question it has a different one. Of a question whether something is so it is told by the
    questions that the text itself answers: "Can I bring a dog? No." is not said of a cat.
    """
    table = table_of(part.text)
    is_whether = part.answer_type is AnswerType.YES_NO
    asked = words_of(part.text, part, table)
    about = [one for one in asked if one.mask and not says_how(one.low, table)]
    masks = {one.mask for one in about}
    if not (is_whether or part.answer_type in VALUES) or not 1 <= len(masks) <= _MOST_THINGS + (table is None):
        return False
    wanted = join_masks(masks)
    found = False
    for said, lacked in _sentences_of(part, wanted, sentences, passages):
        if not lacked and (is_whether or states_answer(said, part.answer_type, part.text)):
            return False
        if is_whether and "?" not in said:
            continue
        words = words_of(said, part, table)
        if lacked in masks or (table is None and _is_run(asked, lacked)):
            found = found or any(_has_other(one, said, words, table) for one in _pairs_of(asked, lacked))
        if lacked and table is not None and table.has_compounds:
            lacking = (one for one in about if not lacked & ~one.mask)
            found = found or any(_is_sibling(one, word, lacked) for one in lacking for word in words)
    return found


def lets_do_it_with_another(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where an English question asks whether one may do something with a thing that no passage names, and a quote
    says it of another: that one may bring a colleague says nothing of a dog.
    """
    asked = None if table_of(part.text) is not None else _MAY.match(part.text)
    thing = 0 if asked is None else part.bits_of(terms_of(asked["thing"]))
    if asked is None or not thing:
        return False
    named = text_with_titles(passages)
    said = "\n".join(texts_of(all_quotes(sentences), passages))
    other = rf"\b{asked['verb']}(?:s|es|ing)? (?:an?|the|your|their|our|his|her|any|one)\s+[a-z]"
    return not mask_of(lower_text(named), part.terms) & thing and re.search(other, said, re.IGNORECASE) is not None


def denies_what_is_asked(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a question asks which thing, person or place it is that something holds of, and each quoted sentence
    that has the most of the question says of one that it does not hold, and no more: which valve must be closed is not
    said by "staff must not close valve V-7".
    """
    table = table_of(part.text)
    asks = _ASKS_WHICH if table is None else table.asks_which.pattern
    if not asks.match(part.text) or has_negation(part.text):
        return False
    told: list[tuple[float, bool]] = []
    for quote in all_quotes(sentences):
        text = passages[quote.passage].chunk.text[quote.start : quote.end]
        above = headings_above(passages[quote.passage], quote.start)[-1]
        if above.endswith("?") and has_negation(above):
            told.append((weight_of(mask_of(lower_text(above), part.terms), part.terms), True))
        for said in (text[slice(*span)] for span in sentence_spans(text, table)):
            weight = weight_of(mask_of(lower_text(said), part.terms), part.terms)
            told.append((weight, _denies_it(said, part, table)))
    most = max((weight for weight, _ in told), default=0.0)
    return most > 0.0 and all(is_denied for weight, is_denied in told if weight == most)


def _denies_it(said: str, part: Subquery, table: WordTable | None) -> bool:
    """True for a sentence that denies of something what is asked, and for a question what it is denied of; not where it
    names nothing but what is asked: that students do not pay a deposit.
    """
    if said.rstrip().endswith("?"):
        return has_negation(said)
    if not any(one.is_other for one in words_of(said, part, table)):
        return False
    if table is not None:
        return is_negative(said) and not any(one.search(said) for one in (_LIMITED_BY_FORM, table.limits.pattern))
    denied = _DENIED.match(said)
    is_limited = denied is None or _LIMITED.search(said, denied.end()) is not None
    return denied is not None and not is_limited and mask_of(lower_text(denied["verb"]), part.terms) != 0


def is_of_other_pole(part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a question asks for one side of a contrast (the width, at least, until when, by the month), and of the
    quoted sentences that may answer those that have the most of the question say another side alone; of a row with the
    names of its columns.
    """
    table = table_of(part.text)
    asked = [] if part.answer_type in _NO_VALUES else list(asked_poles(part.text, table))
    if not asked:
        return False
    telling: list[tuple[float, str, str]] = []
    for quote in all_quotes(sentences):
        passage = passages[quote.passage]
        text = passage.chunk.text[quote.start : quote.end]
        columns = column_names(passage, quote.start)
        around = " ".join((*headings_above(passage, quote.start), columns))
        spans = [(0, len(text))] if is_row(text) else sentence_spans(text, table)
        for said in (text[start:end] for start, end in spans):
            if states_answer(said, part.answer_type, part.text, columns):
                weight = weight_of(mask_of(lower_text(said), part.terms), part.terms)
                telling.append((weight, f"{said} {columns}" if is_row(text) else said, around))
    most = max((one[0] for one in telling), default=0.0)
    nearest = [(said, around) for weight, said, around in telling if weight == most]
    return any(
        any(pole.is_other(*one) for one in nearest) and not any(pole.is_said(*one) for one in nearest) for pole in asked
    )


def _sentences_of(
    part: Subquery, wanted: int, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> Iterator[tuple[str, int]]:
    """Each quoted sentence that has a word of the question, behind the one that it leans on, and the bits of the
    question's words that neither it nor what stands above it has. A row is one with the names of its columns.
    """
    quotes = all_quotes(sentences)
    for quote, text in zip(quotes, texts_of(quotes, passages), strict=True):
        passage = passages[quote.passage]
        above = mask_of(
            lower_text(" ".join((*headings_above(passage, quote.start), column_names(passage, quote.start)))),
            part.terms,
        )
        before = text_before(passage, quote)
        for said in [text] if is_row(text) else whole_sentences(text, before, table_of(part.text)):
            held = mask_of(lower_text(said), part.terms) & wanted
            if held:
                yield said, wanted & ~(held | above)


def _is_run(asked: Sequence[AskedWord], lacked: int) -> bool:
    """True where the lacked words stand in a row: the beginners' course for the advanced dinghy course."""
    places = [place for place, one in enumerate(asked) if one.mask & lacked]
    return bool(places) and places[-1] - places[0] < len(places)


def _pairs_of(asked: Sequence[AskedWord], lacked: int) -> Iterator[_Pair]:
    content = [place for place, one in enumerate(asked) if one.mask]
    for left, right in pairwise(content):
        between = tuple(asked[left + 1 : right])
        if not all(one.is_function for one in between):
            continue
        for one, other in ((left, right), (right, left)):
            is_word = asked[one].mask & lacked and not any(map(str.isdigit, asked[one].text))
            is_verb = one > 0 and (asked[one - 1].low in _PRONOUNS or asked[one].low.endswith("ly"))
            if is_word and not is_verb:
                yield _Pair(asked[one], asked[other], between)


def _has_other(pair: _Pair, said: str, words: Sequence[AskedWord], table: WordTable | None) -> bool:
    """True where a sentence has the held word and, in the place of the lacked one, another."""
    places = [place for place, one in enumerate(words) if one.mask & pair.held.mask]
    if pair.between:
        return any(_has_other_behind(pair, said, words, place) for place in places)
    return any(_has_other_beside(pair, said, words, place, table) for place in places)


def _has_other_behind(pair: _Pair, said: str, words: Sequence[AskedWord], place: int) -> bool:
    """The same of words that a preposition joins: the meals for visitors, not for children."""
    if pair.comes_first:
        return False
    joining = pair.between[0].low
    for at in range(place + 1, len(words)):
        is_other_of = at == place + 1 and frozenset({joining, words[at].low}) == _OF_A_THING
        if words[at].low != joining and not is_other_of:
            continue
        last = next((other for other in range(at + 1, len(words)) if not words[other].is_function), None)
        if last is not None and words[last].is_other and not _PAUSE.search(said, words[at].end, words[last].start):
            return True
    return False


def _has_other_beside(pair: _Pair, said: str, words: Sequence[AskedWord], place: int, table: WordTable | None) -> bool:
    """The same of words side by side: oak boards, not pine boards; of a verb also before its auxiliary. Where nouns
    have capitals the other word must be one, with no preposition of its own ("im Oktober montiert"), and may stand on
    either side, since questions turn the order round.
    """
    is_noun_marked = table is not None and table.has_compounds
    sides = [place - 1] if pair.comes_first else []
    if place > 1 and pair.comes_first and words[place - 1].low in _AUXILIARIES:
        sides = [place - 2]
    if table is not None and not pair.comes_first:
        sides = [place + 1, place - 1] if is_noun_marked else [place + 1]
    for side in sides:
        if not 0 <= side < len(words) or not words[side].is_other:
            continue
        first, second = sorted((words[side], words[place]), key=lambda one: one.start)
        is_near = not _PAUSE.search(said, first.end, second.start)
        is_apart = side > 1 and words[side - 1].is_function
        if is_near and (not is_noun_marked or (words[side].text[0].isupper() and not is_apart)):
            return True
    return False


def _is_sibling(compound: AskedWord, word: AskedWord, lacked: int) -> bool:
    """True for a compound that ends in the noun of another one and begins otherwise: Winterreifen, Sommerreifen."""
    one, other = compound.low, word.low
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(one), reversed(other), strict=False)))
    if word.mask & lacked or not word.text[0].isupper() or min(len(one), len(other)) - end < SHORTEST:
        return False
    return end >= _SHORTEST_NOUN and _DERIVED.fullmatch(one[-end:]) is None
