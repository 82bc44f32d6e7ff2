"""Sizes that a text names with a unit: 12 metres, 10 to 13 m, up to 25 t, over 6 weeks. English, German, French and
Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, nextafter

_NUMBER = r"\d{1,3}(?:[.,' ]\d{3}){1,4}(?!\d)|\d+(?:[.,]\d{1,2})?"
_UNITS: Mapping[str, str] = {
    "mm": r"mm|millimet(?:er|re)s?",
    "cm": r"cm|centimet(?:er|re)s?|Zentimetern?",
    "m": r"m|met(?:er|re)s?|Metern?|mètres?|metros?",
    "km": r"km|kilomet(?:er|re)s?|Kilometern?|kilomètres?|kilómetros?",
    "g": r"g|grams?|Gramm|grammes?|gramos?",
    "kg": r"kg|kilos?|kilogram(?:me)?s?|Kilogramm",
    "t": r"t|tonn?e?s?|Tonnen?|toneladas?",
    "l": r"l|lit(?:er|re)s?|Litern?|litros?",
    "minute": r"min(?:ute)?s?|Minuten?|minutos?",
    "hour": r"hours?|Stunden?|heures?|horas?",
    "day": r"days?|Tagen?|Tage?|jours?|días?",
    "week": r"weeks?|Wochen?|semaines?|semanas?",
    "month": r"months?|Monaten?|Monate?|mois|mes(?:es)?",
    "year": r"years?|Jahren?|Jahre?|ans|(?<=\b1 )an|années?|años?",
    "person": r"persons?|people|Personen?|personnes?|personas?",
}
_UNIT = "|".join(f"(?P<{name}>{forms})" for name, forms in _UNITS.items())
_FORMS = "|".join(_UNITS.values())
_MOST = (
    r"up to|under|below|(?:less|shorter|lighter|younger|smaller|lower|fewer) than|at most|maximum|max\.|"
    r"(?:not|no) (?:more|longer|heavier) than|bis zu|bis|unter|höchstens|weniger als|jusqu['’]à|moins de|au plus|"
    r"hasta|menos de"
)
_LEAST = (
    r"over|above|exceeding|from|at least|(?:more|longer|heavier|older|larger|taller|higher) than|ab|über|mehr als|"
    r"mindestens|älter als|plus de|à partir de|au moins|más de|a partir de|desde"
)
_OF_UNIT = rf"(?:[- ]?(?:{_FORMS})(?![^\W\d_]))?"
_SIZE = re.compile(
    rf"(?<![\w.,-])(?:(?P<most>{_MOST}) |(?P<least>{_LEAST}) |(?P<between>between|zwischen|entre) )?"
    rf"(?P<first>{_NUMBER})(?:{_OF_UNIT}(?: to | bis | à | a |–| – |-|(?(between) (?:and|und|et|y) |(?!))|"
    rf",? (?:(?:and|but|und|bis|et|y) )?(?P<until>{_MOST}) )(?P<last>{_NUMBER}))?"
    rf"[- \u00a0]?(?:{_UNIT})(?![^\W\d_])(?P<open> (?:and|or) (?:more|over|older|longer|above)\b)?",
    re.IGNORECASE,
)
_STRICT = re.compile(
    r"under|below|over|above|exceeding|\w+ than|unter|über|(?:weniger|mehr|älter) als|(?:moins|plus) de|"
    r"(?:menos|más) de",
    re.IGNORECASE,
)
"""What says a bound that lies not within: 16 is not under 16."""
_DISTANCE = re.compile(
    r"[’']? ?(?:\w+ ){0,2}?(?:before|after|prior|in advance|ago|later|vor|nach|avant|après|antes|después)\b",
    re.IGNORECASE,
)
"""Behind a size: it says how far from something else."""


@dataclass(frozen=True, slots=True)
class Size:
    """What lies between two figures of a unit; of one figure both are the same."""

    unit: str
    least: float
    most: float

    def is_bound_of(self, other: Size) -> bool:
        """True for more than one figure, of the unit of another size."""
        return self.unit == other.unit and self.least < self.most

    def holds(self, other: Size) -> bool:
        """True where all of another one lies within it."""
        return self.unit == other.unit and self.least <= other.least and other.most <= self.most


def sizes_of(text: str) -> Iterator[Size]:
    """The sizes of a text, but for those that say how far something is from something else: two days before."""
    for found in _SIZE.finditer(text):
        if _DISTANCE.match(text, found.end()) is not None:
            continue
        unit = next(name for name in _UNITS if found[name])
        first = _figure(found["first"])
        if found["last"] is not None:
            yield Size(unit, _above(found["least"], first), _below(found["until"], _figure(found["last"])))
        elif found["most"] is not None:
            yield Size(unit, -inf, _below(found["most"], first))
        elif found["least"] is not None or found["open"] is not None:
            yield Size(unit, _above(found["least"], first), inf)
        else:
            yield Size(unit, first, first)


def _below(words: str | None, figure: float) -> float:
    """The most that the words of an upper bound allow."""
    return nextafter(figure, -inf) if words is not None and _STRICT.fullmatch(words) else figure


def _above(words: str | None, figure: float) -> float:
    """The least that the words of a lower bound allow."""
    return nextafter(figure, inf) if words is not None and _STRICT.fullmatch(words) else figure


def _figure(written: str) -> float:
    plain = written if written.startswith("0") else re.sub(r"[.,' ](?=\d{3}(?!\d))", "", written)
    return float(plain.replace(",", "."))
