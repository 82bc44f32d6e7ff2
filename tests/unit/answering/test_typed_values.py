"""Figures with powers and marks of notes: equal ones are equal, a note is no digit."""

import pytest

from agentic_rag.answering.extraction.typed_values import ValueKind, find_values
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
    ("text", "kind", "parts"),
    [
        ("Die Miete beträgt 1.234,50 € im Monat.", ValueKind.FIGURE, ("eur", 1234.5)),
        ("Le loyer est de 1 234,50 € par mois.", ValueKind.FIGURE, ("eur", 1234.5)),
        ("O aluguel é de R$ 1.234,50 por mês.", ValueKind.FIGURE, ("noun por", 1234.5)),
        ("Die Frist beträgt zwei Wochen.", ValueKind.FIGURE, ("duration", 1209600.0)),
        ("Срок составляет две недели.", ValueKind.FIGURE, ("duration", 1209600.0)),
        ("The share is 30 per cent.", ValueKind.FIGURE, ("share", 30.0)),
        ("La part est de 30 pour cent.", ValueKind.FIGURE, ("share", 30.0)),
        ("La cuota es del 30 por ciento.", ValueKind.FIGURE, ("share", 30.0)),
        ("Udział wynosi 30 procent.", ValueKind.FIGURE, ("share", 30.0)),
        ("Доля составляет 30 процентов.", ValueKind.FIGURE, ("share", 30.0)),
        ("La boutique ouvre à 14h30.", ValueKind.TIME, (870.0,)),
        ("Die Halle öffnet um 9 Uhr.", ValueKind.TIME, (540.0,)),
        ("Die Halle öffnet um 9 Uhr 15.", ValueKind.TIME, (555.0,)),
        ("De winkel opent om 14.30 uur.", ValueKind.TIME, (870.0,)),
        ("店は午後2時30分に開きます。", ValueKind.TIME, (870.0,)),
        ("店は午前9時に開きます。", ValueKind.TIME, (540.0,)),
        ("商店下午2点半开门。", ValueKind.TIME, (870.0,)),
        ("O contrato termina em 1º de maio de 2024.", ValueKind.DATE, (2024.0, 5.0, 1.0)),
    ],
)
def test_money_shares_times_and_days_as_their_language_writes_them(
    text: str, kind: ValueKind, parts: tuple[str | float, ...]
) -> None:
    (value,) = [one for one in find_values(text) if one.kind is not ValueKind.NAME]

    assert (value.kind, value.parts) == (kind, parts)


@pytest.mark.parametrize(
    "text", ["作業は2時間かかります。", "The pump runs for 14 h a day.", "Room 9 h is shut.", "Le train 1430 part."]
)
def test_what_is_no_time_of_day_is_none(text: str) -> None:
    assert not [one for one in find_values(text) if one.kind is ValueKind.TIME]


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
