"""What goes to the terminal cannot steer it."""

import json
from collections.abc import Callable

import pytest

from agentic_rag_cli.commands.documents.ingestion import FileOutcome
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import citation_place

STEERING = "\x1b[2J\x07evil\x9b31m\r.md"


@pytest.mark.parametrize("tell", [terminal.result, terminal.note])
def test_control_characters_of_names_and_texts_are_shown_not_obeyed(
    tell: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    tell(f"READY {STEERING}\r\nنص\tcafé")
    told = "".join(capsys.readouterr())

    assert told == "READY \\x1b[2J\\x07evil\\x9b31m\\x0d.md\nنص\tcafé\n"


def test_a_cell_keeps_to_its_line_and_column() -> None:
    shown = terminal.table(("NAME", "SIZE"), [("a\nb\tc", 1), ("plain", 2)])

    assert shown.splitlines() == ["NAME     SIZE", "a\\nb\\tc  1", "plain    2"]


def test_a_file_keeps_to_its_line() -> None:
    assert FileOutcome("a\nREADY      b.md", "FAILED").line() == "FAILED     a\\nREADY      b.md"


def test_a_place_that_is_cited_keeps_to_its_line() -> None:
    cited = {"sourcePath": "a\nb.md", "page": None, "lineStart": 1, "lineEnd": 1, "headingPath": []}

    assert citation_place(cited) == "a\\nb.md, line 1"


def test_json_holds_the_text_itself_without_a_raw_control_character(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.result_json({"sourcePath": STEERING})
    told = capsys.readouterr().out

    assert json.loads(told) == {"sourcePath": STEERING}
    assert not any(character in told for character in "\x1b\x07\x9b\r")


def test_progress_is_told_in_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 0.0
    with terminal.ProgressLine("ingesting", lambda: seconds) as bar:
        for done in range(45):
            bar.update(done, 45, "a.md")
            seconds += 0.5
    told = capsys.readouterr().err

    assert told == "ingesting 20/45 a.md\ningesting 40/45 a.md\n"
