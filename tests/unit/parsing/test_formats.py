"""The table of file formats is complete: each row has a loader, a sample that it reads, and names of its own."""

from __future__ import annotations

from collections import Counter
from importlib.metadata import version

import pytest

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.file_types import FileKind, kind_by_name
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.sniffer import ZipAwareSniffer


@pytest.mark.parametrize("kind", FileKind, ids=lambda kind: kind.name)
def test_a_format_is_chosen_by_each_of_its_names_and_reads_its_sample(kind: FileKind) -> None:
    sample, name = kind.sample(), f"a.{kind.value.extensions[0]}"

    chosen, loaded = load(sample, name, None, ParserLimits())

    assert chosen is kind
    assert loaded.text.strip()
    assert loaded.blocks
    assert ZipAwareSniffer()(sample, name) == kind.value.media_type
    names = [*(f"a.{extension}" for extension in kind.value.extensions), *kind.value.file_names]
    assert {kind_by_name(one, None) for one in names} == {kind}
    assert all(version(library) for library in kind.value.libraries)


@pytest.mark.parametrize("kind", [kind for kind in FileKind if kind.value.is_binary], ids=lambda kind: kind.name)
def test_a_binary_format_is_recognised_without_a_name(kind: FileKind) -> None:
    assert load(kind.sample(), "download", None, ParserLimits())[0] is kind
    assert ZipAwareSniffer()(kind.sample(), "download") == kind.value.media_type


def test_no_two_formats_share_a_name_or_a_media_type() -> None:
    rows = [kind.value for kind in FileKind]
    names = [name for row in rows for name in (*row.extensions, *row.file_names)]
    media_types = [name for row in rows for name in (row.media_type, *row.other_media_types)]

    assert [name for name, times in Counter([*names, *media_types]).items() if times > 1] == []
