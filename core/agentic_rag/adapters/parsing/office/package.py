"""Packages of XML in a ZIP archive (Office Open XML, OpenDocument, EPUB): checked before any part is read."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from posixpath import normpath
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import tidy_title
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.formatting import format_bytes

OFFICE = "http://schemas.openxmlformats.org"
"""What the namespaces of Office Open XML begin with."""
_MEBIBYTE = 1 << 20
_IS_ENCRYPTED = 1
"""Of a member's flags."""
_XML = (".xml", ".rels", ".opf", ".ncx")
_DECLARES = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
"""Office Open XML forbids document type declarations (ECMA-376 Part 2, 7.2.3); only attacks carry them. Also as
UTF-16.
"""
_DECLARES_ENTITY = re.compile(rb"<\0?!\0?E\0?N\0?T\0?I\0?T\0?Y")
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
"""Begins a namespace or a relation's type in the strict form of Open XML (ISO/IEC 29500 Part 1, annex A)."""
_TITLE_TAG = "{http://purl.org/dc/elements/1.1/}title"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    KeyError,
    ExpatError,
    ElementTree.ParseError,
)


def zip_parts(parts: Mapping[str, str]) -> bytes:
    """An archive of texts by name, in that order; a part called `mimetype` is not compressed (as EPUB wants it)."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part, zipfile.ZIP_STORED if name == "mimetype" else None)
    return made.getvalue()


def relations_part(kind: str, target: str) -> str:
    """A `.rels` part with the one relation `a` to another part of an Office document."""
    return (
        f'<Relationships xmlns="{OFFICE}/package/2006/relationships"><Relationship Id="a" Target="{target}" '
        f'Type="{OFFICE}/officeDocument/2006/relationships/{kind}"/></Relationships>'
    )


class Package:
    """The parts of a checked archive. A part that is missing raises KeyError, inside `open_package` a ParseFailed."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = frozenset(archive.namelist())

    def read(self, name: str) -> bytes:
        """A part; names of the strict form of Open XML are those of the usual form."""
        part = self._archive.read(name)
        return _STRICT.sub(rf"{OFFICE}/\1/2006/".encode(), part) if name.endswith(_XML) else part

    def tree(self, name: str) -> ElementTree.Element:
        """A part as XML. Safe: parts that declare entities were refused."""
        return ElementTree.fromstring(self.read(name))  # noqa: S314

    def with_parts(self, replaced: Mapping[str, bytes]) -> bytes:
        """The XML of the package as an archive, some parts of it replaced."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
            for one in sorted(self.names):
                if one.endswith(_XML):
                    archive.writestr(one, replaced[one] if one in replaced else self.read(one))
        return made.getvalue()

    def title(self, part: str = "docProps/core.xml") -> str | None:
        """The title among the properties of the package; None without one."""
        if part not in self.names:
            return None
        found = self.tree(part).find(f".//{_TITLE_TAG}")
        return tidy_title(found.text) if found is not None else None

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office document refers to inside the package: (type's last word, part name) by id."""
        folder, _, name = part.rpartition("/")
        listed = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
        if listed not in self.names:
            return {}
        return {
            one.get("Id", ""): (one.get("Type", "").rpartition("/")[2], _resolve(folder, one.get("Target", "")))
            for one in self.tree(listed)
            if one.get("TargetMode") != "External"
        }


@contextmanager
def open_archive(content: bytes, limits: ParserLimits) -> Generator[zipfile.ZipFile]:
    """An archive of any files, its sizes checked. Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_ENCRYPTED when
    all of it is, PARSE_CORRUPT.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_sizes(archive, limits, "archive")
            files = [one for one in archive.infolist() if not one.is_dir()]
            if files and all(one.flag_bits & _IS_ENCRYPTED for one in files):
                raise _encryption("archive")
            yield archive
    except _DAMAGE as error:
        raise ParseFailed(f"the archive is damaged: {error}", code="PARSE_CORRUPT") from error


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """A file of an archive. Errors: `ParseFailed` code PARSE_ENCRYPTED, and what zipfile raises on damage."""
    if member.flag_bits & _IS_ENCRYPTED:
        raise _encryption("file")
    return archive.read(member)


@contextmanager
def open_package(content: bytes, limits: ParserLimits, name: str, *, doctype: bool = False) -> Generator[Package]:
    """The package of a file that messages call `name`. `doctype` allows document type declarations, never entities.

    Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_ENCRYPTED, PARSE_CORRUPT.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check(archive, limits, name, _DECLARES_ENTITY if doctype else _DECLARES)
            yield Package(archive)
    except _DAMAGE as error:
        raise ParseFailed(f"the {name} is damaged: {error}", code="PARSE_CORRUPT") from error


def _check(archive: zipfile.ZipFile, limits: ParserLimits, name: str, forbidden: re.Pattern[bytes]) -> None:
    _check_sizes(archive, limits, name)
    for part in archive.infolist():
        if part.flag_bits & _IS_ENCRYPTED:
            raise _encryption(name)
        if not part.filename.endswith(_XML):
            continue
        if part.file_size > limits.zip_part_bytes:
            raise _excess(name, f"{part.filename!r} unpacks to more than {format_bytes(limits.zip_part_bytes)}")
        if forbidden.search(archive.read(part)):
            raise ParseFailed(f"{part.filename!r} declares XML entities, which {name} forbids", code="PARSE_CORRUPT")


def _check_sizes(archive: zipfile.ZipFile, limits: ParserLimits, name: str) -> None:
    parts = archive.infolist()
    if len(parts) > limits.zip_entries:
        raise _excess(name, f"it has {len(parts)} parts, {limits.zip_entries} can be read")
    if sum(part.file_size for part in parts) > limits.zip_bytes:
        raise _excess(name, f"it unpacks to more than {format_bytes(limits.zip_bytes)}")
    for part in parts:
        ratio = part.file_size // max(part.compress_size, 1)
        if part.file_size > _MEBIBYTE and part.file_size > limits.zip_ratio * max(part.compress_size, 1):
            raise _excess(name, f"{part.filename!r} unpacks to {ratio} times its size")


def _excess(name: str, why: str) -> ParseFailed:
    return ParseFailed(f"the {name} is too large: {why}", code="PARSE_TOO_LARGE")


def _encryption(name: str) -> ParseFailed:
    return ParseFailed(f"the {name} is encrypted: save it without a password", code="PARSE_ENCRYPTED")


def _resolve(folder: str, target: str) -> str:
    """The name of a part from a reference to it in a part of `folder`."""
    return target.lstrip("/") if target.startswith("/") else normpath(f"{folder}/{target}" if folder else target)
