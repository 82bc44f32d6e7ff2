"""`rag verify`: what it tells, and when it fails."""

from __future__ import annotations

import json

import pytest
from tests.memory_store.session.state import Tombstone
from tests.unit.cli.product import HANDBOOK, NOW, Product, Terminal, workspace

from agentic_rag.documents.document import document_id_for
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.operations.findings import RULES, finding


def test_a_sound_system_is_checked_workspace_by_workspace() -> None:
    at = Terminal(Product(known=[workspace(), workspace("reports", 2)]))

    shown = at.rag("verify", "--full")

    assert shown.exit_code == 0
    assert "handbook: ok (2 documents, 5 chunks, 5 of them computed anew, 2 originals)" in shown.stdout
    assert "reports: ok" in shown.stdout


@pytest.mark.parametrize(("kind", "code"), [("CHUNK_GAP", 1), ("VECTOR_NOT_UNIT", 0), ("DUPLICATE_DOCUMENT", 0)])
def test_only_errors_make_it_fail(kind: str, code: int) -> None:
    at = Terminal(Product(wrong=[finding(kind, "a.md")]))

    (report,) = json.loads(at.rag("verify", "--json").stdout)

    assert at.rag("verify", "--json").exit_code == code
    assert report["failed"] == bool(code)
    assert report["findings"][0]["kind"] == kind


def test_a_finding_is_told_with_its_remedy() -> None:
    at = Terminal(Product(wrong=[finding("CHUNK_GAP", "a.md")]))

    shown = at.rag("verify", "-w", "handbook").stdout

    assert "handbook: WRONG" in shown
    assert "3 in all; rag doc reingest --force DOCUMENT" in shown


def test_what_is_settling_is_told_with_the_numbers_of_its_jobs() -> None:
    at = Terminal(Product(settling=(("graph", 1), ("ingest", 12))))

    (report,) = json.loads(at.rag("verify", "--json").stdout)

    assert report["settling"] == {"graph": 1, "ingest": 12}
    assert "settling 1 graph, 12 ingest" in at.rag("verify").stdout
    assert "settling" not in Terminal(Product()).rag("verify").stdout


@pytest.mark.parametrize(("found", "kind", "code"), [(0.95, None, 0), (0.9, None, 5), (0.9, "CHUNK_GAP", 1)])
def test_recall_is_told_with_the_rest_and_has_its_own_exit_code(found: float, kind: str | None, code: int) -> None:
    at = Terminal(Product(recalled=found, wrong=[] if kind is None else [finding(kind, "a.md")]))

    shown = at.rag("verify", "--recall")
    (report,) = json.loads(at.rag("verify", "--recall", "--json").stdout)

    assert shown.exit_code == code
    assert ("LOW" in shown.stdout, report["recall"]["recall"]) == (found < 0.95, found)
    assert "recall" not in at.rag("verify").stdout


def test_recall_of_a_workspace_without_passages_is_no_failure() -> None:
    shown = Terminal(Product(recalled=None)).rag("verify", "--recall")

    assert shown.exit_code == 0
    assert "no passages to measure with" in shown.stdout


def test_a_dependency_that_is_down_is_another_exit_code() -> None:
    at = Terminal(Product(error=DependencyUnavailable("Postgres does not answer.", dependency="postgres")))

    assert at.rag("verify").exit_code == 4


def test_one_document_is_proven_erased() -> None:
    at = Terminal()
    at.product.store.committed[HANDBOOK].tombstones[document_id_for(HANDBOOK, "old.md")] = Tombstone(7, NOW, (), (), 0)

    assert "old.md: erased since" in at.rag("verify", "--document", "old.md").stdout
    assert at.rag("verify", "--document", "00000000-0000-0000-0000-000000000064").exit_code == 1


def test_every_kind_of_finding_has_a_remedy() -> None:
    assert all(rule.message and rule.remedy for rule in RULES.values())
