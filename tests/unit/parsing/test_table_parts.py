"""Tables as text in parts that each say what their rows mean."""

from __future__ import annotations

from agentic_rag.adapters.parsing.text.table_text import count_names, table_parts


def test_a_part_that_begins_within_a_section_repeats_its_label() -> None:
    rows = [
        ("Cost", "2021", "2022"),
        ("Harbour:", "", ""),
        *((f"Crane {at} " + "x" * 80, "1", "2") for at in range(20)),
    ]

    parts = [text.split("\n") for _, _, text in table_parts(rows, 1)]

    assert len(parts) > 1
    assert all(part[:3] == ["Cost | 2021 | 2022", "--- | --- | ---", "| Harbour: |  |  |"] for part in parts)
    assert sum(len(part) - 3 for part in parts) == 20


def test_a_sum_closes_its_section() -> None:
    rows = [
        ("Cost", "2021", "2022"), ("Harbour:", "", ""), ("Total harbour", "1", "2"),
        *((f"Crane {at} " + "x" * 80, "1", "2") for at in range(20)),
    ]  # fmt: skip

    last = [text for _, _, text in table_parts(rows, 1)][-1]

    assert "Harbour:" not in last


def test_an_empty_corner_above_labels_makes_the_first_row_names() -> None:
    sizes = [("", "Fitted", "Flat"), ("Twin", "39x75x16", "71x98"), ("Full", "54x75x16", "86x98")]

    assert count_names(sizes) == 1
    assert count_names([("Bed", "Fitted", "Flat"), *sizes[1:]]) == 0
