"""Chooses the loader for a file and reads it, in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from agentic_rag.adapters.parsing.file_types import FileKind, file_kind, language_of
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.encoding import decode_text
from agentic_rag.adapters.parsing.text.filing_cover import filing_title
from agentic_rag.adapters.parsing.text.legibility import require_legible
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable


def load(
    content: bytes,
    file_name: str,
    media_type: str | None,
    limits: ParserLimits,
    page_read: Callable[[], None] | None = None,
) -> tuple[FileKind, LoadedText]:
    """Read a file; `page_read` is called for every page of a PDF that gave text. Raises ParseFailed with the code that
    says why not; what libraries raise on damaged files passes through.
    """
    kind = file_kind(content, file_name, media_type)
    reading = _read(kind, content, file_name, limits, page_read)
    if len(reading.text) > limits.text_characters:
        raise ParseFailed(f"the file holds more than {limits.text_characters} characters", code="PARSE_TOO_LARGE")
    require_legible(reading.text, prose=kind is not FileKind.CODE)
    filed = filing_title(reading.text, PurePath(file_name).stem)
    return kind, reading if filed is None else replace(reading, title=filed)


def _read(
    kind: FileKind, content: bytes, file_name: str, limits: ParserLimits, page_read: Callable[[], None] | None
) -> LoadedText:
    # Imported here, so that who reads text alone in its own process loads no PDF library.
    if kind is FileKind.PDF:
        from agentic_rag.adapters.parsing.loaders.pdf import read_pdf

        return read_pdf(content, limits, page_read)
    if kind is FileKind.DOCX:
        from agentic_rag.adapters.parsing.loaders.docx import read_docx

        return read_docx(content, limits)
    text = strip_unstorable(decode_text(content)).replace("\r\n", "\n").replace("\r", "\n")
    if kind is FileKind.HTML:
        from agentic_rag.adapters.parsing.loaders.html import read_html

        return read_html(text)
    if kind is FileKind.MARKDOWN:
        from agentic_rag.adapters.parsing.loaders.markdown import read_markdown

        return read_markdown(text)
    if kind is FileKind.CODE:
        from agentic_rag.adapters.parsing.loaders.code import read_code

        return read_code(text, language_of(file_name))
    from agentic_rag.adapters.parsing.loaders.text import read_text

    return read_text(text)
