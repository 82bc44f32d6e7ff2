"""The table of file formats, and the choice of a format by a file's bytes and name.

A new format is one row of `FileKind` and one module in `loaders` that defines `load` and `SAMPLE`.
"""

from __future__ import annotations

import enum
import importlib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Protocol, cast

from agentic_rag.adapters.parsing.nesting import Nesting
from agentic_rag.adapters.parsing.office.flat_files import refuse_flat
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.scans.picture_types import PICTURES, picture_type
from agentic_rag.adapters.parsing.scans.recognised import RecognisedPage
from agentic_rag.adapters.parsing.text.encoding import decode_stated
from agentic_rag.adapters.parsing.text.mail_text import is_mail
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.language.programming import LANGUAGE_BY_EXTENSION, LANGUAGE_BY_NAME, SOURCE_MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to load. `page_read` is called for every page of a PDF that gave text. `careful`: an earlier try ended the
    process that read it, so no native library looks at it. `is_web_page`, `charset`: those of `documents.ports.Parser`.
    """

    content: bytes
    name: str
    limits: ParserLimits
    page_read: Callable[[], None] | None = None
    careful: bool = False
    nesting: Nesting = field(default_factory=Nesting)
    is_web_page: bool = False
    charset: str = ""
    recognised: Mapping[int, RecognisedPage | None] | None = None
    """What was recognised on pages that are pictures, by their numbers from 1; None for one on which the engine failed.
    None: nobody recognises any.
    """

    @property
    def text(self) -> str:
        """The decoded content with line feeds as line breaks."""
        return strip_unstorable(decode_stated(self.content, self.charset)).replace("\r\n", "\n").replace("\r", "\n")


class LoaderModule(Protocol):
    """A module of `loaders`."""

    def load(self, source: SourceFile) -> LoadedText:
        """Read a file. Errors: `ParseFailed`; what libraries raise on damaged files passes through."""
        ...


@dataclass(frozen=True, slots=True)
class FileFormat:
    """How files of a format are named, recognised and read."""

    media_type: str
    module: str
    """The loader's module, imported only by the process that reads files."""
    extensions: tuple[str, ...]
    """Extensions in lower case; the first names the sample."""
    file_names: tuple[str, ...] = ()
    """Whole file names in lower case."""
    other_media_types: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    """Distributions whose version decides what text comes out."""
    signature: bytes | None = None
    """The bytes that files of the format begin with."""
    mark: bytes | None = None
    """What stands anywhere in them besides, where other formats begin with the same bytes."""
    zip_members: tuple[str, ...] = ()
    """For ZIP archives: patterns of members that every file has."""
    zip_first: tuple[bytes, ...] = ()
    """For ZIP archives: what stands near the start: names of members, or the content of `mimetype`."""
    zip_type: bytes | None = None
    """For ZIP archives: the content of the member `mimetype`."""
    is_prose: bool = True
    holds_files: bool = False
    """Whether files of any format lie in it."""
    sample: str = "SAMPLE"
    """The name of the sample in the loader's module: formats may share a loader."""

    @property
    def is_binary(self) -> bool:
        """Whether the bytes alone tell the format."""
        return self.signature is not None or bool(self.zip_members)


PDF_SIGNATURE = b"%PDF-"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SIGNATURE_WITHIN = 1024
"""PDF readers accept junk before the header up to here (ISO 32000-1, Annex H, implementation note 13)."""
_OFFICE_OPEN = "application/vnd.openxmlformats-officedocument"


def open_document(extension: str, name: str) -> FileFormat:
    """A format of OpenDocument; the member `mimetype` tells them apart."""
    media_type = f"application/vnd.oasis.opendocument.{name}"
    return FileFormat(
        media_type,
        "open_document",
        (extension,),
        zip_members=("mimetype", r"META-INF/manifest\.xml", r"content\.xml"),
        zip_first=(f"mimetype{media_type}".encode(),),
        zip_type=media_type.encode(),
        sample=f"{name.upper()}_SAMPLE",
    )


class FileKind(enum.Enum):
    """The formats that can be read."""

    PDF = FileFormat("application/pdf", "pdf", ("pdf",), libraries=("pypdf", "pypdfium2"), signature=PDF_SIGNATURE)
    DOCX = FileFormat(
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "docx",
        ("docx",),
        libraries=("mammoth",),
        zip_members=(r"\[Content_Types\]\.xml", r"word/document\d*\.xml"),
        zip_first=(b"word/",),
    )
    XLSX = FileFormat(
        f"{_OFFICE_OPEN}.spreadsheetml.sheet",
        "workbook",
        ("xlsx", "xlsm"),
        other_media_types=("application/vnd.ms-excel.sheet.macroenabled.12",),
        libraries=("python-calamine",),
        zip_members=(r"\[Content_Types\]\.xml", r"xl/workbook\.xml"),
        zip_first=(b"xl/",),
    )
    PPTX = FileFormat(
        f"{_OFFICE_OPEN}.presentationml.presentation",
        "slides",
        ("pptx", "pptm", "ppsx"),
        other_media_types=(
            "application/vnd.ms-powerpoint.presentation.macroenabled.12",
            f"{_OFFICE_OPEN}.presentationml.slideshow",
        ),
        zip_members=(r"\[Content_Types\]\.xml", r"ppt/presentation\.xml"),
        zip_first=(b"ppt/",),
    )
    ODT = open_document("odt", "text")
    ODS = open_document("ods", "spreadsheet")
    ODP = open_document("odp", "presentation")
    EPUB = FileFormat(
        "application/epub+zip",
        "epub",
        ("epub",),
        libraries=("selectolax",),
        zip_members=("mimetype", r"META-INF/container\.xml"),
        zip_first=(b"mimetypeapplication/epub+zip",),
        zip_type=b"application/epub+zip",
    )
    ZIP = FileFormat(
        "application/zip",
        "archive",
        ("zip",),
        other_media_types=("application/x-zip-compressed",),
        zip_members=(r".+",),
        holds_files=True,
    )
    """Any files, of none of the formats above."""
    RTF = FileFormat(
        "application/rtf",
        "rich_text",
        ("rtf",),
        other_media_types=("text/rtf",),
        libraries=("striprtf",),
        signature=b"{\\rtf",
    )
    HTML = FileFormat(
        "text/html",
        "html",
        ("html", "htm", "xhtml", "svg"),
        other_media_types=("application/xhtml+xml", "image/svg+xml"),
        libraries=("selectolax",),
    )
    MARKDOWN = FileFormat(
        "text/markdown", "markdown", ("md", "markdown", "mdx", "mkd"), other_media_types=("text/x-markdown",)
    )
    DELIMITED = FileFormat(
        "text/csv", "delimited", ("csv", "tsv"), other_media_types=("text/tab-separated-values", "application/csv")
    )
    EMAIL = FileFormat(
        "message/rfc822", "email_message", ("eml", "mbox", "mht", "mhtml"), libraries=("selectolax",), holds_files=True
    )
    OUTLOOK = FileFormat(
        "application/vnd.ms-outlook",
        "outlook",
        ("msg",),
        libraries=("olefile", "selectolax", "striprtf"),
        signature=OLE,
        mark="__properties_version1.0".encode("utf-16-le"),
        holds_files=True,
    )
    CALENDAR = FileFormat("text/calendar", "content_lines", ("ics", "ical", "vcs"))
    CONTACTS = FileFormat("text/vcard", "content_lines", ("vcf", "vcard"), other_media_types=("text/x-vcard",))
    NOTEBOOK = FileFormat("application/x-ipynb+json", "notebook", ("ipynb",))
    TEXT = FileFormat("text/plain", "text", ("txt", "text", "log", "rst", "adoc", "org", "tex", "srt", "vtt"))
    CODE = FileFormat(SOURCE_MEDIA_TYPE, "code", tuple(LANGUAGE_BY_EXTENSION), tuple(LANGUAGE_BY_NAME), is_prose=False)

    def loader(self) -> LoaderModule:
        """Import the loader of the format. Errors: `ImportError`."""
        module = importlib.import_module(f"agentic_rag.adapters.parsing.loaders.{self.value.module}")
        return cast(LoaderModule, module)

    def sample(self) -> bytes:
        """A small file of the format. A parser process reads it before it gives up all access to files."""
        return cast(bytes, getattr(self.loader(), self.value.sample))


ZIP_KINDS = tuple(kind for kind in FileKind if kind.value.zip_members)
_PACKAGES = tuple(kind for kind in ZIP_KINDS if kind is not FileKind.ZIP)
_KIND_BY_EXTENSION = {extension: kind for kind in FileKind for extension in kind.value.extensions}
_KIND_BY_NAME = {name: kind for kind in FileKind for name in kind.value.file_names}
_KIND_BY_MEDIA_TYPE = {
    media_type: kind
    for kind in FileKind
    if kind.value.is_prose
    for media_type in (kind.value.media_type, *kind.value.other_media_types)
}
_BINARY_SIGNATURES = (
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf'\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"%!PS", "a PostScript document"),
    (b"SQLite format 3\x00", "a database"),
)
ZIP = b"PK\x03\x04"
_PGP = b"-----BEGIN PGP MESSAGE-----"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_OLD_STREAMS = tuple(name.encode("utf-16-le") for name in ("WordDocument", "Workbook", "PowerPoint Document"))
_OFFICE_KINDS = (FileKind.DOCX, FileKind.XLSX, FileKind.PPTX)
OPEN_PACKAGE = b"[Content_Types].xml"
_STATED_TYPE = "mimetype"
_LONGEST_TYPE = 200
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def extension_of(file_name: str) -> str:
    """The extension in lower case, without the dot; empty when there is none."""
    return PurePath(file_name).suffix.lower().removeprefix(".")


def file_kind(content: bytes, file_name: str, media_type: str | None) -> FileKind:
    """The format of a file. Binary formats are recognised by their bytes, whatever the name; text formats by the name.

    Errors: `ParseFailed` codes PARSE_EMPTY, PARSE_ENCRYPTED, PARSE_TYPE_MISMATCH, PARSE_UNSUPPORTED, PARSE_CORRUPT.
    """
    if not content:
        raise ParseFailed("the file is empty (0 bytes): upload it again", code="PARSE_EMPTY")
    declared = kind_by_name(file_name, media_type)
    signed = _signed_kind(content, declared)
    if signed is not None:
        return signed
    if content.startswith(ZIP):
        return _zip_kind(content, file_name, declared)
    if content.startswith(OLE):
        raise ole_failure(content, declared)
    refuse_encrypted(content)
    _refuse_known(content, declared)
    if declared is not None and declared.value.is_binary:
        raise mismatch(declared, "an HTML page" if _HTML_START.match(content[:4096]) else "of another kind")
    refuse_flat(content[:4096])
    is_page = _HTML_START.match(content[:4096]) is not None
    if is_page and declared in (None, FileKind.DELIMITED):
        # What web sites offer as a table is often a page.
        return FileKind.HTML
    if declared is not None:
        return declared
    if is_mail(content[:4096]):
        return FileKind.EMAIL
    if not content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")) and _CONTROL.search(content[:8192]):
        raise ParseFailed("the file is binary and of no known kind", code="PARSE_UNSUPPORTED")
    return FileKind.TEXT


def kind_by_name(file_name: str, media_type: str | None) -> FileKind | None:
    """The format that the name states, or else the media type; None when neither is known."""
    named = _KIND_BY_EXTENSION.get(extension_of(file_name)) or _KIND_BY_NAME.get(PurePath(file_name).name.lower())
    return named or _KIND_BY_MEDIA_TYPE.get((media_type or "").split(";", 1)[0].strip().lower())


def may_hold_pdf(content: bytes, file_name: str, media_type: str | None) -> bool:
    """Whether a file is a PDF, or named as one that holds other files."""
    named = kind_by_name(file_name, media_type)
    return PDF_SIGNATURE in content[:SIGNATURE_WITHIN] or (named is not None and named.value.holds_files)


def refuse_encrypted(content: bytes) -> None:
    """Errors: `ParseFailed` code PARSE_ENCRYPTED for a text that PGP encrypted."""
    if content.lstrip().startswith(_PGP):
        raise ParseFailed("the text is encrypted (PGP): decrypt it first", code="PARSE_ENCRYPTED")


def _refuse_known(content: bytes, declared: FileKind | None) -> None:
    """Errors: `ParseFailed` for pictures, and for other files that are known and hold no text."""
    picture = picture_type(content)
    found = None if picture is None else f"a {PICTURES[picture].program} image"
    why = "its words are read where text recognition is switched on (the extra `ocr`)"
    for signature, name in _BINARY_SIGNATURES:
        if content.startswith(signature):
            found, why = name, "it cannot be read as text"
    if found is not None and declared is not None:
        raise mismatch(declared, found)
    if found is not None:
        raise ParseFailed(f"the file is {found}: {why}", code="PARSE_UNSUPPORTED")


def mismatch(declared: FileKind, found: str) -> ParseFailed:
    """The error for a file that is not of the format its name states."""
    return ParseFailed(
        f"the file is named as {declared.name} but is {found}: give it its own extension", code="PARSE_TYPE_MISMATCH"
    )


def _signed_kind(content: bytes, declared: FileKind | None) -> FileKind | None:
    for kind in FileKind:
        signature, mark = kind.value.signature, kind.value.mark
        if (
            signature is not None
            and (content.startswith(signature) or (declared is kind and signature in content[:SIGNATURE_WITHIN]))
            and (mark is None or mark in content)
        ):
            return kind
    return None


def _zip_kind(content: bytes, file_name: str, declared: FileKind | None) -> FileKind:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = set(archive.namelist())
            stated = _stated_type(archive) if _STATED_TYPE in names else b""
    except NotImplementedError as error:
        raise ParseFailed(f"the archive cannot be read: {error}", code="PARSE_UNSUPPORTED") from error
    except RuntimeError as error:
        # What zipfile raises for a member that is encrypted.
        raise ParseFailed("the file is encrypted: save it without a password", code="PARSE_ENCRYPTED") from error
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, UnicodeDecodeError) as error:
        named = "archive" if declared in (None, FileKind.ZIP) else declared.name
        raise ParseFailed(
            f"the {named} is damaged ({error}): copy it again from where it is whole, or export it again",
            code="PARSE_CORRUPT",
        ) from error
    for kind in _PACKAGES:
        form = kind.value
        if form.zip_type in (None, stated) and all(
            any(re.fullmatch(member, name) for name in names) for member in form.zip_members
        ):
            return kind
    if declared not in (None, FileKind.ZIP):
        raise mismatch(declared, f"an archive that holds no {declared.name}")
    if (declared is None and extension_of(file_name)) or OPEN_PACKAGE.decode() in names:
        raise archive_refusal()
    return FileKind.ZIP


def _stated_type(archive: zipfile.ZipFile) -> bytes:
    with archive.open(_STATED_TYPE) as member:
        return member.read(_LONGEST_TYPE).strip()


def archive_refusal() -> ParseFailed:
    """The error for an archive of no known format."""
    readable = ", ".join(kind.name for kind in ZIP_KINDS)
    return ParseFailed(f"archives other than {readable} cannot be read", code="PARSE_UNSUPPORTED")


def ole_failure(content: bytes, declared: FileKind | None) -> ParseFailed:
    """OLE containers hold either an encrypted OOXML package ([MS-OFFCRYPTO] 1.3.3) or an old binary document."""
    is_old = any(stream in content for stream in _OLD_STREAMS)
    if _ENCRYPTED_PACKAGE in content or (declared in _OFFICE_KINDS and not is_old):
        return ParseFailed("the document is protected by a password; save it without one", code="PARSE_ENCRYPTED")
    if declared in _OFFICE_KINDS:
        return mismatch(declared, "an old binary Office file (.doc, .xls, .ppt)")
    if declared is FileKind.OUTLOOK and not is_old:
        return ParseFailed("the Outlook message is damaged", code="PARSE_CORRUPT")
    return ParseFailed(
        "old binary Office files cannot be read: save as DOCX, XLSX, PPTX or PDF", code="PARSE_UNSUPPORTED"
    )
