"""What counts as a wrong remedy on a bad day."""

from __future__ import annotations

import json

import pytest

from tests.chaos.rows.remedies import NOTHING, Remedies, blamed

QUEUE = json.dumps({"event": "rag_queue_unreachable", "code": "DEPENDENCY_UNAVAILABLE", "message": "TimeoutError"})
GRAPH = json.dumps({"event": "rag_graph_unreachable", "code": "GRAPH_ENDED"})


@pytest.mark.parametrize(
    ("line", "stores"),
    [
        (QUEUE, {"Redis"}),
        (GRAPH, {"Neo4j"}),
        (json.dumps({"event": "rag_lease_renewal_failed", "code": "DEPENDENCY_UNAVAILABLE"}), {"Postgres"}),
        (json.dumps({"event": "rag_lease_renewal_failed", "code": "JOB_LEASE_LOST"}), set[str]()),
        (json.dumps({"event": "rag_dispatch_failed", "message": "Redis does not answer."}), {"Redis"}),
        ("DEPENDENCY_UNAVAILABLE Postgres does not answer.", {"Postgres"}),
        ("PARSE_CORRUPT The file is damaged.", set[str]()),
    ],
)
def test_whom_a_message_blames(line: str, stores: set[str]) -> None:
    assert blamed(line) == stores


@pytest.mark.parametrize(
    ("told", "store", "wrong"),
    [
        ([QUEUE], "Redis", 0),
        ([], "", 0),
        ([], "Redis", 1),
        ([GRAPH], "Redis", 2),
        ([QUEUE, GRAPH], "Redis", 1),
        ([GRAPH], "", 1),
    ],
)
def test_a_store_that_is_away_is_named_and_no_other(told: list[str], store: str, wrong: int) -> None:
    remedies = Remedies()

    remedies.blames("away", told, store)

    assert len(remedies.wrong) == wrong


@pytest.mark.parametrize(
    ("told", "wrong"), [(NOTHING, 0), ("up: [UP_KILLED] Run `rag up` again: nothing that was stored is lost.", 1)]
)
def test_that_nothing_is_found_is_no_word_in_what_is(told: str, wrong: int) -> None:
    remedies = Remedies()

    remedies.nothing("afterwards", told)

    assert len(remedies.wrong) == wrong


@pytest.mark.parametrize(("told", "wrong"), [("redis: [A] Start it.", 0), ("redis: [A] Start it.\nneo4j: [B] See.", 1)])
def test_what_is_told_beside_the_one_fault_is_wrong(told: str, wrong: int) -> None:
    remedies = Remedies()

    remedies.only("away", told, "redis: [A] Start")

    assert len(remedies.wrong) == wrong
