"""Exact arithmetic for the `calc` tool: an own tokenizer and parser over fractions, never `eval`.

    expression := product (('+' | '-') product)*
    product    := signed (('*' | '/' | '%' | 'of') signed)*
    signed     := ('+' | '-') signed | power
    power      := percentage ('^' signed)?
    percentage := atom '%'?
    atom       := number | '(' expression ')'

`%` before an operand is the remainder, elsewhere "per cent" (divide by 100); `of` multiplies. Length, depth and the
size of every number are bounded, so evaluation ends at once for any input.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

from agentic_rag.kernel.errors import InvalidInput

MAX_EXPRESSION_CHARACTERS = 200
MAX_DEPTH = 32
"""Nested parentheses, signs and powers."""
MAX_DIGITS = 40
"""Digits of one number as written."""
MAX_BITS = 4096
"""Bits of any numerator or denominator on the way (about 1,230 decimal digits)."""
DISPLAY_DIGITS = 12
"""Significant digits of a result that has no short exact decimal form."""

_OPERATORS = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "\u2009": " ", "\u202f": " ", "\xa0": " "}
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)?|\.\d+)|(?P<sign>\*\*|[-+*/%^()])|(?P<of>of\b))",
    re.IGNORECASE,
)


class CalcError(InvalidInput):
    """An expression cannot be evaluated. Codes: CALC_SYNTAX, CALC_TOO_LONG, CALC_TOO_DEEP, CALC_TOO_LARGE,
    CALC_DIVISION_BY_ZERO, CALC_UNSUPPORTED."""

    code = "CALC_SYNTAX"


@dataclass(frozen=True, slots=True)
class CalcToken:
    """A number (`value` set) or a sign, at a position of the expression (code points)."""

    symbol: str
    position: int
    value: Fraction | None = None


def calculate(expression: str) -> Fraction:
    """The exact value of an arithmetic expression. Errors: `CalcError`."""
    if len(expression) > MAX_EXPRESSION_CHARACTERS:
        raise CalcError(
            f"The expression has {len(expression)} characters; at most {MAX_EXPRESSION_CHARACTERS} are calculated.",
            code="CALC_TOO_LONG",
        )
    return _Parser(_tokens(expression)).value()


def format_value(value: Fraction) -> str:
    """A value for people: exact with thousands separators when it has a short decimal form, else `≈` and 12
    significant digits.
    """
    exact = _exact_decimal(value)
    if exact is not None:
        return f"{exact:,f}"
    context = Context(prec=DISPLAY_DIGITS)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    if -DISPLAY_DIGITS < rounded.adjusted() < 2 * DISPLAY_DIGITS:
        return f"≈ {rounded.normalize(context):,f}"
    return f"≈ {rounded.normalize(context):E}"


def _exact_decimal(value: Fraction) -> Decimal | None:
    """The value as a decimal of at most 12 places and 30 digits, or None."""
    scaled = value * 10**DISPLAY_DIGITS
    if scaled.denominator != 1 or abs(scaled.numerator) >= 10**30:
        return None
    wide = Context(prec=60)
    decimal = wide.divide(Decimal(scaled.numerator), Decimal(10**DISPLAY_DIGITS))
    return wide.normalize(decimal) if decimal else Decimal(0)


def _tokens(expression: str) -> list[CalcToken]:
    text = unicodedata.normalize("NFC", expression).translate(_OPERATORS).rstrip()
    found: list[CalcToken] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise CalcError(f"“{text[position:].strip()[:20]}” is not arithmetic.")
        if match["number"]:
            found.append(CalcToken("number", match.start("number"), _number(match["number"])))
        else:
            sign = match["sign"] or "of"
            found.append(CalcToken("^" if sign == "**" else sign, match.start()))
        position = match.end()
    return found


def _number(written: str) -> Fraction:
    digits = written.replace(",", "")
    if len(digits) > MAX_DIGITS:
        raise CalcError(f"A number has more than {MAX_DIGITS} digits.", code="CALC_TOO_LARGE")
    return Fraction(f"0{digits}")


class _Parser:
    """Recursive descent over the tokens of one expression; evaluates as it goes."""

    def __init__(self, tokens: list[CalcToken]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def value(self) -> Fraction:
        if not self._tokens:
            raise CalcError("There is nothing to calculate.")
        result = self._expression()
        if self._next < len(self._tokens):
            raise CalcError(f"The expression goes on where it should end: “{self._tokens[self._next].symbol}”.")
        return result

    def _peek(self, ahead: int = 0) -> str | None:
        place = self._next + ahead
        return self._tokens[place].symbol if place < len(self._tokens) else None

    def _take(self, *signs: str) -> str | None:
        sign = self._peek()
        if sign in signs:
            self._next += 1
            return sign
        return None

    def _expression(self) -> Fraction:
        total = self._product()
        while sign := self._take("+", "-"):
            right = self._product()
            total = _check_size(total + right if sign == "+" else total - right)
        return total

    def _product(self) -> Fraction:
        result = self._unary()
        while sign := self._take("*", "/", "%", "of"):
            right = self._unary()
            if sign in ("*", "of"):
                result = _check_size(result * right)
                continue
            if right == 0:
                raise CalcError("The expression divides by zero.", code="CALC_DIVISION_BY_ZERO")
            result = _check_size(result / right if sign == "/" else result % right)
        return result

    def _unary(self) -> Fraction:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CalcError(f"The expression is nested deeper than {MAX_DEPTH} levels.", code="CALC_TOO_DEEP")
        sign = self._take("+", "-")
        result = self._unary() if sign else self._power()
        self._depth -= 1
        return -result if sign == "-" else result

    def _power(self) -> Fraction:
        base = self._percentage()
        return _raise_power(base, self._unary()) if self._take("^") else base

    def _percentage(self) -> Fraction:
        result = self._atom()
        if self._peek() == "%" and self._peek(1) not in ("number", "("):
            self._next += 1
            return result / 100
        return result

    def _atom(self) -> Fraction:
        if self._take("("):
            result = self._expression()
            if not self._take(")"):
                raise CalcError("A closing parenthesis is missing.")
            return result
        if self._take("number"):
            value = self._tokens[self._next - 1].value
            if value is not None:
                return value
        raise CalcError("A number is missing.")


def _raise_power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise CalcError("Only whole exponents are calculated exactly.", code="CALC_UNSUPPORTED")
    if base == 0 and exponent < 0:
        raise CalcError("The expression divides by zero.", code="CALC_DIVISION_BY_ZERO")
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) > MAX_BITS or size * abs(exponent) > MAX_BITS:
        raise CalcError("A power is too large to calculate.", code="CALC_TOO_LARGE")
    return base ** int(exponent)


def _check_size(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise CalcError("A number on the way grows too large to calculate.", code="CALC_TOO_LARGE")
    return value


def calc(expression: str) -> str:
    """`expression = value`, exact where a short decimal is. Errors: `CalcError`."""
    value = format_value(calculate(expression))
    return f"{expression} ≈ {value[2:]}" if value.startswith("≈ ") else f"{expression} = {value}"
