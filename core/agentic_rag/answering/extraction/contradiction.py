"""A light check for sources that disagree: the same statement but for one value, or its denial."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from agentic_rag.answering.extraction.negation import is_negative
from agentic_rag.answering.extraction.text_units import LIST_MARK
from agentic_rag.answering.extraction.typed_values import TypedValue, ValueKind, find_values, stem
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.word_tables import table_of

_FIGURE = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?!\w*[-/]\w*\d)(?:[ \u00a0]?%)?")
_WORD = re.compile(r"[^\W\d_]{3,}")
MONTHS = frozenset(MONTH_NAMES)
MIN_COMMON_WORDS = 0.2
"""Share of common words (Jaccard) below which two sentences are not compared further."""
MIN_COPIED_WORDS = 6
"""Words that two copies of a text have in common beside the one span that was replaced."""
MIN_COPIED_SHARE = 0.6
"""Of the words of the longer one that two copies have in common."""
NEARLY_IDENTICAL = 0.8
"""Jaccard from which one of two sentences is redundant."""

MIN_NEGATED_OVERLAP = 0.75
"""Jaccard from which one sentence denies the other: the negation itself is one of the words."""

_CACHED_SENTENCES = 1_024
_LONGEST_BETWEEN = 10
"""Characters between the two ends of a range of times."""
MIN_SHARED_WORDS = 2
"""Of two answers with different values; half of those of the shorter one at least."""
MOST_WORDS_ALONE = 3
"""Words of an answer that neither the question nor the answer with another value has."""
_CLAUSES = re.compile(r", (?:so that|because|since|as|which|but|while|and)\b|; ")
_OTHER_CASE = re.compile(
    r"\b(?:plan\w*|expect\w*|forecast\w*|average|mean|median|previous\w*|former\w*|earlier|until now|total|another|"
    r"other|additional\w*|extra|part-time|temporar\w+|estimat\w+|target\w*|propos\w+|budget\w*|if|unless|except|otherwise|"
    r"only|instead|or)\b",
    re.IGNORECASE,
)
"""Words by which a value is that of another case."""
_PERIODS = frozenset({
    ("duration", 86400.0), ("duration", 604800.0), ("months", 1.0), ("months", 3.0), ("months", 12.0),
})  # fmt: skip
"""A day, a week, a month, a quarter, a year: per such a period, or of it."""
_EVERY_DAY = ("duration", 86400.0)
_TOKEN = re.compile(r"[^\W_]+")
_ASIDE = re.compile(
    r"^\*\*[^*\n]*\d[^*\n]*\*\*[.:]? *|"
    r"^(?:§|section|clause|article|paragraph|rule) ?\d[\w.]* (?:is|was) (?:hereby )?(?:amended|changed|replaced)"
    r"(?: (?:as follows|to read))?: |"
    r"^(?:according to|as (?:stated|set out|laid down|announced) (?:in|by)|under|per) [^,]{3,80}, |"
    r"^(?:the|this|an?) [\w ]{3,60}?(?:states?|says?|reports?|notes?|confirms?) that |"
    r",? (?:which|who|where|as|although|because|while) [^,;]{3,80}(?=[,;])|"
    r"\bfrom [^,;]{1,40}?(?= to\b)|\b(?:instead of|rather than|no longer|replacing) [^,;.]{1,30}",
    re.IGNORECASE,
)
_TWICE = re.compile(r"\btwice\b", re.IGNORECASE)
_LIGHT = re.compile(
    r"the|an?|of|to|in|on|at|by|for|from|with|and|or|that|this|these|those|is|are|was|were|be|been|being|has|have|had|it|"
    r"its|there|as|s|should|every|each|held|done|performed|conducted|repeated|shall|must|may|will|would|now|then|hereby|currently|exactly|precisely|also|about|around|roughly|"
    r"approximately|nearly|some|set|fixed|amended|changed|corrected|revised|updated|increased|raised|reduced|lowered|"
    r"extended|shortened|moved|agreement|clause"
)
"""Words that make no other statement: articles, auxiliaries, and what an amendment says of a value."""
_SAME = {
    stem(word): group[0]
    for group in (
        ("found", "founded", "established", "created", "started"),
        ("located", "based", "situated", "lies", "sited"),
        ("most", "maximum", "limit", "limited", "exceed", "exceeds"),
        ("built", "constructed", "erected"),
        ("person", "people", "inhabitants", "residents", "employees", "staff"),
        ("keep", "kept", "keeps", "stored", "retained"),
        ("cost", "costs", "price", "fee", "charge"),
        ("manages", "managed", "leads", "led", "heads", "headed", "runs", "manager", "head"),
    )
    for word in group
}
_KINDS = {
    AnswerType.FIGURE: (ValueKind.FIGURE, ValueKind.TIME),
    AnswerType.DATE: (ValueKind.DATE, ValueKind.TIME, ValueKind.ORDINAL),
    AnswerType.PERSON: (ValueKind.NAME,),
}
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_ISSUE = re.compile(rf"\d+|\b(?:{'|'.join(MONTH_NAMES)}|spring|summer|autumn|winter)\b")
_AMENDS = re.compile(
    r"\b(?:amend\w*|correct(?:ion|ed|s)|corrigend\w+|errat\w+|addend\w+|supersed\w+|supplement\w*)\b", re.I
)
_DATE_ASKED = re.compile(r"\b(?:when|date|deadline|day|due|expir\w+|until|year|start\w*|begin\w*|born|built)\b", re.I)
_MANY = re.compile(r"\b(?:includ\w+|such as|among|stars?|starring|featur\w+|e\.g\.|one of|members? of)\b", re.I)
_ONE = re.compile(
    r"\b(?:found(?:ed)?|establish\w*|writ\w+|wrote|author\w*|direct\w*|design\w*|discover\w*|invent\w*|paint\w*|won|"
    r"manag\w+|leads?|heads?|chairs?|signs?|approv\w+|owns?|issu\w+|(?:is|was) the|responsible)\b",
    re.IGNORECASE,
)


def extract_figures(sentence: str) -> frozenset[str]:
    """The figures of a sentence, thousands separators removed, and the months it names."""
    found = {"".join(match[0].replace(",", "").split()).rstrip(".") for match in _FIGURE.finditer(sentence)}
    return frozenset(found) | (MONTHS & frozenset(sentence.lower().split()))


@lru_cache(_CACHED_SENTENCES)
def extract_words(sentence: str) -> frozenset[str]:
    """The words of three letters or more, months left out. Kept, as statements are: a draft compares each
    sentence with several others.
    """
    return frozenset(_WORD.findall(sentence.lower())) - MONTHS


def jaccard_similarity(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard: common words over all words; 0 when both are empty."""
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def contradicts(left: str, right: str, kind: AnswerType = AnswerType.FACT, *, about_dates: bool = False) -> bool:
    """True when the sentences make one statement of the same subject but for one value of the kind asked for, or when
    one says in nearly the same words, with the same figures, what the other denies.

    The same value in other words or units is agreement. Statements of different years, or with a qualifier that one
    lacks (planned, average, first), are about different things; so are other dates, unless `about_dates`.
    """
    ours, theirs = extract_words(left), extract_words(right)
    if jaccard_similarity(ours, theirs) < MIN_COMMON_WORDS:
        return False
    if is_negative(left) != is_negative(right):
        same = jaccard_similarity(ours, theirs) >= MIN_NEGATED_OVERLAP
        return same and extract_figures(left) == extract_figures(right)
    mine, its = read_statement(left), read_statement(right)
    rivals = _only_rivals(mine.values, its.values)
    if rivals is None or not _same_words(mine, its):
        rivals = _replaced_in_copy(mine, its)
    if rivals is None or not _is_asked(rivals[0], kind, about_dates=about_dates):
        return False
    return rivals[0].kind is not ValueKind.NAME or (_names_one(mine, rivals[0]) and _names_one(its, rivals[1]))


def answers_differ(left: str, right: str, question: str, kind: AnswerType) -> bool:
    """True when two answers to one question give it another value in other words: one value of one dimension each, and
    little beside it that the question or the other one does not say.
    """
    if kind not in _KINDS:
        return False
    mine, its = (read_statement(_clause_with_value(one)) for one in (left, right))
    if any(_OTHER_CASE.search(one.text) for one in (mine, its)) or is_negative(left) != is_negative(right):
        return False
    ours = [one for one in mine.values if not any(one.agrees(other) for other in its.values)]
    theirs = [one for one in its.values if not any(one.agrees(other) for other in mine.values)]
    rivals = [(one, other) for one in ours for other in theirs if one.is_rival(other)]
    if len(rivals) != 1 or rivals[0][0].kind not in _KINDS[kind]:
        return False
    if any(one not in rivals[0] and one.parts not in _PERIODS for one in (*ours, *theirs)):
        return False
    asked = {word for _, word in read_statement(question).words}
    said = [{word for _, word in one.words if word not in FUNCTION_WORDS} for one in (mine, its)]
    shared = len(said[0] & said[1])
    if shared < MIN_SHARED_WORDS or 2 * shared < min(map(len, said)):
        return False
    alone = [said[0] - said[1] - asked, said[1] - said[0] - asked]
    return all(len(words) <= MOST_WORDS_ALONE for words in alone) and not _contrast(mine, its, alone)


def _contrast(mine: Statement, its: Statement, alone: Sequence[set[str]]) -> bool:
    """True where other words stand before a common one: the north and the south pump, adults and children pay."""
    before = [
        {word: ahead for (_, ahead), (_, word) in pairwise(one.words) if ahead in words and word not in FUNCTION_WORDS}
        for one, words in zip((mine, its), alone, strict=True)
    ]
    return bool(before[0].keys() & before[1].keys())


def _clause_with_value(sentence: str) -> str:
    """The part of a sentence between conjunctions that holds a figure or date; the whole where several do."""
    parts = [
        one for one in _CLAUSES.split(sentence) if any(found.kind is not ValueKind.NAME for found in find_values(one))
    ]
    return parts[0] if len(parts) == 1 else sentence


def is_changed_copy(left: str, right: str) -> bool:
    """True for two sentences that are one text but for words in the place of others, whatever those say; page headings
    before the text are no part of it.
    """
    ours, theirs = (list(_TOKEN.finditer(one)) for one in (left, right))
    compared = SequenceMatcher(None, [one[0].lower() for one in ours], [one[0].lower() for one in theirs], False)
    steps = compared.get_opcodes()
    same = sum(last - first for step, first, last, _, _ in steps if step == "equal")
    if same < max(MIN_COPIED_WORDS, MIN_COPIED_SHARE * max(len(ours), len(theirs))):
        return False
    head, its_head = _heading_length(ours), _heading_length(theirs)
    return any(
        step == "replace" and _says_something(ours[first:last]) and _says_something(theirs[its_first:its_last])
        for step, first, last, its_first, its_last in steps
        if last > head or its_last > its_head
    )


def _says_something(tokens: Sequence[re.Match[str]]) -> bool:
    words = [one[0].lower() for one in tokens]
    return any(word.isdigit() or (len(word) > 2 and word not in FUNCTION_WORDS) for word in words)


def asks_for_date(question: str) -> bool:
    """True for a question whose answer is a date, whatever its form."""
    return _DATE_ASKED.search(question) is not None


def are_other_editions(title: str, other: str) -> bool:
    """True for titles that name different years and of which neither amends or corrects the other."""
    years = [set(_YEAR.findall(one)) for one in (title, other)]
    return all(years) and years[0].isdisjoint(years[1]) and not _AMENDS.search(f"{title} {other}")


def are_dated_issues(title: str, other: str) -> bool:
    """True for titles that differ by a date or number alone: two issues of one thing, each of its own time."""
    bare = [re.sub(r"\W+", " ", _ISSUE.sub(" ", one.lower())).strip() for one in (title, other)]
    return title != other and bare[0] == bare[1]


def order_in_time(title: str, quote: str) -> tuple[bool, str]:
    """A key by which an amendment or correction follows what it changes, and what is dated later what is dated earlier
    (`title` with headings).
    """
    dates = (one.parts for one in find_values(title) if one.kind is ValueKind.DATE and one.parts[0] is not None)
    first = next(("-".join(f"{part or 0:06.0f}" for part in parts if not isinstance(part, str)) for parts in dates), "")
    return _AMENDS.search(f"{title} {quote}") is not None, first


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence as its values and the stems of its other words, each with its place."""

    values: tuple[TypedValue, ...]
    words: tuple[tuple[int, str], ...]
    text: str


@lru_cache(_CACHED_SENTENCES)
def read_statement(sentence: str) -> Statement:
    """A sentence as its values and words; asides are blanked."""
    # "raised from 30 to 60 days", "60 instead of 30": what no longer holds is no part of the statement.
    text = _ASIDE.sub(lambda found: " " * len(found[0]), LIST_MARK.sub("", sentence))
    table = table_of(sentence)
    if table is None:
        text = _TWICE.sub("two times", text)
    else:
        text = table.aside.pattern.sub(lambda found: " " * len(found[0]), text)
    known = frozenset[str]() if table is None else table.function_words
    found = find_values(text)
    inside = [(one.start, one.end) for one in found]
    words = [
        (match.start(), stem(match[0]) if table is None else table.base(match[0].lower()))
        for match in _TOKEN.finditer(text)
        if not any(start <= match.start() < end for start, end in inside)
        and not _LIGHT.fullmatch(match[0].lower())
        and match[0].lower() not in known
    ]
    values = tuple(_without_every_day(found))
    return Statement(values, tuple((at, _SAME.get(word, word)) for at, word in words), text)


def _only_rivals(left: Sequence[TypedValue], right: Sequence[TypedValue]) -> tuple[TypedValue, TypedValue] | None:
    """The one value of each side that the other does not have; None when there are none or more."""
    ours, theirs = list(left), list(right)
    for one in left:
        same = next((other for other in theirs if one.agrees(other)), None)
        if same is not None:
            ours.remove(one)
            theirs.remove(same)
    if _is_range(ours) and _is_range(theirs):
        ours, theirs = ours[:1], theirs[:1]
    if len(ours) != 1 or len(theirs) != 1 or not ours[0].is_rival(theirs[0]):
        return None
    return ours[0], theirs[0]


def _is_range(values: Sequence[TypedValue]) -> bool:
    """True for two times side by side: from the one to the other."""
    both = len(values) == 2 and all(one.kind is ValueKind.TIME for one in values)
    return both and values[1].start - values[0].end <= _LONGEST_BETWEEN


def _without_every_day(values: Sequence[TypedValue]) -> list[TypedValue]:
    """The values without "every day" beside a time: a time without it is that of every day, too."""
    if not any(one.kind is ValueKind.TIME for one in values):
        return list(values)
    return [one for one in values if one.parts != _EVERY_DAY]


def _is_asked(value: TypedValue, kind: AnswerType, *, about_dates: bool) -> bool:
    """True for a value of the kind asked for. Another date tells of another occasion unless a date is asked for."""
    if value.kind in (ValueKind.DATE, ValueKind.ORDINAL):
        return about_dates
    wanted = _KINDS.get(kind)
    return wanted is None or value.kind in wanted


def _same_words(left: Statement, right: Statement) -> bool:
    """True when what is left beside the values says the same of the same subject."""
    ours, theirs = {word for _, word in left.words}, {word for _, word in right.words}
    return bool(ours) and ours == theirs


def _replaced_in_copy(left: Statement, right: Statement) -> tuple[TypedValue, TypedValue] | None:
    """The rival values of two sentences that are one text but for a single replaced span, and a heading before one."""
    ours, theirs = (list(_TOKEN.finditer(one.text)) for one in (left, right))
    compared = SequenceMatcher(None, [one[0].lower() for one in ours], [one[0].lower() for one in theirs], False)
    head, its_head = _heading_length(ours), _heading_length(theirs)
    steps = [
        step
        for step in compared.get_opcodes()
        if step[0] not in ("insert", "delete") or step[2] > head or step[4] > its_head
    ]
    replaced = [step for step in steps if step[0] != "equal"]
    same = sum(step[2] - step[1] for step in steps if step[0] == "equal")
    if len(replaced) != 1 or replaced[0][0] != "replace" or same < MIN_COPIED_WORDS:
        return None
    _, first, last, its_first, its_last = replaced[0]
    return _only_rivals(_values_alone(left, ours[first:last]), _values_alone(right, theirs[its_first:its_last]))


def _heading_length(tokens: Sequence[re.Match[str]]) -> int:
    """The tokens before the first word in lower case that says something: page headings run into the first sentence."""
    said = (at for at, one in enumerate(tokens) if one[0].islower() and not _LIGHT.fullmatch(one[0]))
    return next(said, len(tokens))


def _values_alone(statement: Statement, tokens: Sequence[re.Match[str]]) -> list[TypedValue]:
    """The values of a span; none where it says something else besides."""
    start, end = tokens[0].start(), tokens[-1].end()
    if any(start <= at < end for at, _ in statement.words):
        return []
    return [one for one in statement.values if one.start < end and start < one.end]


def _names_one(statement: Statement, name: TypedValue) -> bool:
    """False for a name that opens a sentence which may hold of many (… was born in Leeds)."""
    if _MANY.search(statement.text):
        return False
    opens = not any(at < name.start for at, _ in statement.words)
    return not opens or _ONE.search(statement.text[name.end :]) is not None
