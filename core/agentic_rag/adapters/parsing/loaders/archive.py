"""ZIP: every file that can be read, under its path in the archive. Nothing is unpacked to a disk."""

from __future__ import annotations

import zipfile
from pathlib import PurePosixPath

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.office.package import open_archive, read_member, zip_parts
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import is_hidden_name, strip_unstorable

_NAME_IS_UTF8 = 0x800
"""Of a member's flags; other names are read as code page 437 (PKWARE's APPNOTE 6.3.10, appendix D)."""
SAMPLE = zip_parts({"warm.txt": "warm"})


def load(source: SourceFile) -> LoadedText:
    """The files of an archive in its order. A file that cannot be read is named with the reason.

    Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_ENCRYPTED, PARSE_CORRUPT; that of the first file when none can be
    read.
    """
    held = HeldFiles(source, TextBuilder(), "file")
    with open_archive(source.content, source.limits) as archive:
        for member in archive.infolist():
            path = _shown_path(member)
            if path is not None and not member.is_dir():
                held.add_file(str(path), path.name, lambda member=member: read_member(archive, member))
    failure = held.first_failure
    if failure is not None and held.none_was_read:
        raise ParseFailed(f"no file of the archive can be read; of the first: {failure.message}", code=failure.code)
    return held.finish(None)


def _shown_path(member: zipfile.ZipInfo) -> PurePosixPath | None:
    """Where a file lies in the archive; None for what file managers add, and for hidden files."""
    name = member.filename
    if not member.flag_bits & _NAME_IS_UTF8:
        try:
            # Many writers store UTF-8 and forget to say so.
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = member.filename
    parts = [part for part in " ".join(strip_unstorable(name).split()).replace("\\", "/").split("/") if part]
    if any(part.strip(".") and is_hidden_name(part) for part in parts):
        return None
    return PurePosixPath(*(part for part in parts if part.strip("."))) if parts else None
