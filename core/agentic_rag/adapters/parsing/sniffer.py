"""The format of a file by its first bytes."""

from __future__ import annotations

from agentic_rag.adapters.parsing.file_types import (
    OLE,
    OPEN_PACKAGE,
    ZIP,
    ZIP_KINDS,
    FileKind,
    archive_refusal,
    extension_of,
    file_kind,
    kind_by_name,
    mismatch,
)
from agentic_rag.adapters.parsing.scans.picture_types import picture_type


class ZipAwareSniffer:
    """`documents.ports.SniffMediaType`: judges a file by its first bytes, before the rest has arrived. A ZIP archive
    has its directory at its end, so its format is judged by the names of its first members. `takes_pictures`: the words
    of pictures are recognised.
    """

    def __init__(self, *, takes_pictures: bool = False) -> None:
        self._takes_pictures = takes_pictures

    def __call__(self, head: bytes, file_name: str) -> str:
        declared = kind_by_name(file_name, None)
        if self._takes_pictures and declared is None and (picture := picture_type(head)) is not None:
            return picture
        if head.startswith(OLE) and declared is FileKind.OUTLOOK:
            # Its streams are named in a directory that may stand at the end.
            return declared.value.media_type
        if not head.startswith(ZIP):
            return file_kind(head, file_name, None).value.media_type
        if declared in ZIP_KINDS:
            return declared.value.media_type
        if declared is not None:
            raise mismatch(declared, "an archive")
        for kind in ZIP_KINDS:
            if any(member in head for member in kind.value.zip_first):
                return kind.value.media_type
        if OPEN_PACKAGE in head:
            return FileKind.DOCX.value.media_type
        if extension_of(file_name):
            raise archive_refusal()
        return FileKind.ZIP.value.media_type
