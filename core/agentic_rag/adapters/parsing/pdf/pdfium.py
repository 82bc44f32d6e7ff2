"""The second reader of PDF pages: PDFium."""

from __future__ import annotations

from pypdfium2 import PdfDocument, PdfiumError  # pyright: ignore[reportMissingTypeStubs] - it ships none


class PdfiumPages:
    """The pages of a file, opened when the first is asked for. A file that PDFium cannot open has none."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._opened: PdfDocument | None = None
        self._failed = False

    @property
    def count(self) -> int:
        """How many pages the file has; 0 when it cannot be opened."""
        document = self._document()
        return 0 if document is None else len(document)

    def text(self, number: int) -> str | None:
        """The text of a page, counted from 0; None when it cannot be read."""
        document = self._document()
        if document is None:
            return None
        try:
            text = document[number].get_textpage().get_text_range()
        except (PdfiumError, IndexError):
            return None
        return text.replace("\r\n", "\n").replace("\ufffe", "-")

    def _document(self) -> PdfDocument | None:
        if self._opened is None and not self._failed:
            try:
                self._opened = PdfDocument(self._content)
            except PdfiumError:
                self._failed = True
        return self._opened
