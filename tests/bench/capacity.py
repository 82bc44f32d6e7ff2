"""The capacity model: answers a second by size of a workspace and number of clients, and bytes by chunks.

`python -m tests.bench.capacity` fits it to tests/bench/capacity.jsonl, prints what it says of the points that were held
back, and what it says of 100 million and 10 billion chunks. No server runs.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np

POINTS = Path(__file__).with_name("capacity.jsonl")
HELD_BACK = frozenset({(10_000, 64), (100_000, 4), (1_000_000, 16)})
"""Sizes and clients that the model is not fitted to."""


@dataclass(frozen=True, slots=True)
class LoadPoint:
    """Uncached answers of one server process."""

    chunks: int
    clients: int
    answers_per_second: float


@dataclass(frozen=True, slots=True)
class SizePoint:
    """A database that has grown by the chunks of one workspace."""

    chunks: int
    database_bytes: int


@dataclass(frozen=True, slots=True)
class CapacityModel:
    """C clients get C / (wait + C x (base + per_chunk x chunks)) answers a second: what the answers take of the machine
    queues, what they wait for beside it does not. Seconds, and bytes.
    """

    wait: float
    base: float
    per_chunk: float
    chunk_bytes: float

    def answers_per_second(self, chunks: int, clients: int) -> float:
        """Of one process, whose workspace has that many chunks."""
        return clients / (self.wait + clients * (self.base + self.per_chunk * chunks))

    def most_answers_per_second(self, chunks: int) -> float:
        """However many clients ask."""
        return 1 / (self.base + self.per_chunk * chunks)


def read_points(path: Path = POINTS) -> tuple[list[LoadPoint], list[SizePoint]]:
    """The measured points, those of one size and number of clients together. A line has the seconds that a fixed piece
    of work took beside it: a rate is brought to the pace of the median.
    """
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rates = [line for line in lines if "answers_per_second" in line]
    usual = median(line["pace"] for line in rates)
    by_place: dict[tuple[int, int], list[float]] = {}
    for line in rates:
        by_place.setdefault((line["chunks"], line["clients"]), []).append(
            line["answers_per_second"] * line["pace"] / usual
        )
    sizes = [SizePoint(line["chunks"], line["database_bytes"]) for line in lines if "database_bytes" in line]
    return [LoadPoint(*place, mean(found)) for place, found in by_place.items()], sizes


def fit(loads: Sequence[LoadPoint], sizes: Sequence[SizePoint]) -> CapacityModel:
    """Least squares of relative errors. A part that comes out negative is left out, and the others are fitted again."""
    terms = np.array([[1.0, one.clients, one.clients * one.chunks] for one in loads])
    took = np.array([one.clients / one.answers_per_second for one in loads])
    used = [0, 1, 2]
    while True:
        found, *_ = np.linalg.lstsq(terms[:, used] / took[:, None], np.ones(len(loads)), rcond=None)
        if found.min() >= 0:
            break
        used.pop(int(found.argmin()))
    parts = np.zeros(3)
    parts[used] = found
    grown = np.array([[one.chunks, 1.0] for one in sizes])
    by_chunk, _ = np.linalg.lstsq(grown, np.array([one.database_bytes for one in sizes], dtype=float), rcond=None)[0]
    return CapacityModel(float(parts[0]), float(parts[1]), float(parts[2]), float(by_chunk))


def is_held_back(point: LoadPoint) -> bool:
    """Whether the model must not know the point."""
    return (point.chunks, point.clients) in HELD_BACK


@dataclass(frozen=True, slots=True)
class Foretold:
    """A point that was held back, and what the model says of it."""

    point: LoadPoint
    said: float

    @property
    def error(self) -> float:
        """Share by which it is off."""
        return self.said / self.point.answers_per_second - 1


def check(path: Path = POINTS) -> tuple[CapacityModel, list[Foretold]]:
    """The model fitted to all points but those held back, and what it says of these. Errors: ValueError."""
    loads, sizes = read_points(path)
    model = fit([one for one in loads if not is_held_back(one)], sizes)
    told = [Foretold(one, model.answers_per_second(one.chunks, one.clients)) for one in loads if is_held_back(one)]
    if len(told) != len(HELD_BACK):
        raise ValueError(f"{path.name} lacks points that are held back")
    return model, told


def main() -> None:
    """Print it."""
    model, told = check()
    print(model)
    for one in told:
        print(f"{one.point}: the model says {one.said:.1f}/s, {100 * one.error:+.0f} %")
    for chunks in (1_000, 10_000, 100_000, 1_000_000):
        print(f"{chunks:,} chunks a workspace: at most {model.most_answers_per_second(chunks):.1f} answers/s a process")
    for chunks in (10**8, 10**10):
        print(f"{chunks:,} chunks: {chunks * model.chunk_bytes / 2**40:,.2f} TiB of Postgres")


if __name__ == "__main__":
    main()
