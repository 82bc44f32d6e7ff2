"""`rag explain` and `rag doc chunks`: what a person sees, and what a script can rely on."""

from __future__ import annotations

import json
from uuid import UUID

from tests.unit.cli.product import HANDBOOK, Product, Terminal, reached

from agentic_rag.kernel.public_ids import NodeKind, encode

RUN_ID = encode(NodeKind.RUN, HANDBOOK.workspace_id, UUID(int=500))
CHUNK_ID = encode(NodeKind.CHUNK, HANDBOOK.workspace_id, UUID(int=777))


def terminal() -> Terminal:
    return Terminal(Product(answers={"Who trained her?": reached()}), {})


def test_every_candidate_is_a_row_with_its_rank_in_each_arm_and_its_fate() -> None:
    shown = terminal().rag("explain", RUN_ID)

    assert shown.exit_code == 0
    assert "Q: Who trained her?\nGROUNDED, read at corpus version 7\n" in shown.stdout
    rows = [line.split("  ") for line in shown.stdout.splitlines()]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert ["1", "0.800", "–", "#1 0.500", "#2 0.800", "cited [1]", "Policy"] in cells
    assert ["2", "0.700", "–", "–", "–", "below the cut", "Policy"] in cells


def test_the_trail_that_raised_a_candidate_is_told_in_one_line() -> None:
    shown = terminal().rag("explain", RUN_ID)

    assert "Raised by trails:\n  1  Staff list —names→ Oona Pellgrave —shares “Umea” with→ Policy\n" in shown.stdout


def test_a_passage_that_was_expected_is_told_where_it_stands_in_each_arm() -> None:
    shown = terminal().rag("explain", RUN_ID, "--why-not", CHUNK_ID)

    assert "Why not “Old policy”? Rank 23 of 60.\n" in shown.stdout
    assert shown.stdout.splitlines()[-1].split("  ")[0] == "#23 0.105"
    assert "#71 0.210 (too low)" in shown.stdout


def test_the_field_names_of_the_json_explanation_are_stable() -> None:
    found = json.loads(terminal().rag("explain", RUN_ID, "--why-not", CHUNK_ID, "--json").stdout)

    assert list(found) == ["runId", "question", "outcome", "corpusVersion", "searches", "candidates", "whyNot"]
    assert list(found["candidates"][0]) == [
        "rank", "chunkId", "sourceId", "title", "score", "scores", "path", "fate", "reason", "markers",
    ]  # fmt: skip
    assert list(found["whyNot"][0]) == ["chunkId", "title", "verdict", "explanation", "candidate", "searches"]
    assert found["whyNot"][0]["searches"][0]["scores"][0] == {
        "retriever": "DENSE",
        "state": "BEYOND",
        "rank": 71,
        "raw": 0.21,
        "normalized": 0.21,
        "weight": 0.35,
    }
    assert found["candidates"][0]["path"][0]["kind"] == "NAMES"


def test_a_candidate_asked_about_comes_with_its_story() -> None:
    candidate = encode(NodeKind.CHUNK, HANDBOOK.workspace_id, UUID(int=300))

    found = json.loads(terminal().rag("explain", RUN_ID, "--why-not", candidate, "--json").stdout)

    assert (found["whyNot"][0]["verdict"], found["whyNot"][0]["candidate"]["fate"]) == ("CANDIDATE", "CITED")


def test_an_unknown_run_and_a_malformed_id_are_told_apart() -> None:
    unknown = terminal().rag("explain", encode(NodeKind.RUN, HANDBOOK.workspace_id, UUID(int=1)))
    malformed = terminal().rag("explain", RUN_ID, "--why-not", RUN_ID)

    assert (unknown.exit_code, malformed.exit_code) == (1, 2)
    assert "RUN_NOT_FOUND" in unknown.stderr
    assert "INVALID_ID" in malformed.stderr


def test_the_passages_of_a_document_are_listed_with_the_ids_that_explain_takes() -> None:
    shown = terminal().rag("doc", "chunks", "policy.md")
    found = json.loads(terminal().rag("doc", "chunks", "policy.md", "--containing", "FEES  apply", "--json").stdout)

    first = encode(NodeKind.CHUNK, HANDBOOK.workspace_id, UUID(int=300))
    assert f"{first}  line 12  The audit is signed." in shown.stdout
    assert [one["text"] for one in found] == ["Fees\napply."]
    assert list(found[0]) == ["id", "sourceId", "page", "lineStart", "lineEnd", "headingPath", "text"]
