"""Names of the months and of the days of the week."""

from __future__ import annotations

import re

MONTH_NAMES = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]

_WEEKDAYS = (
    ("monday", "montag", "lundi", "lunes", "mon", "mo"),
    ("tuesday", "dienstag", "mardi", "martes", "tue", "di"),
    ("wednesday", "mittwoch", "mercredi", "miércoles", "wed", "mi"),
    ("thursday", "donnerstag", "jeudi", "jueves", "thu", "do"),
    ("friday", "freitag", "vendredi", "viernes", "fri", "fr"),
    ("saturday", "samstag", "samedi", "sábado", "sat", "sa"),
    ("sunday", "sonntag", "dimanche", "domingo", "sun", "so"),
)
"""In English, German, French and Spanish, then short forms, which name a day only in a span of days: Mon–Fri."""
_NUMBERS = {name: number for number, names in enumerate(_WEEKDAYS) for name in names}
_DAY = "|".join(name for *names, _, _ in _WEEKDAYS for name in names)
_SHORT = "|".join(name.capitalize() for *_, english, german in _WEEKDAYS for name in (english, german))
_WEEKDAY = re.compile(rf"\b({_DAY})s?\b", re.IGNORECASE)
_SPANS_OF_DAYS = (
    re.compile(rf"\b({_DAY})s? ?(?:[–-]|to|through|until|bis|au|à|al?) ?({_DAY})s?\b", re.IGNORECASE),
    re.compile(rf"\b({_SHORT})\.? ?[–-] ?({_SHORT})\b"),
)


def weekdays_of(text: str) -> frozenset[int]:
    """The days of the week that a text names, Monday as 0, those within a span of days too: Tuesday to Friday."""
    found = {_NUMBERS[one[1].lower()] for one in _WEEKDAY.finditer(text)}
    for span in (one for form in _SPANS_OF_DAYS for one in form.finditer(text)):
        first, last = (_NUMBERS[day.lower()] for day in span.groups())
        found.update((first + day) % 7 for day in range((last - first) % 7 + 1))
    return frozenset(found)
