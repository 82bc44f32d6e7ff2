"""The rows that the table of `make quality` takes from the product itself: each misses when the product finds, quotes
or cites something else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from agentic_rag_eval.ablation import Arm
from agentic_rag_eval.metrics import Score, score
from agentic_rag_eval.records import AskRecord, CitedSpan, EvalQuestion, RetrievedSpan
from tests.bench.reports import Row
from tests.plants import nothing
from tests.plants.figures import rows_of
from tests.quality import __main__ as table
from tests.quality.asking import ALONE, DEFAULT, off
from tests.quality.filings import FILINGS, Filed
from tests.quality.sets import POOL, SPANS

MANY = 40
SETS = ("musique", SPANS, "clapnq")


@dataclass(frozen=True, slots=True)
class Product:
    """What it says to every question."""

    found: str = "gold"
    """The document found first."""
    span: tuple[int, int] = (0, 100)
    """Of its passage; the gold span is 40 to 60."""
    answer: str = "Ada."
    without_graph: float = 0.0
    """The figures of a retrieval without the graph."""
    filed: tuple[float, float] = (1.0, 1.0)
    """A gold filing in the first five; a figure of the reference cited."""

    def scores(self) -> list[Score]:
        question = EvalQuestion("q", "Who?", ("Ada",), ("gold",), "who", gold_spans=((40, 60),))
        record = AskRecord(
            self.answer, "GROUNDED", (CitedSpan(self.found, self.answer),), (self.found,), 1.0, 0.1, {},
            spans=(RetrievedSpan(self.found, *self.span),),
        )  # fmt: skip
        return [score(question, record, 5)] * MANY


@dataclass(frozen=True, slots=True)
class Ranking:
    """One question's ranking, whose figures are all the same."""

    value: float

    def first(self, _: int) -> Ranking:
        return self

    def figure(self, _: str) -> float:
        return self.value


async def measured(product: Product, monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """The table over three sets, the pool and the filings, by a product that says this."""

    @asynccontextmanager
    async def open_system(_: object) -> AsyncIterator[Any]:
        yield SimpleNamespace(container=SimpleNamespace(settings=SimpleNamespace(answering=SimpleNamespace(top_k=8))))

    async def answered(*_: object) -> list[Score]:
        return product.scores()

    async def ranked(*_: object) -> dict[str, list[Ranking]]:
        values = {name: 1.0 for name in (*ALONE, DEFAULT, *map(off, Arm))} | {off(Arm.GRAPH): product.without_graph}
        return {name: [Ranking(value)] * MANY for name, value in values.items()}

    async def filings(*_: object) -> Filed:
        return Filed(*((value,) * MANY for value in product.filed), (), "workspace")  # type: ignore[arg-type]

    async def nothing_found(*_: object) -> list[object]:
        return []

    def nothing_found_of(_: object) -> list[Row]:
        return []

    stand_ins = {
        "open_system": open_system, "answered": answered, "ranked": ranked, "supports_of": nothing_found,
        "abstention_rows": nothing_found_of,
        "filings": filings, "judged": nothing_found, "ingested": nothing_found, "arms_of": nothing,
        "questions_of": lambda _: product.scores()[0:0], "documents_of": nothing, "_tell": nothing,
    }  # fmt: skip
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(table, name, stand_in)
    return await table.measured(SimpleNamespace(), (*SETS, POOL, FILINGS), absolute=True)  # type: ignore[arg-type]


LIES = {
    "another document is found": (
        Product(found="other"),
        ("musique: R@5", "musique: R@10", "recall@5 against its better arm", "ndcg@10 against its better arm",
         "among wiki-distractors: R@5", "gold span inside"),
    ),
    "a passage beside the answer is found": (Product(span=(50, 200)), ("gold span inside",)),
    "another answer is given": (Product(answer="Bob."), ("gold answer in the answer",)),
    "the graph adds nothing": (Product(without_graph=1.0), ("graph on against off",)),
    "no gold filing is found": (Product(filed=(0.0, 1.0)), ("a gold filing in the top 5",)),
    "no figure is cited": (Product(filed=(1.0, 0.0)), ("a figure of the reference cited",)),
}  # fmt: skip
"""By what is wrong of the product: the rows that must miss."""


def judged(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.must != "reported"]


@pytest.mark.parametrize("lie", LIES)
async def test_the_rows_of_a_lie_miss_it(lie: str, monkeypatch: pytest.MonkeyPatch) -> None:
    product, figures = LIES[lie]

    rows = await measured(product, monkeypatch)

    held = [row.name for figure in figures for row in rows_of(judged(rows), figure) if row.ok]
    assert held == []


async def test_a_product_that_is_right_holds_every_row_and_each_has_a_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = await measured(Product(), monkeypatch)

    assert [row.name for row in rows if not row.ok] == []
    told = [figure for _, figures in LIES.values() for figure in figures]
    # `tests.plants.quality` lies to those of `grounded_rows` and `abstention_rows`.
    told += ["GROUNDED without the gold answer", "abstained though answerable"]
    names = [row.name for row in judged(rows)]
    assert [name for name in names if not any(figure in name for figure in told)] == [], "without a lie"
