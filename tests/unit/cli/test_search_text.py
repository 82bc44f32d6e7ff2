"""What `rag search` prints of a passage for a person."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag_cli.commands.answering.search import passages_text

STEERING = "looks written to steer a model"


def found(**more: Any) -> dict[str, Any]:
    passage = {"title": "Cranes", "sourcePath": "cranes.md", "lineStart": 1, "lineEnd": 3, "page": None, "url": None}
    passage |= {"score": 0.5, "similarity": 0.8, "flags": [], "recognised": False, "text": "Lifts nine tonnes."}
    return {"passages": [passage | more], "degraded": []}


@pytest.mark.parametrize("flags", [["INSTRUCTION"], ["INSTRUCTION", "EXFILTRATION"]], ids=len)
def test_a_passage_that_wants_to_steer_a_model_is_marked_before_its_words(flags: list[str]) -> None:
    shown = passages_text(found(flags=flags))

    assert f"{STEERING}: {', '.join(flags)}" in shown
    assert shown.index(STEERING) < shown.index("Lifts nine tonnes.")


def test_an_ordinary_passage_has_no_mark() -> None:
    assert STEERING not in passages_text(found())
