"""Measures that an English question asks for, and figures with a unit, which count no things."""

from __future__ import annotations

import re

from agentic_rag.language.words.word_table import LENGTH

MEASURED = re.compile(
    r"[£$€¥] ?\d[\d.,]*+|(?<!\d)(?<!\d[.,\u00a0 ])\d[\d.,\u00a0 ]*+(?:(?:thousand|[mb]illion|[mb]n) )?(?:%|[£$€¥°\"″]|"
    r"(?:[µmcdk]?m|[mk]?g|lbs?|[mcdh]?l|[km]?wh?|[km]?v|d?ba?|nm|"
    r"[km]?pa|m?bar|psi|hz|[kmg]hz|[kmgt]b|ft|tonn(?:e|en|es|s)|inch(?:es)?|feet|miles?|pounds?|euros?|dollars?|"
    r"pence|cents?|francs?|percent|per cent|prozent|pour cent|por ciento|degrees?|grad|degrés?|grados?|watts?|volts?|"
    r"(?:milli|centi|deci|kilo|mega)?(?:met(?:er|re)|mètre|metro|gramm?e?|gramo|lit(?:er|re)|litro)s?n?)"
    r"(?![^\W\d_]))",
    re.IGNORECASE,
)
"""A figure with a unit: it counts nothing."""
LASTING = re.compile(
    r"\b(?:(?<!\d[.,])\d[\d.,]*+|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?|one|two|three|"
    r"four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|half an?|an?)[ -]?"
    r"(?:(?:working|business|calendar|full|more) )?"
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b(?!-long)",
    re.IGNORECASE,
)
"""How long something takes in English: it counts no other things either."""
_TIME_COUNTED = re.compile(
    r"\bhow many (?:[\w'’-]+ )?(?:week|work|school|\w+-)?"
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|nights?|holidays?|vacations?)\b",
    re.IGNORECASE,
)
_IS_ASKED = r"\b(?:what|which)(?:['’]s| is| are| was|) (?:the |your |our |my |its )?"
_MEASURES: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(
            r"\bhow (?:heavy|much .{0,40}\bweighs?|many (?:kilos?|(?:kilo|milli)?gram(?:me)?s|kg|ton(?:ne)?s))\b|"
            r"\b(?:what|which) .{2,60}\bweigh\b|"
            r"\b(?:what|which).{0,30}\bweight\b",
            re.IGNORECASE,
        ),
        re.compile(
            r"\d ?(?:[mk]?g|t|lbs?|oz)\b|\b(?:kg|(?:kilo|milli)?gram(?:me)?s?|kilos?|ton(?:ne)?s?|pounds?|ounces?|"
            r"stones?)\b",
            re.IGNORECASE,
        ),
    ),
    (
        re.compile(
            r"\bhow (?:wide|thick|tall|deep)\b|\b(?:what|which).{0,30}\b(?:width|thickness|diameter)\b", re.IGNORECASE
        ),
        LENGTH.pattern,
    ),
    (
        re.compile(
            r"\bhow high (?:can|could|does|do|did|may|must|will)\b.{1,60}(?<!the )(?<!a )\blift\W*$", re.IGNORECASE
        ),
        LENGTH.pattern,
    ),
    (
        re.compile(r"\bhow (?:warm|hot|cold)\b|\b(?:what|which).{0,20}\btemperatures?\b", re.IGNORECASE),
        re.compile(r"°|\bdegrees?\b|\d ?[CFK]\b|\b(?:celsius|fahrenheit|kelvin)\b", re.IGNORECASE),
    ),
)
"""How an English question names a measure, and the units in which its value stands."""
_YEAR_ASKED = re.compile(r"\b(?:what|which) year\b", re.IGNORECASE)
_YEAR = re.compile(
    r"(?<![\d.,£$€])(?:1[0-9]|20)\d\d(?!\d|[.,]\d)|\byear \d|\b\d{1,2}[./]\d{1,2}[./]\d\d\b|"
    r"(?<!\w)['‘’]\d\d\b|\d ?(?:AD|BCE?)\b",
    re.IGNORECASE,
)
_YEARS = re.compile(r"\byears?\b", re.IGNORECASE)
_CODE_ASKED = re.compile(
    rf"{_IS_ASKED}(?:[\w'’-]+ ){{0,2}}?(?P<of>alarm|door|gate|entry|entrance|access|security|PIN|discount|voucher|"
    r"promotion|booking|activation|unlock\w*) code\b",
    re.IGNORECASE,
)
_CODED = re.compile(r"\d{3}|\b(?=[A-Z-]*[A-Z]{4})[A-Z\d-]+\b|[\"“‘`*]\w+[\"”’`*]")
_NUMBER_ASKED = re.compile(
    rf"{_IS_ASKED}(?:[\w'’-]+ )?"
    r"(?P<of>serial|part|order|model|article|account|invoice|reference|registration|licen[cs]e|permit) number\b",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?<![\w/.-])(?=[\w/.-]*\d)[\w/.-]*\w|(?:^|\bis |: )[\w-]+(?<!ed)(?=\W*$)")
"""What may be a code or number where a text says that it is one."""
IDENTIFIER_FORM = r"(?=[\w/.-]{0,200}\d\d)(?=[\d.]{0,200}[A-Za-z/-])[A-Za-z\d][\w/.-]*\w"
"""Letters, hyphens or slashes with two digits in a row and more."""
_CODE = re.compile(rf"(?<![\w-])(?:{IDENTIFIER_FORM}|(?!(?:19|20)\d\d\b)\d{{4,}})")
_HOW_MANY = re.compile(r"\bhow many (?P<what>[a-z]+)", re.IGNORECASE)


def lacks_unit(question: str, said: str, *columns: str) -> bool:
    """Whether an English question names a measure, and neither a text nor what names its columns has a unit of it; the
    same of a year, a code or a number of a thing, each by its form, or by its name beside a value.
    """
    units = (unit for asked, unit in _MEASURES if asked.search(question))
    if any(not any(map(unit.search, (said, *columns))) for unit in units):
        return True
    if _YEAR_ASKED.search(question) and not (_YEAR.search(said) or any(map(_YEARS.search, columns))):
        return True
    code = _CODE_ASKED.search(question)
    if code is not None and not _CODED.search(said):
        return not _is_named(code["of"], "code", question, said, columns)
    number = _NUMBER_ASKED.search(question)
    if number is None or _is_named(number["of"], "number", question, said, columns):
        return False
    named = {_family(one[0]) for one in _CODE.finditer(question)}
    return all(_family(one[0]) in named for text in (said, *columns) for one in _CODE.finditer(MEASURED.sub(" ", text)))


def _is_named(of: str, what: str, question: str, said: str, columns: tuple[str, ...]) -> bool:
    """Whether a text has a value that the question has not, and it or what names its columns says what that is."""
    name = re.compile(rf"\b{of}(?:['’]s)? (?:{what}s?\b|no\b(?! longer)|nr\b|#)", re.IGNORECASE)
    named = question.lower()
    is_said = name.search(said) or any(map(name.search, columns))
    return bool(is_said) and any(one[0].lower() not in named for one in _VALUE.finditer(said))


def _family(code: str) -> str:
    """The beginning of a code that those of its kind share: "brn-" of BRN-04; of a bare number the number."""
    return (code.rstrip("0123456789") or code).lower()


def counted_things(question: str) -> str | None:
    """What an English question asks how many there are of, as it is written; None where that is a unit."""
    counted = _HOW_MANY.search(question)
    return None if counted is None or MEASURED.search(f"1 {counted['what']}") else counted["what"]


def without_measured(sentence: str, question: str) -> str:
    """A sentence without what counts no things such as an English question counts: figures with a unit, and how long
    something takes, where it is not time that is counted.
    """
    counted = MEASURED.sub(" ", sentence)
    return counted if _TIME_COUNTED.search(question) else LASTING.sub(" ", counted)
