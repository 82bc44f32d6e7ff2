"""Raised and lowered letters in plain text: written beside a number as it stands, a power or the mark of a note would
become a part of it (10⁶ would be 106).
"""

from __future__ import annotations

import re
from enum import Enum

_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_BRACKETED = re.compile(r"(?:\[[^\[\]\s]{1,8}\],?)+")
_PRIMES = frozenset({"′", "″", "‴", "*", "†"})
_LONGEST = 12
"""Letters of a power or a mark; more are a text in small print."""


class Shift(Enum):
    """Where letters stand beside the line."""

    RAISED = "^"
    LOWERED = "_"


def shifted_text(text: str, shift: Shift, before: str) -> str:
    """Letters beside the line, after the text `before`. Words and the figures of formulas such as H2O stay as they are;
    what Unicode has no signs for stands in brackets. A raised mark such as [1] is left out: answers have marks of their
    own like it.
    """
    inner = text.strip()
    if shift is Shift.RAISED and _BRACKETED.fullmatch(inner) is not None:
        return ""
    if not any(letter.isdigit() or letter == "n" for letter in inner) or len(inner) > _LONGEST or " " in inner:
        return text
    table = _RAISED if shift is Shift.RAISED else _LOWERED
    if shift is Shift.LOWERED and not before[-1:].isdigit():
        return text
    if all(ord(letter) in table for letter in inner):
        return text.translate(table)
    return text if inner.isalpha() else f"{shift.value}({inner})"


def formula_shift(text: str, shift: Shift) -> str:
    """A power or an index in a formula: as Unicode's signs where it has them all, else behind `^` or `_`."""
    inner = text.strip()
    table = _RAISED if shift is Shift.RAISED else _LOWERED
    if not inner or inner in _PRIMES:
        return inner
    if all(ord(letter) in table for letter in inner):
        return inner.translate(table)
    return f"{shift.value}{inner}" if inner.isalnum() else f"{shift.value}({inner})"
