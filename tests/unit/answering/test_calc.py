from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.tools.calc import CalcError, calculate, format_value

numbers = st.integers(0, 10**6).map(lambda value: (str(value), Fraction(value))) | st.decimals(
    0, 10**4, places=3, allow_nan=False, allow_infinity=False
).map(lambda value: (f"{value:f}", Fraction(value)))


def _joined(pair: tuple[tuple[str, Fraction], tuple[str, Fraction]], sign: str) -> tuple[str, Fraction]:
    (left, a), (right, b) = pair
    value = {"+": a + b, "-": a - b, "*": a * b}[sign]
    return f"({left} {sign} {right})", value


expressions = st.recursive(
    numbers,
    lambda inner: st.builds(_joined, st.tuples(inner, inner), st.sampled_from("+-*")),
    max_leaves=8,
)


@given(expressions)
def test_equals_the_same_arithmetic_on_fractions(case: tuple[str, Fraction]) -> None:
    expression, value = case
    if len(expression) <= 200:
        assert calculate(expression) == value


@given(st.text(alphabet="0123456789.,+-*/%^() of", max_size=220))
def test_any_input_ends_in_a_value_or_a_typed_error(expression: str) -> None:
    try:
        outcome: Fraction | str = calculate(expression)
    except CalcError as error:
        outcome = error.code
    assert isinstance(outcome, Fraction) or outcome.startswith("CALC_")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("12.5 % of 48,000", "6,000"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("2 ^ 3 ^ 2", "512"),
        ("-2 ^ 2", "-4"),
        ("7 % 3", "1"),
        ("50%", "0.5"),
        ("10 % - 3", "-2.9"),
        ("1,234.5 × 2", "2,469"),
        ("10 ÷ 4", "2.5"),
        ("1/3", "≈ 0.333333333333"),
        ("2 ** 10", "1,024"),
        ("0 * 5", "0"),
        ("2 ^ -2", "0.25"),
        ("10 ^ 40", "≈ 1E+40"),
    ],
)
def test_results_are_exact_and_readable(expression: str, expected: str) -> None:
    assert format_value(calculate(expression)) == expected


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("", "CALC_SYNTAX"),
        ("2 +", "CALC_SYNTAX"),
        ("(2", "CALC_SYNTAX"),
        ("2 3", "CALC_SYNTAX"),
        ("__import__('os')", "CALC_SYNTAX"),
        ("1 / 0", "CALC_DIVISION_BY_ZERO"),
        ("0 ^ -1", "CALC_DIVISION_BY_ZERO"),
        ("1 % (2 - 2)", "CALC_DIVISION_BY_ZERO"),
        ("2 ^ 0.5", "CALC_UNSUPPORTED"),
        ("9 ^ 9 ^ 9", "CALC_TOO_LARGE"),
        ("1" * 60, "CALC_TOO_LARGE"),
        ("*".join(["9^999"] * 9), "CALC_TOO_LARGE"),
        ("(" * 90 + "1" + ")" * 90, "CALC_TOO_DEEP"),
        ("-" * 150 + "1", "CALC_TOO_DEEP"),
        ("1+" * 200 + "1", "CALC_TOO_LONG"),
    ],
)
def test_what_cannot_be_calculated_says_why(expression: str, code: str) -> None:
    with pytest.raises(CalcError) as caught:
        calculate(expression)
    assert caught.value.code == code
