"""A `.env` file that the process may not read: of a directory that is closed to it there is none, else it is told."""

import os
from pathlib import Path

import pytest

from agentic_rag.settings import SettingsInvalid, load_settings


class InAClosedDirectory(type(Path())):
    """A file of a directory that this user may not enter, such as that of root for another user."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(self))


class Unreadable(type(Path())):
    """A file that stands there and belongs to somebody else."""

    def read_text(self, *_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied", str(self))


def test_a_command_that_is_called_in_a_directory_closed_to_its_user_goes_by_the_environment(tmp_path: Path) -> None:
    found = load_settings({"AGENTIC_RAG_TOPK": "4"}, dotenv=InAClosedDirectory(tmp_path / ".env"))

    assert found.answering.top_k == 4


def test_a_file_that_cannot_be_read_is_a_problem_of_the_settings(tmp_path: Path) -> None:
    dotenv = Unreadable(tmp_path / ".env")
    dotenv.touch()

    with pytest.raises(SettingsInvalid) as invalid:
        load_settings({"AGENTIC_RAG_TOPK": "none"}, dotenv=dotenv)

    assert f"{dotenv}: cannot be read (Permission denied)" in invalid.value.problems
    assert any("AGENTIC_RAG_TOPK" in one for one in invalid.value.problems)
