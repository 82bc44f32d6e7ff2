import json
from dataclasses import replace
from pathlib import Path

import pytest
from eval.training.fit_support import SupportSet
from eval.training.support_sets import NEAREST, KeptAnswers, read_set

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.support_calibration import AskedSupport

ASKED = SupportSet("rivers", (AskedSupport(0.7, answerable=True, signs=(0.5, 1.0), certainty=(0.25,), kind="who"),))


def _write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty lakes, of which the first twenty are about depth, and ten questions about the depth of the first ones."""
    texts = [f"Lake {at} has a depth of {at} metres." if at < 20 else f"Isle {at} is wooded." for at in range(40)]
    _write(tmp_path / "corpus.jsonl", [{"id": f"d{at}", "title": "", "text": text} for at, text in enumerate(texts)])
    asked = [{"id": f"q{at}", "question": f"What depth has lake {at}?", "gold_ids": [f"d{at}"]} for at in range(10)]
    nobody = {"id": "q10", "question": "What depth has lake 99?", "gold_ids": [], "answerable": False}
    _write(tmp_path / "queries.dev.jsonl", [*asked, nobody])
    return tmp_path


def test_a_set_is_some_questions_spread_over_all_with_their_documents_and_the_nearest_others(folder: Path) -> None:
    found = read_set(str(folder), 2)

    assert [one.question_id for one in found.known] == ["q0", "q5"]
    held = {one.document_id for one in found.documents}
    assert {"d0", "d5"} <= held
    assert 2 < len(held) <= 2 + 3 * NEAREST
    assert not any(one.text.startswith("Isle") for one in found.documents)


def test_each_question_with_documents_is_also_asked_without_them(folder: Path) -> None:
    asked = read_set(f"lakes={folder / 'corpus.jsonl'},{folder / 'queries.dev.jsonl'}", 2).all

    assert [(one.gold_ids, one.without) for one in asked] == [
        (("d0",), ()), (("d5",), ()), ((), ("d0",)), ((), ("d5",)), ((), ()),
    ]  # fmt: skip


def test_a_folder_without_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds 0 files"):
        read_set(str(tmp_path), 2)


def test_what_was_asked_is_kept_for_the_same_questions_and_embedder_alone(tmp_path: Path) -> None:
    kept = KeptAnswers(tmp_path / "asked" / "rivers.json", "onnx 60")
    assert kept.load("rivers") is None

    kept.save(ASKED)

    assert kept.load("rivers") == ASKED
    assert replace(kept, made_with="onnx 90").load("rivers") is None
