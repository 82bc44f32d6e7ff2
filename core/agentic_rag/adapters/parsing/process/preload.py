"""Imports and tries out everything that reading a file may ever need: afterwards a process needs no file any more."""

from __future__ import annotations

import encodings
import importlib
import io
import pkgutil
import zipfile

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits

_PLATFORM_CODECS = frozenset({"mbcs", "oem"})
"""Windows only."""
_IMPORTED_WHEN_USED = ("subprocess", "xml.sax.expatreader", "pypdf.filters", "pypdf._crypt_providers._fallback")
"""Modules that the libraries, or the tables of their codecs, ask for at first use."""

_PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 30>>stream
BT /F 9 Tf (warm enough) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
xref
0 0
trailer<</Root 1 0 R/Size 6>>
startxref
0
%%EOF
"""
_OFFICE = "http://schemas.openxmlformats.org"
_DOCX_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types"/>',
    "_rels/.rels": (
        f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="a" Target="word/document.xml" '
        f'Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument"/></Relationships>'
    ),
    "word/document.xml": (
        f'<w:document xmlns:w="{_OFFICE}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>warm</w:t></w:r></w:p>'
        "</w:body></w:document>"
    ),
}


def preload() -> None:
    """Read a small file of every kind. Raises ImportError, or ParseFailed, when this installation cannot."""
    for name in _IMPORTED_WHEN_USED:
        importlib.import_module(name)
    for codec in pkgutil.iter_modules(encodings.__path__):
        if codec.name not in _PLATFORM_CODECS:
            importlib.import_module(f"encodings.{codec.name}")
    for content, name in (
        (_PDF, "a.pdf"),
        (_docx(), "a.docx"),
        (b"<p>warm</p>", "a.html"),
        (b"# warm", "a.md"),
        (b"warm = 1", "a.py"),
        (b"warm", "a.txt"),
    ):
        load(content, name, None, ParserLimits())


def _docx() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in _DOCX_PARTS.items():
            archive.writestr(name, part)
    return made.getvalue()
