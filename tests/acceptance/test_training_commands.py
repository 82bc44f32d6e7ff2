"""What is learned can be learned again, by anyone with questions: the scripts run from nothing but two folders."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from eval.training.gate_set import TIMES
from tests.programs import run
from tests.stack import open_home

from agentic_rag.answering.evidence.answerability import AnswerabilityFeatures
from agentic_rag.retrieval.graph.multi_hop import StepWeights
from agentic_rag_eval.gate_cases import CaseKind, load_cases

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "server", "worker", "cli", "eval", "migrations")

pytestmark = [pytest.mark.integration, pytest.mark.slow]

RIVERS = {
    "Elbow": "The Elbow rises at Lake Tern and ends in the Gull Sea.",
    "Lake Tern": "Lake Tern was surveyed by Ida Holm in 1911.",
    "Ida Holm": "Ida Holm was born in Varde and drew maps for forty years.",
    "Varde": "Varde is a town of 9,000 people known for its brick kilns.",
}
SHIPS = {
    "Petrel": "The Petrel was built in Skagen for the captain Otto Brandt.",
    "Otto Brandt": "Otto Brandt sailed around Iceland with his sister Klara Brandt.",
    "Klara Brandt": "Klara Brandt founded the museum of Ribe.",
    "Ribe": "Ribe is the oldest town of the country and lies on the Ribe river.",
}


def folder_of(home: Path, name: str, texts: dict[str, str], asked: dict[str, tuple[str, list[str]]]) -> Path:
    """A set as users bring their own: documents, and questions with the documents that answer them."""
    folder = home / name
    folder.mkdir()
    documents = [{"id": title, "title": title, "text": text} for title, text in texts.items()]
    questions = [
        {"id": f"{name}-{number}", "question": question, "answers": [answer], "gold_ids": gold, "type": "bridge"}
        for number, (question, (answer, gold)) in enumerate(asked.items())
    ]
    for file, rows in (("corpus.jsonl", documents), ("queries.jsonl", questions)):
        (folder / file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    folder = open_home("agentic-rag-train-")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def sets(home: Path) -> tuple[Path, Path]:
    rivers = {
        "Where was the person born who surveyed Lake Tern?": ("Varde", ["Lake Tern", "Ida Holm"]),
        "In which year was the lake surveyed where the Elbow rises?": ("1911", ["Elbow", "Lake Tern"]),
    }
    ships = {
        "Who was the captain of the Petrel?": ("Otto Brandt", ["Petrel"]),
        "Which museum did the sister of Otto Brandt found?": ("museum of Ribe", ["Otto Brandt", "Klara Brandt"]),
    }
    return folder_of(home, "rivers", RIVERS, rivers), folder_of(home, "ships", SHIPS, ships)


def environment(home: Path) -> dict[str, str]:
    """It names no server."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "AGENTIC_RAG_HOME": str(home / "home"),
        "PYTHONPATH": os.pathsep.join(str(ROOT / package) for package in (*PACKAGES, "")),
    }


def run_module(home: Path, module: str, *arguments: str) -> Any:
    """What a module prints as JSON."""
    command = [sys.executable, "-m", module, *arguments]
    ran = run(command, cwd=home, env=environment(home), text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_ranker_is_fitted_to_folders_and_tried_on_the_one_left_out(home: Path, sets: tuple[Path, Path]) -> None:
    out = home / "ranker.json"
    given = ("--set", str(sets[0]), "--set", str(sets[1]))

    fitted = run_module(home, "eval.training.train_ranker", *given, "--out", str(out), "--json")

    assert json.loads(out.read_text()) == fitted
    assert set(fitted["sets"]) == {"rivers", "ships"}
    assert fitted["weights"].keys() == asdict(StepWeights()).keys()
    assert all(0 <= one["left_out"]["recall5"] <= 1 for one in fitted["figures"].values())


def test_support_is_fitted_to_folders_and_tried_on_the_one_left_out(home: Path, sets: tuple[Path, Path]) -> None:
    out, keep = home / "support.json", home / "asked"
    rivers, ships = sets
    named = f"ships={ships / 'corpus.jsonl'},{ships / 'queries.jsonl'}"
    given = ("--set", str(rivers), "--set", named, "--keep", str(keep))

    fitted = run_module(home, "eval.training.train_support", *given, "--out", str(out), "--json")

    assert json.loads(out.read_text()) == fitted
    assert fitted["weights"].keys() == AnswerabilityFeatures.__dataclass_fields__.keys()
    assert fitted["left_out"].keys() == {"rivers", "ships"}
    assert sorted(one.name for one in keep.iterdir()) == ["rivers.json", "ships.json"]


def test_the_cases_of_the_gate_are_asked_under_every_condition(home: Path, sets: tuple[Path, Path]) -> None:
    out = home / "cases"
    given = ("--set", str(sets[0]), "--set", str(sets[1]), "--out", str(out))

    told = run_module(home, "eval.training.gate_set", *given)

    assert told.keys() == {"rivers", "ships"}
    for name in told:
        cases = load_cases(out / f"{name}.jsonl")
        by_id = {one.case_id: one for one in cases}
        assert told[name] == {"cases": 8, "need_search": sum(one.needs_search for one in cases)}
        for place, question in enumerate((f"{name}-0", f"{name}-1")):
            inside, in_time, missing, stale = (by_id[f"{question}:{kind.value}"] for kind in CaseKind)
            assert inside.answered
            assert (missing.answered, missing.answered_outside) == (False, inside.answered_outside)
            assert missing.signals["sufficiency"] < inside.signals["sufficiency"]
            assert (stale.answered, stale.answered_outside) == (False, in_time.answered_outside)
            assert in_time.signals["freshness"] == 1
            assert stale.signals["freshness"] < 0.1, (TIMES[place], question)
