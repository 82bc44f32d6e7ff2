"""How well a sentence fits the kind of answer a question asks for, as a small bonus or malus to its score."""

from __future__ import annotations

import re
from functools import partial

from agentic_rag.answering.extraction.term_matching import holds_phrase
from agentic_rag.answering.extraction.typed_values import ORDINAL_WORDS
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tables import CELL_SEPARATOR
from agentic_rag.language.words.measures import IDENTIFIER_FORM, counted_things, lacks_unit, without_measured
from agentic_rag.language.words.word_table import Asked, WordTable
from agentic_rag.language.words.word_tables import table_of

_NUMBER_WORDS = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|"
    r"billion|half|twice|zero|none"
)
_FIGURE = re.compile(rf"(?<![\w-])\d[\d,]*(?:\.\d+)?|\b(?:{_NUMBER_WORDS})\b", re.IGNORECASE)
_YEAR = re.compile(r"^(?:1[5-9]|20)\d\d$")
_DATE = re.compile(
    r"\b(?:1[5-9]|20)\d\d\b(?![-–/](?:\d{3}|0\d{3}|\d{5,}|(?:1[3-9]|[2-9]\d)[-–/]\d+)\b)|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|"
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|march|april|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b|\b\d{1,2}:\d\d\b|"
    r"\b(?:in|on|of|since|until|by|before|after|\d{1,2}) may\b|\bmay \d|"
    r"\b(?:daily|weekly|monthly|quarterly|annually|every (?:day|week|month|quarter|year))\b",
    re.IGNORECASE,
)
_UNITS_OF_TIME = r"(?:working |business )?(?:minute|hour|day|week|weekend|month|quarter|term|season|year)s?"
_MOMENT = re.compile(
    r"\b(?:as soon as|immediately|"
    r"at (?:the (?:end|beginning|start|latest)|noon|midnight|night|once)|in the (?:morning|afternoon|evening)|"
    r"\d{1,2} ?(?:a\.?m|p\.?m|o['’]clock)|"
    r"(?:(?:at|from|to|until|till|by|before|after|between|around|about|and) |[–-])\d{1,2} ?h|"
    rf"(?:within|last|{ORDINAL_WORDS}|\d{{1,2}}(?:st|nd|rd|th)) (?:\w+ )?{_UNITS_OF_TIME}|"
    rf"(?:\d{{1,3}}|an?|{_NUMBER_WORDS}) {_UNITS_OF_TIME}[’']? "
    r"(?:after|before|prior to|following|from|in advance|ahead))\b",
    re.IGNORECASE,
)
"""A time that is told by what happens or how long before or after it, by the clock or by which of several: "4 h" alone
is how long something takes.
"""
_RULE_ASKED = re.compile(
    r"\b(?:when|(?:which|what) (?:day|time|week|month)\b.{0,30}?) (?:do|does|is|are|am|can|could|must|should|shall|may|"
    r"has|have|need|will (?:I|we|my|our|an?))\b",
    re.IGNORECASE,
)
"""A question for when something happens each time, or to whoever asks: what happened once, or will, has a date."""
_OPENER = "|".join(word.capitalize() for word in sorted(FUNCTION_WORDS))
_BETWEEN = "|".join(sorted(FUNCTION_WORDS - {"of"}))
_PERSON = re.compile(
    rf"\b(?!(?:{_OPENER})\b(?!\.))"
    rf"(?:[A-Z][\w’'-]+ (?:[A-Z]\.? |(?!(?:{_BETWEEN})\b)[a-z]{{2,3}} )?|(?:[A-Z]\. ?)+)[A-Z](?![\w-]*\d)[\w’'-]+"
)
"""Two words with capitals or initials, the first of them no function word that opens a sentence, none but "of" between
them: Joan of Arc, not "Trips to France".
"""
_MADE = r"book|novel|song|album|film|movie|play|poem|painting|photo|picture|design|music|words|lyrics|speech|work"
_DONE = (
    r"\w{2,}ed|\w+(?:ought|aught)|written|drawn|made|led|run|held|given|taken|driven|built|sold|won|sung|read|"
    r"told|shown|known|chosen|done|kept|set|put|cut|found|lent|spoken|beaten|grown|worn|bred|fed|laid|"
    r"sent|paid"
)
_MEANS = (
    r"Form|Article|Section|Clause|E-?[Mm]ail|Post|Courier|Fax|Phone|SMS|PDF|Ship|Ferry|Train|Bus|Air|Rail|Hand|Card|"
    r"Invoice|Che(?:ck|que)|Bank|SEPA|Visa|Law|Default|Christmas|Easter|Whitsun|Ramadan|Q[1-4]"
)
_AGENT = re.compile(
    rf"\b(?:{_DONE}|{_MADE}) by (?:(?:the|our|a|an) )?(?:[a-zß-ÿ]+ )?"
    rf"(?!(?:{_MEANS})\b)([A-ZÀ-Þ][\w’'-]+)(?! [A-Z]?-?\d)"
)
"""Who does what is done to something, or made it: by the butcher Grey; no means, no day, and nothing that a number
tells from others of its kind.
"""
_OFFICE = re.compile(
    rf"\b(?:{_DONE}) (?:only )?by (?:the|our|your|their|its|an?) (?:[a-z-]+ ){{0,2}}?"
    r"(?!(?:water|power|computer|weather|river|motor|number|order|letter|paper|meter|filter|winter|summer|"
    r"november|december|september|october|quarter|corner|factor|other|former|latter|error|door|floor|user|printer|"
    r"server|sensor|reactor|generator|buffer|layer|counter|timer|trigger|matter|manner|amount|percent|accent)\b)"
    r"((?:[a-z-]{2,}(?:er|or|ist|ian|ee)|[a-z-]*(?<!m)(?:ent|ant)|client|board|council|court|office|committee|company|"
    r"firm|team|department|police|bank|tenant|landlord|staff|assembly|government|authority|state|secretary)s?)\b"
)
"""Who does what is done, by what he or they are: "decided by the client"."""
_ROLE = re.compile(
    r"\b(?:manager|officer|director|engineer|president|minister|author|founder|chief|head|team|coordinator|captain|"
    r"controller|chair|lead|supervisor|operator|board|actor|actress|singer|writer)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|due to|so that|so as to|owing to|thanks to|as a result|caus\w+|reasons?|in order (?:to|that)|"
    r"therefore|otherwise|thus|hence|led to|leads? to|results? (?:in|from)|"
    r"to (?:avoid|prevent|protect|reduce|allow|ensure|keep))\b|"
    r", as (?!well|soon|long|far|if|of)",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(?:must|may|can|cannot|shall|should|not|no|never|only|always|required|allowed|permitted|prohibited|forbidden|"
    r"yes|does|did|is|are)\b",
    re.IGNORECASE,
)
_DEFINITION = re.compile(r"^.{2,60}?\b(?:is|are|was|were|means|refers to|stands for)\b", re.IGNORECASE)
_WHAT_IS = re.compile(r"^(?:what (?:is|are|was|were|does)|define|who (?:is|was))\b", re.IGNORECASE)
_ENUMERATOR = re.compile(r"(?m)^[ \t]*\d{1,2}[.)] (?=[^\W\d_])")
"""The number of an item of a list: no figure that answers."""
_WHY = re.compile(r"\bwhy\b|\bwhat caused\b", re.IGNORECASE)


_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_CALENDAR = re.compile(
    rf"\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}\b(?:,? (?:1[5-9]|20)\d\d)?|"
    rf"\b{_MONTH} \d{{1,2}}\b(?:, (?:1[5-9]|20)\d\d)?|"
    r"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d\b|"
    r"\b(?:figure|fig\.|table|section|chapter|page|phase|part|step|item|note|no\.|number) \d[\d.]*",
    re.IGNORECASE,
)
"""Numbers that date, number or refer: not what a question for a figure asks for, unless it asks for a time."""
_TIME_ASKED = re.compile(
    r"^(?:(?:for|after|within|since|until|in|by) )?how (?:long|often|old)\b|"
    r"\bhow many (?:\w+ )?(?:second|minute|hour|day|week|month|year)s\b|"
    r"\b(?:duration|lead time|waiting time|interval)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|decades?|centur(?:y|ies)|daily|weekly|monthly|quarterly|"
    r"yearly|annual(?:ly)?|twice|once|always|never|until|since)\b|\d ?(?:ms|s|min|h|hrs?|d)\b|"
    r"\b(?:1[5-9]|20)\d\d\b(?![-/]\d{3}\b)",
    re.IGNORECASE,
)
_MONEY_ASKED = re.compile(
    r"\b(?:how much money|cost|price|salary|revenue|profit|income|budget|fee|wage|rent)\b",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[£$€¥₹₽₩₪₺]|\b(?:dollars?|pounds?|euros?|pence|cents?|crowns?|kron(?:a|or|e|er)|francs?|yen|yuan|renminbi|rupees?|"
    r"rou?bles?|pesos?|reais|zloty|liras?|shekels?|dinars?|dirhams?|riyals?|ringgit|baht|forints?|usd|eur|gbp|chf|jpy|"
    r"cny|inr|sek|nok|dkk|pln|czk|huf|aud|nzd|brl|mxn|zar|krw|sgd|hkd|million|billion|free of charge)\b|"
    r"\d ?(?:kr|zł|kč)\b|\d,\d{3}|%",
    re.IGNORECASE,
)
"""Signs, names and codes (ISO 4217) of currencies that documents have often."""
_MONEY_BY_NAME = re.compile(
    r"^(?:(?:what|how (?:high|large|big))(?:[’']s| is| was| are| were) )?(?:the )?(?:[\w-]+ )?"
    r"(?:(?:prices?|costs?|fees?|rent|salary|wages?|deposit) (?:of|for|per) |charges? (?:for|per) )(?=\w)|"
    r"\bwhat (?:do|does|did|will|would|can) .{2,60} earn\b",
    re.IGNORECASE,
)
"""A question for an amount of money that has no word for how much."""
_NO_MONEY = re.compile(r"\bfree\b|\bno (?:sur)?charge\b|\bincluded\b", re.IGNORECASE)
_MONEY_NAMED = re.compile(
    r"\b(?:costs?|prices?|salar(?:y|ies)|revenues?|profits?|incomes?|budgets?|fees?|wages?|rents?|charges?|sales|"
    r"thousands|millions|billions)\b",
    re.IGNORECASE,
)
"""What says of columns and tables that they hold money."""
_NAME_ASKED = re.compile(
    r"\b(?:nick)?names? (?:of|for|is|was|did|does)\b|\b(?:is|was|are|were) .{2,80} (?:called|named)\b", re.I
)
_CAPITALISED = re.compile(
    r"(?<=[\w,;:)\"“‘(*] )[\"“‘(*]{0,2}([A-Z][\w’'-]+)|[\"“‘*]([A-Z][\w’'-]+)|\b([A-Z]+-?\d[\w-]*)"
)


_PLACE = re.compile(r"\b(?:in|at|near|from|to|of|on) (?:the )?(?:[a-z]+ ){0,2}[A-Z]\w+")
_PLACE_ASKED = re.compile(
    r"^(?:(?:in|at|on|from|to|of|near) )?(?:where|(?:what|which) (?:\w+ )?(?:city|town|country|county|state|place|"
    r"continent|province|region|village|location|island|area|district))\b|"
    r"\bwhere(?:'s| (?:is|was|did|do|does|were|are|will|can|should|must))\b",
    re.IGNORECASE,
)
_FREQUENCY = re.compile(r"\b(?:daily|weekly|monthly|quarterly|yearly|annually|once|always|never|every)\b", re.I)

_IS_ASKED = r"\b(?:what|which)(?:['’]s| is| are| was|) (?:the |your |our |my |his |her |their )?(?:[\w'’-]+ ){0,2}?"
_IS_ASKED_ELSEWHERE = (
    r"^¿?(?:quel(?:le)?s? (?:est|sont) |(?:wie lautet|was ist|welche[rs]?) |cu[aá]l(?:es)? (?:es|son) |"
    r"wie ist (?=(?:\w+ ){0,2}[\w-]+(?:nummer|adresse)\b)|"
    r"qual(?:i sono |[ '’]?[eèé] )|wat is )(?:[\w-]+['’ ]){0,2}?"
)
"""The same in French, German, Spanish, Italian and Portuguese, and Dutch."""
_PHONE = r"(?<![\w-])(?!(?:19|20)\d\d(?![ -]?\d))[+(-]{0,2}\d[\d ()/.-]*\d{2}"
_MAIL = r"\S@\w"
_VALUES_BY_NAME: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(value, re.IGNORECASE))
    for asked, value in (
        (rf"{_IS_ASKED}(?:(?:tele)?phone(?: number| no)?|(?:mobile|cell|fax|hotline) number)\b", _PHONE),
        (
            rf"{_IS_ASKED_ELSEWHERE}(?:n[uú]m[eé]ro de )?"
            r"(?:t[eé]l[eé](?:ph|f)on(?:o|e|nummer)?|telefoonnummer|(?:handy|fax)nummer|durchwahl)\b(?!-)",
            _PHONE,
        ),
        (rf"{_IS_ASKED}(?:e-?mail(?: address)?)\b", _MAIL),
        (rf"{_IS_ASKED_ELSEWHERE}(?:e-?mail(?:-?adress?e)?|courriel|correo(?: electr[oó]nico)?)\b(?!-)", _MAIL),
        (rf"{_IS_ASKED}(?:web ?site|url|web address|home ?page)\b", r"https?://|\bwww\.|\w\.[a-z]{2,}\b"),
        (
            r"^(?:(?:at|by|from|until|till) )?what time (?!(?:of|zones?|frames?|spans?|limits?)\b)",
            r"\b\d{1,2}[:.]\d\d\b|\b\d{1,2} ?(?:a\.?m|p\.?m|h|hours|o['’]clock)\b|"
            r"\b(?:noon|midday|midnight|dawn|dusk|sunrise|sunset|mornings?|afternoons?|evenings?|nights?)\b",
        ),
    )
)
"""What is asked for by a name that tells its form, with that form."""
_NUMBER_OF_THING = re.compile(rf"{_IS_ASKED}[\w-]+ number\b", re.IGNORECASE)
_IDENTIFIER = re.compile(rf"(?<![\w-]){IDENTIFIER_FORM}")
_VALUES = frozenset({Asked.PRICE, Asked.HOW_LONG, Asked.HOW_MUCH, Asked.WHEN, Asked.WHO})
"""What a word table finds asked that a sentence has to hold."""
_FOUND_BONUS = {Asked.YES_NO: 0.04, Asked.DEFINITION: 0.06, Asked.REASON: 0.12, Asked.WHERE: 0.1}

_MAX_TYPE_BONUS = {AnswerType.FIGURE: 0.16, AnswerType.DATE: 0.18, AnswerType.PERSON: 0.14, AnswerType.LIST: 0.1}


def max_type_bonus(kind: AnswerType) -> float:
    """The most that `fit` gives for a kind of answer."""
    return _MAX_TYPE_BONUS.get(kind, 0.12)


def answer_type_bonus(sentence: str, kind: AnswerType, question: str, *, fits: bool) -> float:
    """A bonus in [-0.2, 0.18] on the scale of the coverage score; hand-set on the development questions. `fits`: what
    `holds` says.
    """
    if kind is AnswerType.FIGURE:
        return 0.16 if fits else -0.2
    if kind is AnswerType.DATE:
        return 0.18 if fits else -0.15
    if kind is AnswerType.PERSON:
        return 0.14 if fits else -0.15
    if kind is AnswerType.LIST:
        return (
            0.1
            if sentence.endswith(":") or CELL_SEPARATOR in sentence or sentence.count(",") + sentence.count(";") >= 2
            else 0.0
        )
    table = table_of(question)
    if table is not None:
        asked = table.asked_by(question)
        return _FOUND_BONUS.get(asked, 0.0) if asked is not None and _has_answer(table, asked, sentence) else 0.0
    if kind is AnswerType.YES_NO:
        return 0.04 if _PERMISSION.search(sentence) else 0.0
    if _WHY.search(question):
        return 0.12 if gives_reason(sentence) else 0.0
    if _WHAT_IS.match(question):
        return 0.06 if _DEFINITION.match(sentence) else 0.0
    return 0.0


def states_answer(sentence: str, kind: AnswerType, question: str, columns: str = "") -> bool:
    """True when the sentence has what a question for a figure (of time or money, if it says so), a date, a person or a
    name asks for, beside what the question itself names; always true for other kinds. `columns`: what names the columns
    of a table row, and may say of what a figure is.
    """
    asked = question.lower()
    table = table_of(question)
    sentence = _ENUMERATOR.sub(partial(_keep_ordinal, table), sentence)
    if table is not None:
        return _states_by_table(table, sentence, question, columns)
    if kind in (AnswerType.FIGURE, AnswerType.DATE, AnswerType.FACT) and (
        _lacks_what_is_named(sentence, question, columns) or lacks_unit(question, sentence, columns)
    ):
        return False
    if kind is AnswerType.FIGURE:
        if _TIME_ASKED.search(question):
            timed = _TIME.search(sentence) or _TIME.search(columns)
            return timed is not None and _has_figure(sentence, asked, dates=True)
        if asks_for_money(question) and not (_MONEY.search(sentence) or names_money(columns)):
            return False
        things = counted_things(question)
        if things is not None:
            if _MONEY.search(columns) and things.lower() not in columns.lower():
                return False
            sentence = without_measured(sentence, question)
        return _has_figure(sentence, asked, dates=False) or _has_identifier(sentence, question)
    if kind is AnswerType.DATE:
        times = (_DATE, _MOMENT) if _RULE_ASKED.search(question) else (_DATE,)
        found = (match[0].lower() for one in times for match in one.finditer(sentence))
        return any(not holds_phrase(asked, time) for time in found)
    if kind is AnswerType.PERSON:
        return _names_person(sentence, asked)
    if kind is AnswerType.FACT and _NAME_ASKED.search(question):
        return any(
            not holds_phrase(asked, (match[1] or match[2] or match[3]).lower())
            for match in _CAPITALISED.finditer(sentence)
        )
    return True


def _keep_ordinal(table: WordTable | None, enumerator: re.Match[str]) -> str:
    """The number of a day where the name of a month follows: "3. März" opens no item."""
    is_ordinal = table is not None and table.is_ordinal("", enumerator.string, enumerator.end())
    return enumerator[0] if is_ordinal else ""


def _lacks_what_is_named(sentence: str, question: str, columns: str) -> bool:
    """True where the question asks for a value whose form its name tells, and the sentence has none but those that the
    question has.
    """
    if _MONEY_BY_NAME.search(question):
        has_money = _MONEY.search(sentence) or _NO_MONEY.search(sentence) or names_money(columns)
        return not (has_money or (names_money(sentence) and _has_figure(sentence, question.lower(), dates=False)))
    return _lacks_form(sentence, question)


def _lacks_form(sentence: str, question: str) -> bool:
    """The same by the form alone: an address without "@" is none to write an e-mail to."""
    wanted = (value for asked, value in _VALUES_BY_NAME if asked.search(question))
    named = question.lower()
    return any(all(holds_phrase(named, one[0].lower()) for one in value.finditer(sentence)) for value in wanted)


def _names_person(sentence: str, asked: str) -> bool:
    """True for a name, one alone behind "by", or a role that the question does not name; beside one that it does a
    single name will do.
    """
    if any(not holds_phrase(asked, match[0].lower()) for match in _PERSON.finditer(sentence)):
        return True
    undated = _DATE.sub(" ", _CALENDAR.sub(" ", sentence))
    if any(not holds_phrase(asked, match[1].lower()) for match in _AGENT.finditer(undated)):
        return True
    if any(not holds_phrase(asked, match[1]) for match in _OFFICE.finditer(sentence)):
        return True
    roles = [match[0].lower() for match in _ROLE.finditer(sentence)]
    if not roles or any(not holds_phrase(asked, role) for role in roles):
        return bool(roles)
    names = (match[1] or match[2] for match in _CAPITALISED.finditer(undated))
    return any(name and not holds_phrase(asked, name.lower()) for name in names)


def asks_for_money(question: str) -> bool:
    """True for an English question that names an amount of money."""
    return _MONEY_ASKED.search(question) is not None


def names_money(text: str) -> bool:
    """True for a text with an amount of money, or that names one."""
    return _MONEY.search(text) is not None or _MONEY_NAMED.search(text) is not None


def gives_reason(text: str, table: WordTable | None = None) -> bool:
    """True for a text that says why, in the language of the table or in English."""
    return (_REASON if table is None else table.because.pattern).search(text) is not None


def asks_for_place(question: str) -> bool:
    """True for a question for a place."""
    return _PLACE_ASKED.search(question) is not None


def states_place(sentence: str, kind: AnswerType, question: str) -> bool:
    """True when a sentence has a place that the question does not name, if it asks for one; always true otherwise."""
    if kind is not AnswerType.FACT or not asks_for_place(question):
        return True
    asked = question.lower()
    return any(not holds_phrase(asked, match[0].split()[-1].lower()) for match in _PLACE.finditer(sentence))


def _has_figure(sentence: str, asked: str, *, dates: bool) -> bool:
    text = sentence if dates else _CALENDAR.sub(" ", sentence)
    found = (match[0].lower() for match in _FIGURE.finditer(text))
    return any((dates or not _YEAR.match(figure)) and not holds_phrase(asked, figure) for figure in found) or (
        dates and _FREQUENCY.search(sentence) is not None
    )


def _has_identifier(sentence: str, question: str) -> bool:
    """True for a number that names a thing, where a question asks for one: NO-1000000000 for "the serial number"."""
    if not _NUMBER_OF_THING.search(question):
        return False
    named = question.lower()
    return any(not holds_phrase(named, one[0].lower()) for one in _IDENTIFIER.finditer(sentence))


def _has_answer(table: WordTable, asked: Asked, sentence: str) -> bool:
    wording = table.answers.get(asked)
    return wording is not None and wording.pattern.search(sentence) is not None


def _states_by_table(table: WordTable, sentence: str, question: str, columns: str) -> bool:
    """The same in a language that has a word table."""
    asked, said = table.asked_by(question), question.lower()
    if _lacks_form(sentence, question):
        return False
    if asked is None or asked not in _VALUES:
        return True
    if asked is Asked.PRICE and not (
        _has_answer(table, asked, sentence) or _has_answer(table, asked, columns) or table.asked_by(columns) is asked
    ):
        return False
    wanted = table.answers.get(Asked.HOW_MUCH if asked is Asked.PRICE else asked)
    if wanted is None:
        return True
    found = [match[0].lower() for match in wanted.pattern.finditer(sentence)]
    if asked is Asked.HOW_MUCH:
        if table.lacks_unit(question, sentence, columns):
            return False
        found = [one for one in found if not _YEAR.match(one)]
    return any(not holds_phrase(said, one) for one in found)
