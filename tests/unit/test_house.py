"""The measures of `make house` miss what is planted for them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.bench.reports import ROOT
from tests.house import shape
from tests.house.__main__ import shape_rows

CORE = Path("core/agentic_rag")


def tree(root: Path, files: dict[str, str]) -> list[shape.Source]:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return shape.product_sources(root)


def test_the_folder_with_most_files_is_named(tmp_path: Path) -> None:
    sources = tree(tmp_path, {f"{CORE}/kernel/part{number}.py": "" for number in range(19)})

    assert shape.largest_folder(sources) == (f"{CORE}/kernel", 19)


def test_a_core_file_outside_the_rooms_is_found(tmp_path: Path) -> None:
    sources = tree(tmp_path, {f"{CORE}/helpers.py": "", f"{CORE}/__init__.py": "", f"{CORE}/kernel/text.py": ""})

    assert shape.outside_rooms(sources) == [f"{CORE}/helpers.py"]


def test_a_cycle_through_a_lazy_import_is_found_and_a_type_only_one_is_none(tmp_path: Path) -> None:
    lazy = "def load() -> None:\n    from agentic_rag.kernel import second\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from agentic_rag.kernel import fourth\n"
    sources = tree(
        tmp_path,
        {
            f"{CORE}/kernel/first.py": lazy,
            f"{CORE}/kernel/second.py": "import agentic_rag.kernel.first\n",
            f"{CORE}/kernel/third.py": typed,
            f"{CORE}/kernel/fourth.py": "import agentic_rag.kernel.third\n",
        },
    )

    assert shape.import_cycles(sources) == [["agentic_rag.kernel.first", "agentic_rag.kernel.second"]]


def test_long_files_and_long_functions_are_found(tmp_path: Path) -> None:
    long = "def run() -> None:\n" + "    print()\n" * 60
    sources = tree(tmp_path, {f"{CORE}/jobs/run.py": long, f"{CORE}/jobs/list.py": "x = 1\n" * 401})

    assert shape.long_functions(sources) == [f"{CORE}/jobs/run.py:1 run"]
    assert shape.long_files(sources) == [f"{CORE}/jobs/list.py: 401"]


def test_protocols_and_settings_are_counted(tmp_path: Path) -> None:
    sources = tree(
        tmp_path,
        {
            f"{CORE}/jobs/ports.py": "class Store(Protocol): ...\nclass Maker(Protocol[T]): ...\nclass Job: ...\n",
            f"{CORE}/settings/jobs.py": 'lease: Annotated[int, Env("AGENTIC_RAG_LEASE")] = 1\n',
        },
    )

    assert [name.split()[-1] for name in shape.protocols(sources)] == ["Store", "Maker"]
    assert shape.settings(sources) == ["AGENTIC_RAG_LEASE"]


@pytest.mark.parametrize(
    ("name", "is_participle"),
    [("_told", True), ("read_stored", True), ("embed", False), ("is_published", True), ("store_read", False)],
)
def test_participles_are_told_from_verbs(name: str, is_participle: bool) -> None:
    assert shape.is_participle_name(name) is is_participle


def test_a_class_name_that_stands_twice_is_found(tmp_path: Path) -> None:
    twice = "class Progress: ...\nclass _Part: ...\n"
    sources = tree(tmp_path, {f"{CORE}/jobs/job.py": twice, f"{CORE}/models/ports.py": twice})

    assert shape.repeated_classes(sources) == ["Progress"]


@pytest.mark.slow
def test_this_checkout_holds_every_limit_of_its_shape() -> None:
    missed = [f"{row.name}: {row.measured}, must be {row.must}" for row in shape_rows(ROOT) if not row.ok]

    assert not missed, "\n".join(missed)
