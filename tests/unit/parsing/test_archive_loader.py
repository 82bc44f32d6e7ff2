"""ZIP: files under their paths, and what is told of those that cannot be read."""

from __future__ import annotations

import io
import zipfile
from uuid import UUID

import pytest

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.chunking import chunk_document
from agentic_rag.documents.document import BlockKind, ParsedDocument
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.workspaces.chunk_profiles import DEFAULT_PROFILE


def read(content: bytes, name: str = "a.zip") -> LoadedText:
    return load(content, name, None, ParserLimits())[1]


def headings(loaded: LoadedText) -> list[tuple[int, str]]:
    return [(b.level, loaded.text[b.start : b.end]) for b in loaded.blocks if b.kind is BlockKind.HEADING]


def zipped(parts: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return made.getvalue()


def test_each_file_stands_under_its_path_with_its_own_headings() -> None:
    inner = zip_parts({"deep/b.md": "# Winch\n\nGrease it."})
    loaded = read(zipped({"notes/": b"", "notes/a.html": b"<h1>Lamp</h1><p>Light it.</p>", "in.zip": inner}))

    assert headings(loaded) == [(0, "notes/a.html"), (2, "Lamp"), (0, "in.zip"), (1, "deep/b.md"), (3, "# Winch")]
    assert loaded.text.endswith("Grease it.")
    assert (loaded.parts, loaded.unread_pages) == (2, ())


def test_a_file_that_cannot_be_read_is_told_and_counted() -> None:
    inner = zipped({"c.txt": b"Grease it.", "d.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"})
    loaded = read(zipped({"a.txt": b"Light it.", "b.docx": b"PK\x03\x04 cut", "in.zip": inner}))

    assert "Light it." in loaded.text
    assert "This file was not read: the DOCX is damaged" in loaded.text
    assert "Grease it." in loaded.text
    assert (loaded.parts, loaded.unread_pages) == (3, (2, 3))


def test_an_archive_of_which_nothing_can_be_read_fails_as_its_first_file() -> None:
    with pytest.raises(ParseFailed) as refused:
        read(zipped({"a.docx": b"PK\x03\x04 cut", "b.txt": b""}))

    assert refused.value.code == "PARSE_CORRUPT"


def test_names_are_shown_as_they_are_meant_and_never_as_a_way_out() -> None:
    loaded = read(
        zipped({
            "../../up.txt": b"one", "/etc/two.txt": b"two", "b\\c.txt": b"three",
            "__MACOSX/._x": b"no", ".hidden": b"no",
        })
    )  # fmt: skip
    unstated = zipped({"gr\u00fcn.txt": b"four"}).replace(b"\x00\x08", b"\x00\x00")

    assert headings(loaded) == [(0, "up.txt"), (0, "etc/two.txt"), (0, "b/c.txt")]
    assert headings(read(unstated)) == [(0, "gr\u00fcn.txt")]


def test_a_chunk_never_holds_two_files_and_its_heading_path_names_the_file() -> None:
    loaded = read(zip_parts({"a/first.md": "# Winch\n\nGrease it.", "b/second.txt": "Light it."}))
    parsed = ParsedDocument(loaded.text, loaded.blocks, (), None, "application/zip", "p", "1")
    chunks = chunk_document(UUID(int=1), parsed, DEFAULT_PROFILE, len)

    assert [(one.heading_path, one.text.split("\n")[-1]) for one in chunks] == [
        (("a/first.md",), "Grease it."),
        (("b/second.txt",), "Light it."),
    ]
