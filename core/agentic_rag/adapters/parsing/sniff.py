"""`documents.ports.SniffMediaType`: judges a file by its first bytes, before the rest has arrived."""

from __future__ import annotations

from agentic_rag.adapters.parsing.file_types import FileKind, file_kind, kind_by_name
from agentic_rag.kernel.errors import ParseFailed

_ZIP = b"PK\x03\x04"
_OOXML_FIRST_ENTRIES = (b"[Content_Types].xml", b"_rels/.rels", b"word/", b"docProps/")


class ZipAwareSniffer:
    """A ZIP archive has its directory at its end, so of a DOCX only the first entries' names can be judged."""

    def __call__(self, head: bytes, file_name: str) -> str:
        if not head.startswith(_ZIP):
            return file_kind(head, file_name, None).value
        declared = kind_by_name(file_name, None)
        if declared not in (None, FileKind.DOCX):
            raise ParseFailed(
                f"the file is named as {declared.name} but is an archive: give it its own extension",
                code="PARSE_TYPE_MISMATCH",
            )
        if declared is None and not any(name in head for name in _OOXML_FIRST_ENTRIES):
            raise ParseFailed("archives other than DOCX cannot be read", code="PARSE_UNSUPPORTED")
        return FileKind.DOCX.value
