"""`rag ingest`: outcomes by file, exit code 3 when some failed, a worker where none runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from tests.unit.cli.product import Product, Terminal, document, nothing_to_sync

from agentic_rag.documents.document import DocumentFault, DocumentStatus
from agentic_rag.ingestion.estimate import FileEstimate
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.models.billing.embedding_cost import EmbeddingCost

FAULT = DocumentFault("PARSE_ENCRYPTED", "The file needs a password.", 1, False)


def two_files() -> Product:
    waiting = {
        "a.md": document("a.md", 1, DocumentStatus.PENDING, chunks=0),
        "b.pdf": document("b.pdf", 2, DocumentStatus.PROCESSING, chunks=0),
    }
    done = {"a.md": document("a.md", 1), "b.pdf": document("b.pdf", 2, DocumentStatus.FAILED, FAULT, chunks=0)}
    result = replace(nothing_to_sync(), new=("a.md", "b.pdf"), unchanged=4, waiting_for=(UUID(int=1), UUID(int=2)))
    return Product(result=result, progress=[waiting, done])


def test_waiting_ends_with_an_outcome_for_every_file_and_the_code_of_the_failed_one(tmp_path: Path) -> None:
    shown = Terminal(two_files()).rag("ingest", "--source", str(tmp_path), "--workspace", "handbook")

    assert shown.exit_code == 3
    assert "READY      a.md  3 chunks" in shown.stdout
    assert "FAILED     b.pdf  [PARSE_ENCRYPTED] The file needs a password." in shown.stdout
    assert "handbook: 1 ready, 1 failed, 4 unchanged" in shown.stdout
    assert shown.stderr == ""


def test_one_chunk_is_told_in_the_singular(tmp_path: Path) -> None:
    product = Product(
        result=replace(nothing_to_sync(), new=("a.md",), waiting_for=(UUID(int=1),)),
        progress=[{"a.md": document("a.md", 1, chunks=1)}],
    )

    shown = Terminal(product).rag("ingest", "--source", str(tmp_path))

    assert "READY      a.md  1 chunk\n" in shown.stdout


def test_the_json_report_has_stable_names(tmp_path: Path) -> None:
    report = json.loads(Terminal(two_files()).rag("ingest", "--source", str(tmp_path), "--json").stdout)

    assert list(report) == [
        "workspace",
        "source",
        "dryRun",
        "ready",
        "queued",
        "unchanged",
        "hidden",
        "returned",
        "deleted",
        "failed",
        "seconds",
        "files",
    ]
    assert (report["ready"], report["failed"], report["unchanged"]) == (1, 1, 4)
    assert report["files"][1] == {
        "path": "b.pdf",
        "outcome": "FAILED",
        "code": "PARSE_ENCRYPTED",
        "message": "The file needs a password.",
        "chunks": 0,
        "unread": None,
        "beside": 0,
        "recognised": 0,
    }


def test_without_waiting_files_are_reported_as_queued(tmp_path: Path) -> None:
    at = Terminal(two_files())

    shown = at.rag("ingest", "--source", str(tmp_path), "--no-wait", "--json")

    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["queued"] == 2
    assert at.workers_started == 0


@pytest.mark.parametrize(("has_worker", "started"), [(True, 0), (False, 1)])
def test_waiting_starts_a_worker_exactly_when_none_is_running(tmp_path: Path, has_worker: bool, started: int) -> None:
    product = two_files()
    product.has_worker = has_worker
    at = Terminal(product)

    at.rag("ingest", "--source", str(tmp_path), "--wait")

    assert at.workers_started == started


def test_waiting_lasts_until_deleted_files_are_gone(tmp_path: Path) -> None:
    product = Product(
        result=replace(nothing_to_sync(), deleted=("old.md",)),
        progress=[{"old.md": document("old.md", 9)}, {"old.md": document("old.md", 9)}, {}],
    )

    report = json.loads(Terminal(product).rag("ingest", "--source", str(tmp_path), "--json").stdout)

    assert report["deleted"] == 1
    assert len(product.progress) == 1


def test_missing_files_are_told_as_hidden_and_those_that_came_back_as_returned(tmp_path: Path) -> None:
    product = Product(
        result=replace(nothing_to_sync(), hidden=("old.md",), returned=("a.md",)),
        progress=[{"old.md": document("old.md", 9), "a.md": document("a.md", 1)}],
    )

    shown = Terminal(product).rag("ingest", "--source", str(tmp_path), "--delete-missing")

    assert product.confirmed == [True]
    assert "HIDDEN     old.md" in shown.stdout
    assert "RETURNED   a.md" in shown.stdout


def test_an_unreadable_file_counts_as_failed_and_a_hidden_one_does_not(tmp_path: Path) -> None:
    hidden = UnreadableItem(".git", "SOURCE_HIDDEN", "Hidden entries are left out.")
    locked = UnreadableItem("secret.md", "SOURCE_UNREADABLE", "This user may not read it.")

    fine = Terminal(Product(result=replace(nothing_to_sync(), unreadable=(hidden,))))
    partly = Terminal(Product(result=replace(nothing_to_sync(), unreadable=(hidden, locked))))

    assert fine.rag("ingest", "--source", str(tmp_path)).exit_code == 0
    shown = partly.rag("ingest", "--source", str(tmp_path))
    assert shown.exit_code == 3
    assert "UNREADABLE secret.md  [SOURCE_UNREADABLE]" in shown.stdout
    assert "SKIPPED    .git" in shown.stdout


def test_a_dry_run_says_what_it_would_do_and_makes_no_workspace(tmp_path: Path) -> None:
    product = Product(known=[], result=replace(nothing_to_sync(), new=("a.md",)))

    shown = Terminal(product).rag("ingest", "--source", str(tmp_path), "--workspace", "new", "--dry-run", "--json")

    assert shown.exit_code == 0
    assert [(file["path"], file["outcome"]) for file in json.loads(shown.stdout)["files"]] == [
        ("a.md", "NEW"),
    ]
    assert product.names() == []


def test_the_workspace_is_made_when_there_is_none(tmp_path: Path) -> None:
    product = Product(known=[])

    Terminal(product).rag("ingest", "--source", str(tmp_path), "--workspace", "reports")

    assert product.names() == ["reports"]


def test_the_default_source_is_the_setting_else_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    named = Terminal(Product(), {"AGENTIC_RAG_CORPUS_DIR": "elsewhere"})

    assert json.loads(named.rag("ingest", "--json").stdout)["source"] == "elsewhere"
    sample = Path(json.loads(Terminal().rag("ingest", "--json").stdout)["source"])
    assert (sample / "glossary.md").is_file()


def estimated() -> Product:
    space = "openai/text-embedding-3-small/1536/half"
    return Product(
        estimates=[
            FileEstimate("a.md", EmbeddingCost(space, 10, 4_000, 2, 900, 0.00008, 0.000098)),
            FileEstimate("b.pdf", None, ParseFailed("it needs a password", code="PARSE_ENCRYPTED")),
            FileEstimate("c.md", EmbeddingCost(space, 5, 1_000, 0, 0, 0.00002, 0.00002)),
        ]
    )


def test_an_estimate_tells_chunks_tokens_and_price_and_changes_nothing(tmp_path: Path) -> None:
    product = estimated()

    shown = Terminal(product).rag("ingest", "--source", str(tmp_path), "--workspace", "handbook", "--estimate")

    assert shown.exit_code == 3
    assert "15 chunks, 5000 tokens to embed, about USD 0.000100" in shown.stdout
    assert "[PARSE_ENCRYPTED] it needs a password" in shown.stdout
    assert product.dry_runs == []
    assert product.estimated_for == [product.known[0].ref]


def test_an_estimate_for_a_workspace_that_is_not_there_yet_makes_none(tmp_path: Path) -> None:
    product = estimated()

    report = json.loads(
        Terminal(product).rag("ingest", "-s", str(tmp_path), "-w", "other", "--estimate", "--json").stdout
    )

    assert product.estimated_for == [None]
    assert (report["chunks"], report["tokens"], report["reusedChunks"]) == (15, 5_000, 2)
    assert report["costUsd"] == pytest.approx(0.0001)
    assert [one["path"] for one in report["files"]] == ["a.md", "b.pdf", "c.md"]


def test_a_model_without_a_known_price_has_an_unknown_cost(tmp_path: Path) -> None:
    product = Product(estimates=[FileEstimate("a.md", EmbeddingCost("openai/own/8/half", 1, 9, 0, 0))])

    shown = Terminal(product).rag("ingest", "-s", str(tmp_path), "-w", "handbook", "--estimate")

    assert shown.exit_code == 0
    assert "price of the model not known" in shown.stdout


def test_the_folder_is_an_argument_too(tmp_path: Path) -> None:
    shown = json.loads(Terminal(two_files()).rag("ingest", str(tmp_path), "--json").stdout)
    assert shown["source"] == str(tmp_path)
    assert shown["ready"] == 1


def test_two_folders_are_refused(tmp_path: Path) -> None:
    shown = Terminal(two_files()).rag("ingest", str(tmp_path), "--source", str(tmp_path / "other"))
    assert shown.exit_code == 2
    assert "Two folders are named" in shown.stderr
