"""What kind of file it is: by its bytes, by its name, and what to do when these disagree."""

from __future__ import annotations

import enum
import io
import re
import zipfile
from pathlib import PurePath

from agentic_rag.kernel.errors import ParseFailed


class FileKind(enum.Enum):
    """The kinds that have a loader; the value is the media type."""

    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    TEXT = "text/plain"
    CODE = "text/x-source"


LANGUAGES = {
    extension: language
    for language, extensions in {
        "python": "py pyi", "javascript": "js mjs cjs jsx", "typescript": "ts mts cts tsx", "java": "java",
        "kotlin": "kt kts", "scala": "scala sc", "go": "go", "rust": "rs", "c": "c h", "cpp": "cc cpp cxx hh hpp hxx",
        "csharp": "cs", "swift": "swift", "ruby": "rb rake", "php": "php", "perl": "pl pm", "lua": "lua", "r": "r",
        "julia": "jl", "haskell": "hs", "elixir": "ex exs", "erlang": "erl hrl", "clojure": "clj cljs", "dart": "dart",
        "shell": "sh bash zsh fish", "powershell": "ps1 psm1", "sql": "sql", "graphql": "graphql gql", "proto": "proto",
        "terraform": "tf hcl", "css": "css scss less", "vue": "vue", "svelte": "svelte",
        "yaml": "yaml yml", "toml": "toml", "json": "json jsonl ndjson", "xml": "xml xsd",
        "ini": "ini cfg conf properties", "makefile": "mk", "groovy": "groovy gradle",
        "zig": "zig", "nix": "nix", "ocaml": "ml mli", "fsharp": "fs fsx", "objective-c": "m mm", "assembly": "asm s",
    }.items()
    for extension in extensions.split()
}  # fmt: skip
"""Programming language by file extension."""

_LANGUAGE_BY_NAME = {
    "makefile": "makefile",
    "dockerfile": "dockerfile",
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
}
_KIND_BY_EXTENSION = {
    "pdf": FileKind.PDF,
    "docx": FileKind.DOCX,
    "html": FileKind.HTML,
    "htm": FileKind.HTML,
    "xhtml": FileKind.HTML,
    "md": FileKind.MARKDOWN,
    "markdown": FileKind.MARKDOWN,
    "mdx": FileKind.MARKDOWN,
    "mkd": FileKind.MARKDOWN,
} | dict.fromkeys(("txt", "text", "log", "csv", "tsv", "rst", "adoc", "org", "tex", "srt", "vtt", "eml"), FileKind.TEXT)
_KIND_BY_MEDIA_TYPE = {
    **{kind.value: kind for kind in FileKind if kind is not FileKind.CODE},
    "application/xhtml+xml": FileKind.HTML,
    "text/x-markdown": FileKind.MARKDOWN,
}
_BINARY_SIGNATURES = (
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf'\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"{\\rtf", "an RTF document"),
    (b"%!PS", "a PostScript document"),
    (b"SQLite format 3\x00", "a database"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_WORD_BINARY = "WordDocument".encode("utf-16-le")
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_PDF_HEADER_WITHIN = 1024
"""Readers accept junk before the header up to here (ISO 32000-1, Annex H, implementation note 13)."""
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def extension_of(file_name: str) -> str:
    """The extension in lower case, without the dot; empty when there is none."""
    return PurePath(file_name).suffix.lower().removeprefix(".")


def language_of(file_name: str) -> str | None:
    """The programming language that the name tells, or None."""
    return LANGUAGES.get(extension_of(file_name)) or _LANGUAGE_BY_NAME.get(PurePath(file_name).name.lower())


def file_kind(content: bytes, file_name: str, media_type: str | None) -> FileKind:
    """How to read `content`. PDF and DOCX are known by their bytes, whatever the name; text formats by the name.

    Raises ParseFailed: PARSE_EMPTY, PARSE_ENCRYPTED, PARSE_TYPE_MISMATCH, PARSE_UNSUPPORTED, PARSE_CORRUPT.
    """
    if not content:
        raise ParseFailed("the file is empty (0 bytes): upload it again", code="PARSE_EMPTY")
    declared = kind_by_name(file_name, media_type)
    if content.startswith(b"%PDF-") or (declared is FileKind.PDF and b"%PDF-" in content[:_PDF_HEADER_WITHIN]):
        return FileKind.PDF
    if content.startswith(b"PK\x03\x04"):
        return _zip_kind(content, declared)
    if content.startswith(_OLE):
        raise _ole_failure(content, declared)
    for signature, name in _BINARY_SIGNATURES:
        if content.startswith(signature):
            if declared is None:
                raise ParseFailed(f"the file is {name}, which cannot be read as text", code="PARSE_UNSUPPORTED")
            raise _mismatch(declared, name)
    if declared is FileKind.PDF or declared is FileKind.DOCX:
        raise _mismatch(declared, "an HTML page" if _HTML_START.match(content[:4096]) else "of another kind")
    if declared is not None:
        return declared
    if _HTML_START.match(content[:4096]):
        return FileKind.HTML
    if not content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) and _CONTROL.search(content[:8192]):
        raise ParseFailed("the file is binary and of no known kind", code="PARSE_UNSUPPORTED")
    return FileKind.TEXT


def kind_by_name(file_name: str, media_type: str | None) -> FileKind | None:
    """The kind that the name, or else the media type, promises; None when neither is known."""
    by_name = _KIND_BY_EXTENSION.get(extension_of(file_name))
    if by_name is not None:
        return by_name
    if language_of(file_name) is not None:
        return FileKind.CODE
    return _KIND_BY_MEDIA_TYPE.get((media_type or "").split(";", 1)[0].strip().lower())


def _mismatch(declared: FileKind, found: str) -> ParseFailed:
    return ParseFailed(
        f"the file is named as {declared.name} but is {found}: give it its own extension", code="PARSE_TYPE_MISMATCH"
    )


def _zip_kind(content: bytes, declared: FileKind | None) -> FileKind:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeDecodeError) as error:
        raise ParseFailed(f"the archive is damaged: {error}", code="PARSE_CORRUPT") from error
    if "[Content_Types].xml" in names and any(re.fullmatch(r"word/document\d*\.xml", name) for name in names):
        return FileKind.DOCX
    if declared is not None:
        raise _mismatch(declared, "an archive that holds no Word document")
    raise ParseFailed("archives other than DOCX cannot be read", code="PARSE_UNSUPPORTED")


def _ole_failure(content: bytes, declared: FileKind | None) -> ParseFailed:
    """OLE containers hold either an encrypted OOXML package ([MS-OFFCRYPTO] 1.3.3) or an old binary document."""
    if _ENCRYPTED_PACKAGE in content or (declared is FileKind.DOCX and _WORD_BINARY not in content):
        return ParseFailed("the document is protected by a password; save it without one", code="PARSE_ENCRYPTED")
    if declared is FileKind.DOCX:
        return _mismatch(declared, "an old binary Word document (.doc)")
    return ParseFailed("old binary Office files cannot be read: save as DOCX or PDF", code="PARSE_UNSUPPORTED")
