"""The second reader of PDF pages: pypdf, for what PDFium cannot open, pages without letters, and right-to-left ones."""

from __future__ import annotations

import io
import struct
import zlib
from contextlib import AbstractContextManager

from pypdf import PasswordType, PdfReader, apply_configuration
from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError, PyPdfError, WrongPasswordError

from agentic_rag.adapters.parsing.pdf.page_words import AttachedFile
from agentic_rag.adapters.parsing.pdf.pdfium import password_error
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What pypdf raises on damaged files beside its own errors."""


class PypdfPages:
    """The pages of a file, opened when the first is asked for."""

    def __init__(self, content: bytes, limits: ParserLimits) -> None:
        self._content = content
        self._limits = limits
        self._reader: PdfReader | None = None
        self.failure: ParseFailed | None = None
        """Why the file or a page of it could not be read, the first time that one could not."""

    @property
    def count(self) -> int:
        """How many pages the file has; 0 when it cannot be opened."""
        try:
            with _widen_limits(self._limits):
                return len(self._open().pages)
        except (PyPdfError, *_DAMAGE) as error:
            self._keep(error)
            return 0

    def text(self, number: int) -> str | None:
        """The text of a page, counted from 0; None when it cannot be read."""
        if self.failure is not None and self._reader is None:
            return None
        try:
            with _widen_limits(self._limits):
                return strip_unstorable(self._open().pages[number].extract_text())
        except (PyPdfError, *_DAMAGE) as error:
            self._keep(error)
            return None

    def attached_files(self) -> list[AttachedFile]:
        """The files that the file holds."""
        try:
            with _widen_limits(self._limits):
                held = [(name, content) for name, contents in self._open().attachments.items() for content in contents]
        except (PyPdfError, *_DAMAGE) as error:
            self._keep(error)
            return []
        return [(strip_unstorable(name), lambda content=content: content) for name, content in held]

    def _open(self) -> PdfReader:
        if self._reader is None:
            reader = PdfReader(io.BytesIO(self._content))
            if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
                raise WrongPasswordError("no empty password")
            self._reader = reader
        return self._reader

    def _keep(self, error: Exception) -> None:
        if self.failure is None:
            self.failure = _failure(error)
            self.failure.__cause__ = error


def _widen_limits(limits: ParserLimits) -> AbstractContextManager[object]:
    """pypdf's own limits of elements refuse ordinary tagged filings; the child's walls bear more."""
    return apply_configuration(
        array_maximum_element_count=limits.elements,
        dictionary_maximum_element_count=limits.elements,
        stream_parsing_work_maximum_count=limits.elements,
    )


def _failure(error: Exception) -> ParseFailed:
    if isinstance(error, (FileNotDecryptedError, WrongPasswordError)):
        return password_error()
    if isinstance(error, DependencyError):
        return ParseFailed(f"the PDF needs an unsupported feature: {error}", code="PARSE_UNSUPPORTED")
    if isinstance(error, LimitReachedError):
        return ParseFailed(f"the PDF decompresses to too much data: {error}", code="PARSE_TOO_LARGE")
    return ParseFailed(f"the PDF is damaged: {error}", code="PARSE_CORRUPT")
