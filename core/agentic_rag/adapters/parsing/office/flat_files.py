"""Office documents in one XML file: Excel and Word of 2003, Word's flat package, flat OpenDocument."""

from __future__ import annotations

import re

from agentic_rag.kernel.errors import ParseFailed

_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?.*?\?>\s*|<!--.*?-->\s*)*"
    rb"<(?:[\w.-]+:)?(?:(?:Workbook|wordDocument|package)\b[^>]*schemas[.-]microsoft[.-]com[:/]office|"
    rb"document\b[^>]*opendocument:xmlns:office)",
    re.DOTALL,
)
"""The outermost element, with a namespace of theirs."""


def refuse_flat(start: bytes) -> None:
    """Errors: `ParseFailed` code PARSE_UNSUPPORTED where a file begins as one of these: as plain text its words are
    parted by the marks of their runs, and its cells stand under no names.
    """
    if _ROOT.match(start):
        raise ParseFailed(
            "office documents in one XML file cannot be read: save it as DOCX, XLSX, ODT, ODS or PDF",
            code="PARSE_UNSUPPORTED",
        )
