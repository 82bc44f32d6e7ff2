"""`rag embeddings`."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.cli.product import Product, Terminal, job, space

from agentic_rag.jobs.job import JobState
from agentic_rag.models.embedding.recall_gate import RecallComparison
from agentic_rag.models.embedding.space import SpaceState

TO = ("embeddings", "switch", "--to", "openai:m:8")


def test_spaces_are_listed_with_their_progress() -> None:
    shown = Terminal().rag("embeddings", "list").stdout

    assert "openai/m/8/half  FILLING  1/3" in shown


def test_status_shows_the_switch_under_way() -> None:
    both = [space(SpaceState.RETIRED, 3), space(SpaceState.FILLING, 2)]

    rows = json.loads(Terminal(Product(space_looks=[both])).rag("embeddings", "status", "--json").stdout)

    assert [(row["state"], row["done"], row["total"]) for row in rows] == [("FILLING", 2, 3)]


def test_a_switch_begins_and_returns() -> None:
    terminal = Terminal()

    assert "FILLING" in terminal.rag(*TO).stdout
    assert terminal.workers_started == 0


def test_waiting_ends_when_the_workspace_answers_in_the_space() -> None:
    looks = [[space(SpaceState.FILLING, 1)], [space(SpaceState.ACTIVE, 3)]]
    product = Product(space_looks=looks, stored_jobs=[job(JobState.RUNNING)], has_worker=False)
    terminal = Terminal(product)

    done = terminal.rag(*TO, "--wait")

    assert (done.exit_code, terminal.workers_started) == (0, 1)
    assert "ACTIVE  3/3" in done.stdout


@pytest.mark.parametrize(("code", "exit_code"), [("SWITCH_GATE_REFUSED", 5), ("PROVIDER_KEY_REJECTED", 1)])
def test_a_job_that_gives_up_ends_the_wait_with_its_code(code: str, exit_code: int) -> None:
    dead = replace(job(JobState.DEAD), error_code=code, error_message="Why it ended.")
    product = Product(space_looks=[[space(SpaceState.FILLING, 1)]], stored_jobs=[dead])

    ended = Terminal(product).rag(*TO, "--wait")

    assert ended.exit_code == exit_code
    assert f"error [{code}]: Why it ended." in ended.stderr


def test_a_gate_is_read_from_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "1", "question": "who?", "gold_ids": ["a.md"]}\n')
    product = Product()

    Terminal(product).rag(*TO, "--gate", str(tmp_path / "gold.jsonl"), "--gate-k", "3")

    [gate] = product.gates
    assert gate is not None
    assert ([one.gold for one in gate.questions], gate.k) == ([("a.md",)], 3)


def test_a_missing_data_set_is_a_usage_error(tmp_path: Path) -> None:
    assert Terminal().rag(*TO, "--gate", str(tmp_path / "none.jsonl")).exit_code == 2


def test_a_verdict_is_shown_with_both_numbers() -> None:
    refused = space(SpaceState.ABANDONED, 3, RecallComparison(8, 40, 0.9, 0.75, passed=False))

    shown = Terminal(Product(space_looks=[[refused]])).rag("embeddings", "list").stdout

    assert "recall@8 0.9000 -> 0.7500 (refused)" in shown


def test_a_switch_is_called_off() -> None:
    assert "ABANDONED" in Terminal().rag("embeddings", "cancel").stdout
