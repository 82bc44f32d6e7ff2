"""Chooses the loader for a file and reads it, in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

from agentic_rag.adapters.parsing.file_types import FileKind, SourceFile, file_kind
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.filing_cover import filing_title
from agentic_rag.adapters.parsing.text.legibility import require_legible
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.kernel.errors import ParseFailed


def load(
    content: bytes,
    file_name: str,
    media_type: str | None,
    limits: ParserLimits,
    page_read: Callable[[], None] | None = None,
) -> tuple[FileKind, LoadedText]:
    """Read a file; `page_read` is called for every page of a PDF that gave text.

    Errors: `ParseFailed`, whose code says why; what libraries raise on damaged files passes through.
    """
    kind = file_kind(content, file_name, media_type)
    loaded = kind.loader().load(SourceFile(content, file_name, limits, page_read))
    if len(loaded.text) > limits.text_characters:
        raise ParseFailed(f"the file holds more than {limits.text_characters} characters", code="PARSE_TOO_LARGE")
    require_legible(loaded.text, prose=kind.value.is_prose)
    title = filing_title(loaded.text, PurePath(file_name).stem)
    return kind, loaded if title is None else replace(loaded, title=title)
