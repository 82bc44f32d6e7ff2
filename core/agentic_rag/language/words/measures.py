"""Measures that an English question asks for, and figures with a unit, which count no things."""

from __future__ import annotations

import re

from agentic_rag.language.words.word_table import LENGTH

MEASURED = re.compile(
    r"[£$€¥] ?\d[\d.,]*|\d[\d.,\u00a0 ]* ?(?:(?:thousand|[mb]illion|[mb]n) )?(?:%|[£$€¥°\"″]|"
    r"(?:[µmcdk]?m|[mk]?g|lbs?|[mcdh]?l|[km]?wh?|[km]?v|d?ba?|nm|"
    r"[km]?pa|m?bar|psi|hz|[kmg]hz|[kmgt]b|ft|tonn(?:e|en|es|s)|inch(?:es)?|feet|miles?|pounds?|euros?|dollars?|"
    r"pence|cents?|francs?|percent|per cent|prozent|pour cent|por ciento|degrees?|grad|degrés?|grados?|watts?|volts?|"
    r"(?:milli|centi|deci|kilo|mega)?(?:met(?:er|re)|mètre|metro|gramm?e?|gramo|lit(?:er|re)|litro)s?n?)"
    r"(?![^\W\d_]))",
    re.IGNORECASE,
)
"""A figure with a unit: it counts nothing."""
LASTING = re.compile(
    r"\b(?:\d[\d.,]*|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?|one|two|three|four|five|six|"
    r"seven|eight|nine|ten|eleven|twelve|\w+teen|half an?|an?)[ -]?(?:(?:working|business|calendar|full|more) )?"
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b",
    re.IGNORECASE,
)
"""How long something takes in English: it counts no other things either."""
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
    (re.compile(r"\bhow high (?:can|could|does|do|did|may|must|will)\b", re.IGNORECASE), LENGTH.pattern),
    (
        re.compile(
            rf"{_IS_ASKED}(?:[\w'’-]+ ){{0,2}}?(?:alarm|door|gate|entry|entrance|access|security|PIN|discount|voucher|"
            r"promotion|booking|activation|unlock\w*) code\b",
            re.IGNORECASE,
        ),
        re.compile(r"\d{3}|\b(?=[A-Z-]*[A-Z]{4})[A-Z\d-]+\b|[\"“‘`*]\w+[\"”’`*]"),
    ),
    (
        re.compile(r"\bhow (?:warm|hot|cold)\b|\b(?:what|which).{0,20}\btemperatures?\b", re.IGNORECASE),
        re.compile(r"°|\bdegrees?\b|\d ?[CFK]\b|\b(?:celsius|fahrenheit|kelvin)\b", re.IGNORECASE),
    ),
)
"""How an English question names a measure, and the units in which its value stands."""
_YEAR_ASKED = re.compile(r"\b(?:in )?(?:what|which) year\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,£$€])(?:1[0-9]|20)\d\d(?!\d|[.,]\d)|\byear \d")
_NUMBER_ASKED = re.compile(
    rf"{_IS_ASKED}(?:[\w'’-]+ )?"
    r"(?:serial|part|order|model|article|account|invoice|reference|registration|licen[cs]e|permit) number\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![\w-])(?:(?=[\w/.-]*\d\d)(?=[\d.]*[A-Za-z/-])[A-Za-z\d][\w/.-]*\w|(?!(?:19|20)\d\d\b)\d{4,})")
_HOW_MANY = re.compile(r"\bhow many (?P<what>[a-z]+)", re.IGNORECASE)


def lacks_unit(question: str, *said: str) -> bool:
    """Whether an English question names a measure and none of the texts has a unit of it."""
    units = (unit for asked, unit in (*_MEASURES, (_YEAR_ASKED, _YEAR)) if asked.search(question))
    if any(not any(map(unit.search, said)) for unit in units):
        return True
    if not _NUMBER_ASKED.search(question):
        return False
    named = {_family(one[0]) for one in _CODE.finditer(question)}
    return all(_family(one[0]) in named for text in said for one in _CODE.finditer(MEASURED.sub(" ", text)))


def _family(code: str) -> str:
    """The beginning of a code that those of its kind share: "brn-" of BRN-04; of a bare number the number."""
    return (code.rstrip("0123456789") or code).lower()


def counted_things(question: str) -> str | None:
    """What an English question asks how many there are of, as it is written; None where that is a unit."""
    counted = _HOW_MANY.search(question)
    return None if counted is None or MEASURED.search(f"1 {counted['what']}") else counted["what"]
