"""How tests are dealt to the workers of a parallel run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st
from tests.dealing import deal


@dataclass(frozen=True, slots=True)
class Collected:
    nodeid: str

    @property
    def file(self) -> str:
        return self.nodeid.partition("::")[0]


FOLDERS = st.sampled_from(["acceptance", "chaos", "integration/jobs", "api", "unit/language", "unit"])


@st.composite
def collections(draw: st.DrawFn) -> list[Collected]:
    """Tests as pytest collects them: file by file."""
    files = draw(st.lists(st.tuples(FOLDERS, st.integers(1, 9)), max_size=30))
    return [
        Collected(f"tests/{folder}/test_{number}.py::test_{one}")
        for number, (folder, size) in enumerate(files)
        for one in range(size)
    ]


@given(collections(), st.integers(1, 5))
def test_every_test_is_dealt_once_and_files_stay_whole(tests: list[Collected], workers: int) -> None:
    dealt = deal(tests, workers)

    assert sorted(one.nodeid for one in dealt) == sorted(one.nodeid for one in tests)
    files = [file for file, _ in groupby(one.file for one in dealt)]
    assert len(files) == len({*files})


def test_each_part_begins_with_what_waits_and_ends_with_what_computes() -> None:
    tests = [
        Collected(f"tests/{folder}/test_{number}.py::test") for folder in ("acceptance", "unit") for number in range(6)
    ]

    dealt = [one.nodeid.split("/")[1] for one in deal(tests, 3)]

    assert dealt == ["acceptance", "acceptance", "unit", "unit"] * 3
