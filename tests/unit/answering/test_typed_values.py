"""Figures with powers and marks of notes: equal ones are equal, a note is no digit."""

import pytest

from agentic_rag.answering.extraction.typed_values import find_values
from agentic_rag.answering.verification.claim_support import find_unsupported


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("The fee is 40¹ euros.", ("eur", 40.0)),
        ("It is 10⁶ m long.", ("length", 1e6)),
        ("It is 10^6 m long.", ("length", 1e6)),
        ("It is 5 × 10⁻⁹ m long.", ("length", 5e-9)),
        ("It holds 2.5·10³ l.", ("volume", 2500.0)),
        ("It holds 7 m³.", ("volume", 7000.0)),
        ("It holds 7 m3.", ("volume", 7000.0)),
        ("It holds 10⁹⁹⁹ l.", ("volume", 1e300)),
        ("It is 10 m long.", ("length", 10.0)),
    ],
)
def test_a_figure_with_its_power(text: str, parts: tuple[str, float]) -> None:
    (value,) = find_values(text)

    assert value.parts[0] == parts[0]
    assert value.parts[1] == pytest.approx(parts[1])


@pytest.mark.parametrize(
    ("claim", "source", "guardrail"),
    [
        ("The fee is 401 euros.", "The fee is 40¹ euros.", "figure_not_in_source"),
        ("The fee is 40 euros.", "The fee is 40¹ euros.", None),
        ("Flow is 10 m³/h.", "Flow is 10⁶ m³/h.", "figure_not_in_source"),
        ("Flow is 106 m³/h.", "Flow is 10⁶ m³/h.", "figure_not_in_source"),
        ("Flow is 10⁹ m³/h.", "Flow is 10⁶ m³/h.", "figure_not_in_source"),
        ("Flow is 10⁶ m³/h.", "Flow is 10⁶ m³/h.", None),
    ],
)
def test_a_claim_about_such_a_figure(claim: str, source: str, guardrail: str | None) -> None:
    assert find_unsupported(claim, source, ()) == guardrail
