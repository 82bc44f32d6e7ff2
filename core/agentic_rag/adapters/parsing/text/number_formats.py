"""Numbers as the formats of spreadsheet programs show them (ECMA-376 Part 1, 18.8.31): shares, currencies, units, words
in place of a number, and leading zeros. Thousands are not grouped, and decimals are cut of shares and amounts of money
alone.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

CURRENCY_SIGN = r"[$¢-¥฿﷼\u20a0-\u20cf]"
_CURRENCY = re.compile(rf"{CURRENCY_SIGN}|\b(?:EUR|USD|GBP|CHF|JPY)\b")
_BRACKETS = re.compile(r"\[\$([^\]\-]*)(?:-[^\]]*)?\]")
"""A currency with the language it is written in: `[$€-407]`, `[$zł-415]`; a language alone: `[$-407]`."""
_HIDDEN = re.compile(r'"[^"]*"|_.|\*.')
"""Quoted words, and the signs as wide as which a format leaves room, or with which it fills a cell."""
_ESCAPED = re.compile(r'(?:\\[^"])+')
_LITERAL = re.compile(r'"([^"]*)"')
_LITERAL_OR_CURRENCY = re.compile(rf"{_LITERAL.pattern}|{_CURRENCY.pattern}")
_DIGITS = re.compile(r"[0#?]")
_SCALED = re.compile(r"[0#?],+(?![0#?,])|\[[<>=]")
"""Number formats that show thousands as one, or numbers of some sizes only."""
_DECIMALS = re.compile(r"\.([0#?]+)")
_SECTION = re.compile(r'((?:"[^"]*"|[^;"])*)(?:;|$)')
_TAKES_THE_VALUE = re.compile(r"[0#?@]|General|[ymdhs]", re.IGNORECASE)
_FILLED = re.compile(r"(?<![.0#])(?:[0#]+(?:[ ()/-]+[0#]+)+|0{2,})")
"""Digits that are shown even where they are leading zeros, and digits in groups: post codes, telephone numbers."""
_SIGNIFICANT = 15
"""Digits that spreadsheet programs keep of a number."""
_BY_SIGN = 2
"""Sections of a format in which the second is that of numbers below zero; a third is that of zero."""


def shows_more(code: str) -> bool:
    """Whether a number format shows more than the number, or something else."""
    stated = _stated(code)
    bare = _LITERAL.sub("", stated)
    return (
        "%" in stated
        or _CURRENCY.search(stated) is not None
        or _FILLED.search(bare) is not None
        or any(_is_word(one) for one in _LITERAL.findall(stated))
    )


def number_text(value: float, code: str) -> str:
    """A number as a number format shows it: as a share, with its currency or unit, as the words that stand for it, else
    with its significant digits.
    """
    stated = _stated(code)
    words = _words_instead(value, stated)
    if words:
        return words
    first = _first_section(stated)
    positive = _LITERAL.sub("", first)
    decimals = _DECIMALS.search(positive)
    if "%" in positive and abs(value) < 10**_SIGNIFICANT:
        places = Decimal(1).scaleb(-len(decimals[1]) if decimals else 0)
        return f"{Decimal(repr(value)).scaleb(2).quantize(places, ROUND_HALF_UP):f}%"
    shown = f"{value:.{_SIGNIFICANT}g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))
    currency = next((one for one in _LITERAL_OR_CURRENCY.finditer(first) if _CURRENCY.search(one[0])), None)
    if currency is None:
        return _with_unit(_filled(shown, positive), stated)
    if decimals and float(f"{value:.{len(decimals[1])}f}") == value:
        shown = f"{value:.{len(decimals[1])}f}"
    words = (currency[1] or currency[0]).strip()
    left, right = (_LITERAL.sub("", one) for one in (first[: currency.start()], first[currency.end() :]))
    if _DIGITS.search(left) or not _DIGITS.search(right):
        return f"{shown} {words}"
    sign = "-" if shown.startswith("-") else ""
    room = " " if words[-1].isalpha() else ""
    return f"{sign}{words}{room}{shown.removeprefix('-')}"


def duration_text(value: datetime.time | datetime.timedelta) -> str:
    """A time of day or a span of time in hours, minutes and, where there are any, seconds."""
    if isinstance(value, datetime.time):
        value = datetime.timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour)
    seconds = round(abs(value.total_seconds()))
    shown = f"{seconds // 3600:02}:{seconds // 60 % 60:02}" + (f":{seconds % 60:02}" if seconds % 60 else "")
    return f"-{shown}" if value < datetime.timedelta() else shown


def _stated(code: str) -> str:
    """The format with its currencies and escaped letters as quoted words, without padding and filling."""
    quoted = _BRACKETS.sub(lambda one: f'"{one[1]}"' if one[1] else "", code)
    spaced = _HIDDEN.sub(lambda one: one[0] if one[0].startswith('"') else "", quoted)
    words = _ESCAPED.sub(lambda one: f'"{one[0].replace(chr(92), "")}"', spaced)
    return words.replace('""', "")


def _sections(code: str) -> Iterator[str]:
    return (one[1] for one in _SECTION.finditer(code) if one.start() < max(1, len(code)))


def _first_section(code: str) -> str:
    return next(_sections(code), "")


def _is_word(literal: str) -> bool:
    return any(map(str.isalpha, literal))


def _words_instead(value: float, stated: str) -> str:
    """The words that a format shows in place of a number: `"yes";"yes";"no"`."""
    sections = [*_sections(stated)]
    if any("[" in one for one in sections):
        return ""
    at = 1 if value < 0 else 2 if value == 0 else 0
    chosen = sections[at if at < len(sections) and len(sections) >= _BY_SIGN else 0] if sections else ""
    bare = _LITERAL.sub("", chosen)
    words = " ".join("".join(_LITERAL.findall(chosen)).split())
    return words if _is_word(words) and not _TAKES_THE_VALUE.search(bare) else ""


def _filled(shown: str, positive: str) -> str:
    """A whole number with the leading zeros and the groups of its format."""
    groups = _FILLED.search(positive)
    if groups is None or not shown.isdigit() or _DIGITS.search(positive.replace(groups[0], "", 1)):
        return shown
    left, written = list(shown), list[str]()
    for sign in reversed(groups[0]):
        if sign not in "0#":
            written.append(sign)
        elif left:
            written.append(left.pop())
        elif sign == "0":
            written.append("0")
    before = positive[: groups.start()] if positive[: groups.start()].strip() == "(" else ""
    return before + "".join([*left, *reversed(written)])


def _units(stated: str) -> list[str]:
    """The words that a number format shows beside every number, below zero too."""
    if _SCALED.search(stated):
        return []
    sections = [_LITERAL.findall(section) for section in _sections(stated)]
    return sections[0] if len(sections) == 1 or sections[0] == sections[1] else []


def _with_unit(shown: str, stated: str) -> str:
    """A number with the word that its format shows before or behind it."""
    units = [one for one in _units(stated) if _is_word(one) or "%" in one]
    if len(units) != 1:
        return shown
    before, _, behind = _first_section(stated).partition(f'"{units[0]}"')
    if _DIGITS.search(behind):
        return f"{units[0]}{shown}"
    return f"{shown}{' ' if before.endswith(' ') else ''}{units[0]}".strip()
