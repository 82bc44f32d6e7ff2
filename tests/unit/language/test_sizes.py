"""Sizes with a unit, and the bounds that a text names."""

from __future__ import annotations

from math import inf, nextafter

import pytest

from agentic_rag.language.words.sizes import Size, sizes_of


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("a 12-metre boat of 3 t", [Size("m", 12, 12), Size("t", 3, 3)]),
        ("from 10 to 13 m", [Size("m", 10, 13)]),
        ("up to 1,200 kg", [Size("kg", -inf, 1200)]),
        ("over 2.5 litres", [Size("l", nextafter(2.5, inf), inf)]),
        ("17 years and older", [Size("year", 17, inf)]),
        ("zwischen 2 und 4 Wochen", [Size("week", 2, 4)]),
        ("jusqu’à 10 mètres", [Size("m", -inf, 10)]),
        ("más de 3 meses", [Size("month", nextafter(3, inf), inf)]),
        ("up to 7 days before the course", []),
        ("more than 2, up to 8 years", [Size("year", nextafter(2, inf), 8)]),
        ("14 May to 3 June, room 12", []),
        ("125 ml", []),
        ("unter 6 Jahren", [Size("year", -inf, nextafter(6, -inf))]),
        ("over 10 m, up to 13 m", [Size("m", nextafter(10, inf), 13)]),
        ("ab 6 bis unter 10 m", [Size("m", 6, nextafter(10, -inf))]),
        ("2 masts and 12 m", [Size("m", 12, 12)]),
        ("0.125 l", [Size("l", 0.125, 0.125)]),
        ("12 an hour", []),
        ("1 an", [Size("year", 1, 1)]),
    ],
)
def test_a_size_is_a_figure_with_a_unit_and_its_bounds(text: str, sizes: list[Size]) -> None:
    assert list(sizes_of(text)) == sizes


def test_a_size_holds_what_lies_within_its_bounds() -> None:
    assert Size("m", 10, 13).holds(Size("m", 12, 12))
    assert not Size("m", 10, 13).holds(Size("m", 13, inf))
    assert not Size("m", 10, 13).holds(Size("t", 12, 12))
    assert not Size("m", 12, 12).is_bound_of(Size("m", 1, 1))
