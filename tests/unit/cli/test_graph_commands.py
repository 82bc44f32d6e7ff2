"""`rag graph`: where the graph stands, in words, JSON and exit codes."""

from __future__ import annotations

import json

import pytest
from tests.unit.cli.product import Product, Terminal

from agentic_rag.operations.graph.projection import GraphCounts
from agentic_rag.operations.graph.sync import GraphStatus

COUNTS = GraphCounts(sources=1, chunks=3, entities=5, mentions=8, related=2)
EQUAL = GraphStatus(True, 7, 7, COUNTS, COUNTS)
BEHIND = GraphStatus(True, 7, 5, COUNTS, GraphCounts(1, 2, 4, 6, 1))
DIFFERENT = GraphStatus(True, 7, 7, COUNTS, GraphCounts(1, 3, 5, 8, 1))
DOWN = GraphStatus(True, 7, 5, COUNTS, fault="[DEPENDENCY_UNAVAILABLE] Neo4j does not answer.")


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (GraphStatus(False, 7, 7, COUNTS), 0, "postgres  7   7   sources 1, chunks 3"),
        (EQUAL, 0, "equal"),
        (BEHIND, 3, "chunks 2 of 3"),
        (DIFFERENT, 3, "related 1 of 2  differs"),
        (DOWN, 4, "[DEPENDENCY_UNAVAILABLE]"),
    ],
)
def test_status_says_how_far_the_graph_is(status: GraphStatus, code: int, words: str) -> None:
    shown = Terminal(Product(graph=status)).rag("graph", "status")

    assert shown.exit_code == code
    assert words in shown.stdout


def test_status_in_json_holds_both_counts_and_the_lag() -> None:
    [row] = json.loads(Terminal(Product(graph=BEHIND)).rag("graph", "status", "--json").stdout)

    assert (row["workspace"], row["store"], row["lag"], row["equal"]) == ("handbook", "neo4j", 2, False)
    assert (row["expected"]["chunks"], row["held"]["chunks"]) == (3, 2)


def test_a_rebuild_names_its_job_and_a_graph_in_postgres_needs_none() -> None:
    outside = json.loads(Terminal(Product(graph=BEHIND)).rag("graph", "rebuild", "--json").stdout)
    inside = Terminal(Product()).rag("graph", "rebuild")

    assert outside["jobId"]
    assert (inside.exit_code, "nothing to rebuild" in inside.stdout) == (0, True)
