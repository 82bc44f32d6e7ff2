"""The `calc` tool: exact arithmetic over fractions, for questions that are nothing but arithmetic.

An expression is rewritten to Python's syntax and parsed by `ast`; only the nodes of `_evaluate` are allowed. Numbers
become names, so that Python reads none of them; parentheses become brackets, so that they count towards the depth. `%`
before an operand is the remainder, elsewhere "per cent" (written as an attribute, which binds closest); `of`
multiplies. Length, depth and the size of every number are bounded, so evaluation ends at once for any input.
"""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import ClassVar

from agentic_rag.answering.answer import Abstention, AbstentionReason, Outcome
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import NO_DURATION, AnswerType, ToolCall, ToolRequest
from agentic_rag.answering.run_state import Ending, RunState, StageResult
from agentic_rag.answering.state_machine import StageEvent
from agentic_rag.answering.tools.tool import Tool
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

_LEAD = re.compile(
    r"^(?:please\s+)?(?:what(?:'s| is| are| does)|how much (?:is|are)|calculate|compute|evaluate|work out|solve)\s+"
    r"(?:the (?:result|value|sum|product) of\s+)?",
    re.IGNORECASE,
)
_WORDS = tuple(
    (re.compile(pattern, re.IGNORECASE), sign)
    for pattern, sign in (
        (r"\bplus\b", "+"),
        (r"\bminus\b", "-"),
        (r"\b(?:multiplied by|times)\b|(?<=\d)\s*x\s*(?=\d)", "*"),
        (r"\b(?:divided by|over)\b", "/"),
        (r"\b(?:to the power of|raised to)\b", "^"),
        (r"\b(?:per ?cent|percent)\b", "%"),
        (r"\bsquared\b", "^2"),
    )
)
_HINT = re.compile(r"[\d)%]|cent\b|squared\b", re.IGNORECASE)
"""Every operation has one of these before it: a question without any is no arithmetic."""
_ARITHMETIC = re.compile(r"^[\d.,\s+*/%^()×÷·−–-]*(?:\bof\b[\d.,\s+*/%^()×÷·−–-]*)*$", re.IGNORECASE)
_OPERATION = re.compile(r"[\d)%]\s*(?:[-+*/^×÷·−–]|%\s*(?:of\b)?)\s*[-(\d.]")
_DATE_LIKE = re.compile(r"^\s*(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}\s*[-/–]\s*\d{2,4})\s*$")

_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "\u2009": " ", "\u202f": " ", "\xa0": " "})
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:\.\d+)?|\.\d+)|(?P<sign>\*\*|[-+*/%^()])|(?P<of>of\b))",
    re.IGNORECASE,
)
INCOMPLETE = "The expression is incomplete: a number, an operator or a parenthesis is missing."
_PYTHON = MappingProxyType({"(": "[", ")": "]", "^": "**"})


class CalcError(InvalidInput):
    """An expression cannot be evaluated. Codes: CALC_SYNTAX, CALC_TOO_LONG, CALC_TOO_DEEP, CALC_TOO_LARGE,
    CALC_DIVISION_BY_ZERO, CALC_UNSUPPORTED."""

    code = "CALC_SYNTAX"


class Calc(Tool):
    """Answers a question by its value, or abstains with the reason."""

    name: ClassVar[str] = "calc"
    answer_type: ClassVar[AnswerType | None] = AnswerType.CALCULATION

    def wanted(self, question: str) -> tuple[str, ...]:
        """The expression of a question that is all arithmetic."""
        expression = find_arithmetic(question)
        return () if expression is None else (expression,)

    async def run(self, request: ToolRequest, state: RunState, reads: LazySnapshot, seconds: float) -> StageResult:
        """The state with `expression = value` as its ending."""
        expression = request.argument
        try:
            value = format_value(calculate(expression))
        except CalcError as error:
            call = ToolCall(self.name, expression, None, error.code, NO_DURATION)
            abstention = Abstention(AbstentionReason.POLICY, error.message)
            ending, outcome = Ending("", Outcome.ABSTAINED, abstention=abstention), error.code
        else:
            text = f"{expression} {value}" if value.startswith("≈ ") else f"{expression} = {value}"
            call = ToolCall(self.name, expression, text, None, NO_DURATION)
            ending, outcome = Ending(text, Outcome.GROUNDED), "ok"
        retrieved = replace(state.retrieved, tool_calls=(call,))
        return StageResult(replace(state, retrieved=retrieved, ending=ending), StageEvent.FINISH, outcome)


def find_arithmetic(question: str) -> str | None:
    """The expression when the whole question is arithmetic, else None."""
    if _HINT.search(question) is None:
        return None
    text = _LEAD.sub("", question.strip()).rstrip(" ?=.!")
    for word, sign in _WORDS:
        text = word.sub(f" {sign} ", text)
    text = re.sub(r"\s+", " ", text).strip()
    if len(text) > MAX_EXPRESSION_CHARACTERS and _ARITHMETIC.match(text[:MAX_EXPRESSION_CHARACTERS]) is None:
        return None
    if _ARITHMETIC.match(text) is None or _OPERATION.search(text) is None or _DATE_LIKE.match(text):
        return None
    return text


def calculate(expression: str) -> Fraction:
    """The exact value of an arithmetic expression. Errors: `CalcError`."""
    if len(expression) > MAX_EXPRESSION_CHARACTERS:
        raise CalcError(
            f"The expression has {len(expression)} characters; at most {MAX_EXPRESSION_CHARACTERS} are calculated.",
            code="CALC_TOO_LONG",
        )
    numbers: list[Fraction] = []
    source = _to_python(expression, numbers)
    if not source:
        raise CalcError("There is nothing to calculate.")
    try:
        return _evaluate(ast.parse(source, mode="eval").body, numbers, 1)
    except SyntaxError as error:
        raise CalcError(_explain_syntax(source)) from error
    except ZeroDivisionError as error:
        raise CalcError("The expression divides by zero.", code="CALC_DIVISION_BY_ZERO") from error


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


def _to_python(expression: str, numbers: list[Fraction]) -> str:
    """The expression in Python's syntax. Its numbers go to `numbers`; `n3` stands for the fourth."""
    text = unicodedata.normalize("NFC", expression).translate(_SIGNS).rstrip()
    pieces: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise CalcError(f"“{text[position:].strip()[:20]}” is not arithmetic.")
        position = match.end()
        if match["number"]:
            pieces.append(f"n{len(numbers)}")
            numbers.append(_number(match["number"]))
        elif match["of"]:
            pieces.append("*")
        elif match["sign"] == "%" and pieces and pieces[-1][0] in "n]" and not _starts_operand(text, position):
            pieces.append(".percent")
        else:
            pieces.append(_PYTHON.get(match["sign"], match["sign"]))
    return " ".join(pieces)


def _explain_syntax(source: str) -> str:
    if source.split()[-1][0] not in "n].":
        return "A number is missing."
    return "A closing parenthesis is missing." if source.count("[") > source.count("]") else INCOMPLETE


def _starts_operand(text: str, position: int) -> bool:
    following = _TOKEN.match(text, position)
    return following is not None and (bool(following["number"]) or following["sign"] == "(")


def _number(written: str) -> Fraction:
    digits = written.replace(",", "")
    if len(digits) > MAX_DIGITS:
        raise CalcError(f"A number has more than {MAX_DIGITS} digits.", code="CALC_TOO_LARGE")
    return Fraction(f"0{digits}")


def _evaluate(node: ast.expr, numbers: Sequence[Fraction], depth: int) -> Fraction:
    """The value of an allowed node. Errors: `CalcError`, `ZeroDivisionError`."""
    if depth > MAX_DEPTH:
        raise CalcError(f"The expression is nested deeper than {MAX_DEPTH} levels.", code="CALC_TOO_DEEP")
    match node:
        case ast.Name(id=name):
            return numbers[int(name[1:])]
        case ast.Attribute(value=inner):
            return _evaluate(inner, numbers, depth) / 100
        case ast.List(elts=[inner]):
            return _evaluate(inner, numbers, depth + 1)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _evaluate(inner, numbers, depth + 1)
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_evaluate(inner, numbers, depth + 1)
        case ast.BinOp(left=left, op=sign, right=right):
            first = _evaluate(left, numbers, depth)
            second = _evaluate(right, numbers, depth + isinstance(sign, ast.Pow))
            return _check_size(_OPERATIONS[type(sign)](first, second))
        case _:
            raise CalcError(INCOMPLETE)


def _raise_power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1:
        raise CalcError("Only whole exponents are calculated exactly.", code="CALC_UNSUPPORTED")
    if base == 0 and exponent < 0:
        raise ZeroDivisionError
    size = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) > MAX_BITS or size * abs(exponent) > MAX_BITS:
        raise CalcError("A power is too large to calculate.", code="CALC_TOO_LARGE")
    return base ** int(exponent)


_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = MappingProxyType(
    {
        ast.Add: lambda left, right: left + right,
        ast.Sub: lambda left, right: left - right,
        ast.Mult: lambda left, right: left * right,
        ast.Div: lambda left, right: left / right,
        ast.Mod: lambda left, right: left % right,
        ast.Pow: _raise_power,
    }
)


def _check_size(value: Fraction) -> Fraction:
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise CalcError("An intermediate result is too large to calculate.", code="CALC_TOO_LARGE")
    return value
