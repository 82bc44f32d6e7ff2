"""The names, dates, times and figures of a sentence, each in a form in which equal values are equal."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import TABLES, table_of

_MONTH_NUMBERS = {
    name: number for names in (MONTH_NAMES, *(table.months for table in TABLES)) for number, name in enumerate(names, 1)
}
_MONTH = "|".join(
    [f"{name[:3]}(?:{name[3:]}|\\.)?" for name in MONTH_NAMES]
    + [rf"{name}\b" for table in TABLES for name in table.months]
)
_YEAR = r"(?:1[5-9]|20)\d\d"
_DATES = (
    re.compile(rf"\b(?P<y>{_YEAR})-(?P<m>[01]\d)-(?P<d>[0-3]\d)\b"),
    re.compile(rf"\b(?P<d>[0-3]?\d)[./](?P<m>[01]?\d)[./](?P<y>{_YEAR})\b"),
    re.compile(
        rf"\b(?P<d>[0-3]?\d)(?:st|nd|rd|th|er|[º°])?\.?(?: of| de)? (?P<w>{_MONTH})"
        rf"(?:,?(?: {{1,9}}de)? {{1,9}}(?P<y>{_YEAR}))?\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?P<w>{_MONTH}) (?P<d>[0-3]?\d)(?:st|nd|rd|th)?\b(?:,? (?P<y>{_YEAR}))?(?![\d:])", re.I),
    re.compile(rf"\b(?P<w>{_MONTH}),?(?: de)? {{1,9}}(?P<y>{_YEAR})\b", re.I),
)
_TIME = re.compile(
    r"\b(?P<h>[012]?\d)(?:[:.](?P<m>[0-5]\d)(?:(?P<o> (?:uhr|uur|hrs?)\b)| ?(?P<a>[ap])\.?m\b)?| ?(?P<b>[ap])\.?m\b|"
    r"(?P<c> ?h ?)(?P<n>[0-5]\d)\b|(?P<u> uhr\b)(?: (?P<k>[0-5]\d)\b)?)",
    re.I,
)
_SMALL = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen|twenty"
)
_WORDS = {word: float(value) for value, word in enumerate(_SMALL.split("|"))} | {"thirty": 30.0, "sixty": 60.0}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9}
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_PLAIN = str.maketrans(f"{_RAISED}⁺⁻", "0123456789+-", "^")
_MOST_POWER = 300
"""Of ten, in a float."""
_POWER = rf"[⁺⁻]?[{_RAISED}]{{1,3}}|\^[+-]?\d{{1,3}}(?!\d)"
_PER_CENT = r"p(?:er|our|or) c(?:ien|en)to?\b"
_FIGURE = re.compile(
    rf"(?:(?P<sign>(?<!R)[$€£]) ?)?(?<![\w.,/-])(?:(?P<times>\d+(?:\.\d+)?) ?[×·*x] ?(?=10(?:{_POWER})))?"
    rf"(?P<n>[+-]?\d+(?:,\d{{3}})*(?:\.\d+)?|\b(?:{'|'.join(_WORDS)})\b)(?![\d./-]*[-/]\w)(?P<power>{_POWER})?"
    rf"(?:[ -]?(?P<scale>{'|'.join(_SCALES)})\b)?"
    rf"(?:(?:(?<=[a-z]) {{1,9}}|[ \u00a0-]?)(?P<unit>[%€$£]|{_PER_CENT}|°[CF]|"
    r"[^\W\d_]+(?:[²³]|[23](?!\w))?(?:/[a-z]+)?))?",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<!\w)[A-ZÀ-Þ][\w’'&.-]*(?:,? (?:of |the |de |van |von |du )*[A-ZÀ-Þ][\w’'&.-]*)*")
_DIMENSIONS: Mapping[str, Mapping[str, float]] = {
    "length": {"mm": 1e-3, "millimetre": 1e-3, "cm": 1e-2, "centimetre": 1e-2, "m": 1.0, "metre": 1.0, "meter": 1.0,
               "km": 1e3, "kilometre": 1e3, "kilometer": 1e3, "inch": 0.0254, "ft": 0.3048, "feet": 0.3048,
               "foot": 0.3048, "mile": 1609.344, "mi": 1609.344},
    "mass": {"mg": 1e-6, "g": 1e-3, "gram": 1e-3, "kg": 1.0, "kilogram": 1.0, "kilo": 1.0, "t": 1e3, "tonne": 1e3,
             "ton": 1e3, "lb": 0.45359237, "pound": 0.45359237},
    "volume": {"ml": 1e-3, "millilitre": 1e-3, "cl": 1e-2, "l": 1.0, "litre": 1.0, "liter": 1.0, "m³": 1e3},
    "duration": {"ms": 1e-3, "s": 1.0, "sec": 1.0, "second": 1.0, "min": 60.0, "minute": 60.0, "h": 3600.0,
                 "hr": 3600.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0},
    "months": {"month": 1.0, "quarter": 3.0, "year": 12.0, "yr": 12.0, "decade": 120.0},
    "share": {"%": 1.0, "percent": 1.0, "pct": 1.0, "per cent": 1.0, "pour cent": 1.0, "por ciento": 1.0,
              "por cento": 1.0, "per cento": 1.0},
    "pressure": {"pa": 1.0, "kpa": 1e3, "mpa": 1e6, "bar": 1e5, "mbar": 1e2},
    "power": {"w": 1.0, "watt": 1.0, "kw": 1e3, "kilowatt": 1e3, "mw": 1e6, "megawatt": 1e6, "gw": 1e9},
    "energy": {"wh": 1.0, "kwh": 1e3, "mwh": 1e6, "gwh": 1e9},
    "voltage": {"v": 1.0, "volt": 1.0, "kv": 1e3}, "current": {"a": 1.0, "amp": 1.0, "ma": 1e-3},
    "speed": {"km/h": 1.0, "kmh": 1.0, "kph": 1.0, "m/s": 3.6, "mph": 1.609344, "knot": 1.852, "kn": 1.852},
    "data": {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}, "°c": {"°c": 1.0}, "°f": {"°f": 1.0},
    "eur": {"€": 1.0, "euro": 1.0, "eur": 1.0, "cent": 0.01}, "usd": {"$": 1.0, "dollar": 1.0, "usd": 1.0},
    "gbp": {"£": 1.0, "gbp": 1.0},
}  # fmt: skip
"""Units by what they measure, with their factor to one of them."""
_UNITS = {name: (kind, factor) for kind, rows in _DIMENSIONS.items() for name, factor in rows.items()}
_SPANS = {"duration": 1.0, "months": 2_629_800.0}
"""Seconds of one of it."""
_MONTH_SLACK = 0.1
"""How far a month and thirty days, or three months and twelve weeks, may lie apart."""
_FREQUENCIES = {"daily": "day", "weekly": "week", "monthly": "month", "quarterly": "quarter", "yearly": "year",
                "annually": "year"}  # fmt: skip
_FREQUENCY = re.compile(
    rf"\b(?:(?:every|each) (?P<unit>day|week|month|quarter|year)|(?P<adverb>{'|'.join(_FREQUENCIES)}))\b", re.IGNORECASE
)
"""How often something is done: every quarter is every three months."""
ORDINAL_WORDS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
_ORDINALS = {word: float(value) for value, word in enumerate(ORDINAL_WORDS.split("|"), 1)}
_ORDINAL = re.compile(
    rf"\b(?:(?P<word>{ORDINAL_WORDS})|(?P<n>\d{{1,3}})(?:st|nd|rd|th)) (?:(?:calendar|working|business) )?"
    r"(?P<unit>hour|day|week|month|quarter|year)\b",
    re.IGNORECASE,
)
"""Which of several in a row: the third day."""
_COUNTED = frozenset(
    {"people", "persons", "seasons", "episodes", "acres", "hectares", "million", "billion", "thousand"}
)
_LEADS = re.compile(
    r"is|are|was|were|be|been|being|of|to|at|by|than|about|over|under|with|for|from|in|on|and|or|has|have|"
    r"had|between|up|least|most|only|within|after|before|until|every|all|its|the|a|an|approximately|around|"
    r"roughly|nearly|almost|exceed|exceeds|reach|reaches|not|total|costs|cost|worth|per"
)
"""Words before a figure; a number after another word without a unit is the word's number (berth 4)."""
_TITLES = frozenset({"dr", "mr", "mrs", "ms", "prof", "professor", "sir", "captain", "capt", "inc", "ltd", "the"})
_OPENERS = re.compile(
    r"the|a|an|in|on|at|of|for|from|by|to|with|as|if|when|while|after|before|since|during|under|each|every|"
    r"all|any|no|our|your|their|his|her|its|this|that|these|those|it|they|he|she|we|you|i|there|here|and|"
    r"but|or|so|what|which|who|whose|where|how|must|shall|both|some|most|according|only"
)


class ValueKind(enum.Enum):
    """What a value is, as far as its form tells."""

    NAME = "name"
    DATE = "date"
    TIME = "time"
    FIGURE = "figure"
    ORDINAL = "ordinal"


@dataclass(frozen=True, slots=True)
class TypedValue:
    """A value at [start, end) of its sentence, with the comparable parts of its kind."""

    kind: ValueKind
    start: int
    end: int
    parts: tuple[str | float | None, ...]
    """NAME: its words. DATE: year, month, day, None where left out. TIME: minutes. FIGURE: dimension and amount.
    ORDINAL: what is counted and the place.
    """
    is_rough: bool = False

    def agrees(self, other: TypedValue) -> bool:
        """True for the same value, as far as both tell it."""
        if self.kind is not other.kind:
            return False
        if self.kind is ValueKind.NAME:
            return _same_name(self.parts, other.parts)
        if self.kind is ValueKind.DATE:
            return all(
                mine is None or its is None or mine == its for mine, its in zip(self.parts, other.parts, strict=True)
            )
        if self.kind is ValueKind.FIGURE:
            return _is_comparable(self, other) and _same_amount(self, other)
        return self.parts == other.parts

    def is_rival(self, other: TypedValue) -> bool:
        """True for another value of the same kind and dimension."""
        same = self.kind is other.kind and (self.kind is not ValueKind.FIGURE or _is_comparable(self, other))
        if self.kind is ValueKind.ORDINAL:
            same = same and self.parts[0] == other.parts[0]
        return same and not self.agrees(other)


def find_values(sentence: str) -> list[TypedValue]:
    """The values in reading order, none inside another."""
    table = table_of(sentence)
    if table is not None:
        sentence = table.value_words(sentence)
    taken = [False] * len(sentence)
    found: list[TypedValue] = []

    def take(value: TypedValue | None) -> None:
        if value is not None and not any(taken[value.start : value.end]):
            taken[value.start : value.end] = [True] * (value.end - value.start)
            found.append(value)

    for pattern in _DATES:
        for match in pattern.finditer(sentence):
            take(_date(match))
    for match in _TIME.finditer(sentence):
        take(_time(match))
    for match in _FREQUENCY.finditer(sentence):
        take(_frequency(match))
    for match in _ORDINAL.finditer(sentence):
        take(_ordinal(match))
    for match in _FIGURE.finditer(sentence):
        take(_figure(match, sentence))
    for match in _NAME.finditer(sentence):
        take(_name(match, sentence))
    if table is not None and table.has_compounds:
        found = [one for one in found if one.kind is not ValueKind.NAME or _has_several_words(one, table)]
    return sorted(found, key=lambda one: one.start)


def _has_several_words(name: TypedValue, table: WordTable) -> bool:
    """False for a noun with its article, where nouns have a capital."""
    return sum(part not in table.function_words for part in name.parts) > 1


def is_unit(word: str) -> bool:
    """True for a unit written out: what a figure counts, and not a letter that may be anything."""
    low = word.lower()
    return len(low) > 2 and (low in _UNITS or low.removesuffix("s") in _UNITS or low in _COUNTED)


def stem(word: str) -> str:
    """A word without the ending that number and tense give it."""
    low = word.lower()
    for ending in ("ies", "ing", "ed", "es", "s"):
        if low.endswith(ending) and len(low) - len(ending) >= 3 and not low.endswith("ss"):
            return low[: -len(ending)] + ("y" if ending == "ies" else "")
    return low.removesuffix("e") if len(low) > 4 else low


def _date(match: re.Match[str]) -> TypedValue | None:
    parts = match.groupdict()
    month = parts.get("m")
    if parts.get("w"):
        month = str(_month_number(parts["w"].lower()))
    numbers = tuple(None if part is None else float(part) for part in (parts.get("y"), month, parts.get("d")))
    if (numbers[1] or 1) > 12 or (numbers[2] or 1) > 31:
        return None
    return TypedValue(ValueKind.DATE, match.start(), match.end(), numbers)


def _month_number(word: str) -> int:
    known = _MONTH_NUMBERS.get(word)
    if known is not None:
        return known
    return next(number for name, number in _MONTH_NUMBERS.items() if word.startswith(name[:3]))


def _frequency(match: re.Match[str]) -> TypedValue:
    unit = (match["unit"] or _FREQUENCIES[match["adverb"].lower()]).lower()
    kind, factor = _UNITS[unit]
    return TypedValue(ValueKind.FIGURE, match.start(), match.end(), (kind, factor))


def _ordinal(match: re.Match[str]) -> TypedValue:
    place = _ORDINALS[match["word"].lower()] if match["word"] else float(match["n"])
    return TypedValue(ValueKind.ORDINAL, match.start(), match.end(), (match["unit"].lower(), place))


def _time(match: re.Match[str]) -> TypedValue | None:
    half = (match["a"] or match["b"] or "").lower()
    hour = int(match["h"]) % 12 + 12 * (half == "p") if half else int(match["h"])
    is_told = half or match["o"] or match["c"] or match["u"] or match.group()[match.end("h") - match.start()] == ":"
    if hour > 24 or not is_told:
        return None
    minute = float(match["m"] or match["n"] or match["k"] or 0)
    return TypedValue(ValueKind.TIME, match.start(), match.end(), (60.0 * hour + minute,))


def _figure(match: re.Match[str], sentence: str) -> TypedValue | None:
    written = match["n"].lower()
    amount = _WORDS.get(written)
    if amount is None:
        amount = float(written.replace(",", ""))
    if written == "10" and match["power"]:
        amount = float(match["times"] or 1) * 10.0 ** min(int(match["power"].translate(_PLAIN)), _MOST_POWER)
    amount *= _SCALES.get((match["scale"] or "").lower(), 1.0)
    before = sentence[: match.start()].rstrip().rpartition(" ")[2].lower().strip("(,")
    unit = (match["unit"] or "").lower().replace("2", "²").replace("3", "³")
    kind, factor = _UNITS.get(match["sign"] or unit) or _UNITS.get(unit.removesuffix("s")) or ("", 1.0)
    end = match.end()
    number_end = max(map(match.end, ("n", "power", "scale")))
    is_noun = bool(unit) and not _LEADS.fullmatch(unit) and not _OPENERS.fullmatch(unit)
    is_counted = match["scale"] or match["sign"] or (is_noun and (unit.endswith("s") or unit == "people"))
    if not kind and not is_counted and re.fullmatch(_YEAR, written):
        return TypedValue(ValueKind.DATE, match.start("n"), match.end("n"), (float(written), None, None))
    if not kind:
        is_numbered = (
            before and not _LEADS.fullmatch(before) and not before.endswith(("s", "ed", "ly")) and before[-1].isalpha()
        )
        if is_numbered or (written in _WORDS and _OPENERS.fullmatch(unit)):
            return None
        end = number_end
        kind = f"noun {stem(unit)}" if is_noun else ""
    elif match["sign"]:
        end = number_end
    rough = match["scale"] is not None or re.search(
        r"\b(?:about|around|approximately|roughly|nearly|some|almost)\W*$", sentence[: match.start()], re.I
    )
    return TypedValue(ValueKind.FIGURE, match.start(), end, (kind, amount * factor), bool(rough))


def _name(match: re.Match[str], sentence: str) -> TypedValue | None:
    words = match.group().split()
    start = match.start()
    while words and _OPENERS.fullmatch(words[0].lower()):
        start += len(words[0]) + 1
        words = words[1:]
    opens = not sentence[:start].strip(" \"“'(*#-")
    if not words or not words[0][0].isupper() or (len(words) == 1 and opens and words[0].isalpha()):
        return None
    tokens = tuple(low for word in words if (low := word.strip(".,'’").lower().removesuffix("’s").removesuffix("'s")))
    kept = tuple(token for token in tokens if token not in _TITLES and token not in ("of", "de", "van", "von", "du"))
    return TypedValue(ValueKind.NAME, start, match.end(), kept) if kept else None


def _same_name(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    ours, theirs = set(left), set(right)
    if ours <= theirs or theirs <= ours:
        return True
    initials = str(left[0])[:1] == str(right[0])[:1] and 1 in (len(str(left[0])), len(str(right[0])))
    return left[-1] == right[-1] and initials


def _is_comparable(left: TypedValue, right: TypedValue) -> bool:
    """True for figures of one dimension; days and months are both of time."""
    dimensions = {left.parts[0], right.parts[0]}
    return len(dimensions) == 1 or dimensions == set(_SPANS)


def _same_amount(left: TypedValue, right: TypedValue) -> bool:
    mine, its = (one.parts[1] for one in (left, right))
    if not isinstance(mine, float) or not isinstance(its, float):
        return False
    slack = 0.05 if left.is_rough != right.is_rough else 1e-6
    if left.parts[0] != right.parts[0]:
        slack = _MONTH_SLACK
        mine, its = mine * _SPANS[str(left.parts[0])], its * _SPANS[str(right.parts[0])]
    return abs(mine - its) <= slack * max(abs(mine), abs(its))
