"""What a file is, by its bytes and its name."""

from __future__ import annotations

import io
import zipfile

import pytest

from agentic_rag.adapters.parsing.file_types import FileKind, file_kind
from agentic_rag.kernel.errors import ParseFailed

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def archive(*names: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for name in names:
            target.writestr(name, "x")
    return made.getvalue()


def encrypted(content: bytes) -> bytes:
    """The first member with the flag that says so."""
    made = bytearray(content)
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        made[made.find(mark) + place] |= 1
    return bytes(made)


WORD = archive("[Content_Types].xml", "word/document.xml")


@pytest.mark.parametrize(
    ("content", "name", "media_type", "kind"),
    [
        (b"%PDF-1.7", "a.pdf", None, FileKind.PDF),
        (b"junk\n%PDF-1.7", "a.pdf", None, FileKind.PDF),
        (b"%PDF-1.7", "a.docx", None, FileKind.PDF),
        (b"%PDF-1.7", "download", "text/html", FileKind.PDF),
        (WORD, "a.docx", None, FileKind.DOCX),
        (WORD, "a", None, FileKind.DOCX),
        (WORD, "a.zip", None, FileKind.DOCX),
        (archive("a.txt"), "a.zip", None, FileKind.ZIP),
        (archive("a.txt"), "download", None, FileKind.ZIP),
        (b"text", "A.MD", None, FileKind.MARKDOWN),
        (b"text", "a.py", None, FileKind.CODE),
        (b"all:", "Makefile", None, FileKind.CODE),
        (b"text", "a.txt", "application/pdf", FileKind.TEXT),
        (b"text", "notes", "text/markdown; charset=utf-8", FileKind.MARKDOWN),
        (b"<!-- c --> <!DOCTYPE html><p>", "page", None, FileKind.HTML),
        (b"<html><body>", "download.csv", None, FileKind.HTML),
        (b"text", "LICENSE", None, FileKind.TEXT),
        ("text".encode("utf-16"), "LICENSE", None, FileKind.TEXT),
    ],
)
def test_kinds_are_told(content: bytes, name: str, media_type: str | None, kind: FileKind) -> None:
    assert file_kind(content, name, media_type) is kind


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        pytest.param(b"", "a.pdf", "PARSE_EMPTY", id="empty"),
        pytest.param(b"<html>", "a.pdf", "PARSE_TYPE_MISMATCH", id="html as pdf"),
        pytest.param(b"words", "a.docx", "PARSE_TYPE_MISMATCH", id="text as docx"),
        pytest.param(b"\x89PNG\r\n\x1a\n", "a.pdf", "PARSE_TYPE_MISMATCH", id="image as pdf"),
        pytest.param(b"\x89PNG\r\n\x1a\n", "a.png", "PARSE_UNSUPPORTED", id="image"),
        pytest.param(b"\x00\x01\x02", "a.bin", "PARSE_UNSUPPORTED", id="unknown bytes"),
        pytest.param(archive("META-INF/MANIFEST.MF"), "a.jar", "PARSE_UNSUPPORTED", id="zip of another name"),
        pytest.param(archive("[Content_Types].xml", "xl/a.bin"), "a", "PARSE_UNSUPPORTED", id="unknown office file"),
        pytest.param(b"text", "a.zip", "PARSE_TYPE_MISMATCH", id="text as zip"),
        pytest.param(archive("a.txt"), "a.docx", "PARSE_TYPE_MISMATCH", id="zip as docx"),
        pytest.param(WORD[:40], "a.docx", "PARSE_CORRUPT", id="cut off"),
        pytest.param(OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx", "PARSE_ENCRYPTED", id="encrypted"),
        pytest.param(encrypted(archive("mimetype", "content.xml")), "a.odt", "PARSE_ENCRYPTED", id="encrypted type"),
        pytest.param(OLE + b"?", "a.docx", "PARSE_ENCRYPTED", id="ole of no kind"),
        pytest.param(OLE + "WordDocument".encode("utf-16-le"), "a.docx", "PARSE_TYPE_MISMATCH", id="doc as docx"),
        pytest.param(OLE + "WordDocument".encode("utf-16-le"), "a.doc", "PARSE_UNSUPPORTED", id="doc"),
        pytest.param(OLE + "WordDocument".encode("utf-16-le"), "a.msg", "PARSE_UNSUPPORTED", id="doc as msg"),
        pytest.param(OLE + b"?", "a.msg", "PARSE_CORRUPT", id="damaged msg"),
        pytest.param(b"text", "a.msg", "PARSE_TYPE_MISMATCH", id="text as msg"),
        *(
            pytest.param(
                b"<?xml version='1.0'?>\n<?mso-application progid='x'?>\n" + root, name, "PARSE_UNSUPPORTED", id=name
            )
            for name, root in (
                ("a.xls", b"<Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'>"),
                ("a.doc", b"<w:wordDocument xmlns:w='http://schemas.microsoft.com/office/word/2003/wordml'>"),
                ("a.xml", b"<pkg:package xmlns:pkg='http://schemas.microsoft.com/office/2006/xmlPackage'>"),
                ("a.fodt", b"<office:document xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0'>"),
            )
        ),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, name: str, code: str) -> None:
    with pytest.raises(ParseFailed) as refused:
        file_kind(content, name, None)

    assert refused.value.code == code


@pytest.mark.parametrize(
    "content",
    [
        b"<?xml version='1.0'?><package xmlns='http://www.idpf.org/2007/opf'>",
        b"<?xml version='1.0'?><document><p>schemas.microsoft.com/office</p></document>",
        b"Save the <Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet'> as XLSX.",
    ],
)
def test_other_xml_is_text(content: bytes) -> None:
    assert file_kind(content, "a.xml", None) in (FileKind.TEXT, FileKind.CODE)
