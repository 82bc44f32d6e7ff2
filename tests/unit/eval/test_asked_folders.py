"""What is trained on: every answer stands in its document, and an answer is worth what it says and quotes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eval.training.asked_folders import RIGHT, AskedQuestion, whole_folders
from eval.training.reader.data import FOREIGN, JUDGES, READ, SINGLE, UNREAD, WORKPLACE, folders_of

FOLDERS = [
    *(WORKPLACE / part for part in SINGLE),
    *(one for part in (READ, UNREAD, JUDGES, FOREIGN) for one in folders_of(WORKPLACE / part)),
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda one: one.name)
def test_answers_and_what_is_near_stand_in_their_document(folder: Path) -> None:
    texts = {one.name: one.read_text(encoding="utf-8") for one in folder.glob("*.md")}

    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert (row["kind"] == "not_stated") is (not row["answers"]), row["question"]
        for one in (*row["answers"], *filter(None, [row.get("near")])):
            assert one in texts[row["document"]], row["question"]


def asked(*answers: str, value: str = "", limit: int = 2) -> AskedQuestion:
    return AskedQuestion("store", "When?", None, answers, value, limit)


def test_an_answer_is_right_where_all_is_quoted_within_what_a_reader_bears_with() -> None:
    one = asked("The store opens at nine.", value="nine")
    two = asked("1. Lift the lid.", "2. Press the key.", limit=4)

    assert one.worth("The store opens at nine.", ["The store opens at nine."]) == RIGHT
    assert one.worth("The store opens at nine. It is new. Dogs wait outside.", ["The store opens at nine."]) == 1
    assert one.worth("The store closes.", ["The store closes."]) == 0
    assert two.worth("Lift the lid.", ["1. Lift the lid."]) == 1
    assert two.worth("Lift the lid. Press the key.", ["1. Lift the lid.", "2. Press the key."]) == RIGHT


def test_what_lacks_the_value_is_no_answer() -> None:
    one = asked("Vans cost 40 on weekdays and 60 on Sundays.", value="60 on Sundays")

    assert one.worth("Vans cost 40 on weekdays.", ["Vans cost 40 on weekdays and"]) == 0


def test_nothing_is_right_where_nothing_is_stated() -> None:
    assert not asked().is_answerable
    assert asked().worth("The store opens at nine.", ["The store opens at nine."]) == 0


def test_a_folder_is_copied_without_its_questions(tmp_path: Path) -> None:
    folder, questions = next(whole_folders(UNREAD, tmp_path))

    assert {one.suffix for one in folder.iterdir()} == {".md"}
    assert {one.is_answerable for one in questions} == {True, False}
