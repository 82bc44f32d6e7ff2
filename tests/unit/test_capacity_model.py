"""The capacity model finds what made its points, and tells those that it was not shown."""

import json
from pathlib import Path

import pytest
from tests.bench.capacity import HELD_BACK, POINTS, CapacityModel, LoadPoint, SizePoint, check, fit, read_points

TRUE = CapacityModel(wait=0.02, base=0.01, per_chunk=5e-7, chunk_bytes=3_000.0)
LOADS = [
    LoadPoint(chunks, clients, TRUE.answers_per_second(chunks, clients))
    for chunks in (1_000, 10_000, 40_000)
    for clients in (1, 16, 256)
]
SIZES = [SizePoint(chunks, 5_000_000 + 3_000 * chunks) for chunks in (1_000, 10_000, 40_000)]


def test_the_parts_of_a_known_machine_are_found() -> None:
    found = fit(LOADS, SIZES)

    assert found.answers_per_second(20_000, 64) == pytest.approx(TRUE.answers_per_second(20_000, 64))
    assert (found.wait, found.base, found.per_chunk) == pytest.approx((TRUE.wait, TRUE.base, TRUE.per_chunk))
    assert found.chunk_bytes == pytest.approx(3_000)
    assert found.most_answers_per_second(10_000) == pytest.approx(1 / 0.015)


def test_no_part_is_negative() -> None:
    falling = [LoadPoint(one.chunks, one.clients, 50.0 + one.chunks / 1_000) for one in LOADS]

    found = fit(falling, SIZES)

    assert min(found.wait, found.base, found.per_chunk) >= 0


def test_points_that_are_held_back_are_told_within_a_quarter() -> None:
    _, told = check()

    assert {(one.point.chunks, one.point.clients) for one in told} == HELD_BACK
    assert max(abs(one.error) for one in told) <= 0.25


def test_the_model_does_not_know_the_points_that_are_held_back(tmp_path: Path) -> None:
    changed = tmp_path / "points.jsonl"
    lines = [json.loads(line) for line in POINTS.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if (line["chunks"], line.get("clients")) in HELD_BACK:
            line["answers_per_second"] *= 3
    changed.write_text("\n".join(map(json.dumps, lines)))

    model, told = check(changed)

    assert model == check()[0]
    assert min(abs(one.error) for one in told) > 0.25


def test_a_rate_is_brought_to_the_usual_pace(tmp_path: Path) -> None:
    made = tmp_path / "points.jsonl"
    rates = [(10.0, 0.2), (20.0, 0.1), (20.0, 0.1)]
    lines = [{"chunks": 1, "clients": 1, "answers_per_second": rate, "pace": pace} for rate, pace in rates]
    made.write_text("\n".join(map(json.dumps, lines)))

    [point], _ = read_points(made)

    assert point.answers_per_second == pytest.approx(20)
