"""`documents.ports.SniffMediaType`: judges a file by its first bytes, before the rest has arrived."""

from __future__ import annotations

from agentic_rag.adapters.parsing.file_types import ZIP_KINDS, archive_refusal, file_kind, kind_by_name, mismatch

_ZIP = b"PK\x03\x04"


class ZipAwareSniffer:
    """A ZIP archive has its directory at its end, so its format is judged by the names of its first members."""

    def __call__(self, head: bytes, file_name: str) -> str:
        if not head.startswith(_ZIP):
            return file_kind(head, file_name, None).value.media_type
        declared = kind_by_name(file_name, None)
        if declared in ZIP_KINDS:
            return declared.value.media_type
        if declared is not None:
            raise mismatch(declared, "an archive")
        for kind in ZIP_KINDS:
            if any(member in head for member in kind.value.zip_first):
                return kind.value.media_type
        raise archive_refusal()
