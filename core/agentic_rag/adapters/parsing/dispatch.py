"""Chooses the loader for a file and reads it, in this process."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath

from agentic_rag.adapters.parsing.file_types import FileKind, SourceFile, file_kind
from agentic_rag.adapters.parsing.nesting import Nesting
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.scans.recognised import RecognisedPage
from agentic_rag.adapters.parsing.text.legibility import require_legible, require_recognised, require_text
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import without_asides
from agentic_rag.kernel.errors import ParseFailed

_COVER = 6_000
"""Characters from the start in which a cover states all of it."""
_LONGEST_NAME = 100
_FORM = re.compile(r"^\W*form\s+(\d{1,2}-[A-Z]{1,2}(?:/A)?)\W*$", re.IGNORECASE | re.MULTILINE)
_PERIOD = re.compile(
    r"\bfor the ((?:quarterly period|fiscal quarter|quarter|fiscal year|year|six months|half[- ]year) ended)\s*:?\s*"
    r"([A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}|\d{1,2} [A-Z][a-z]{2,8} \d{4})",
    re.IGNORECASE,
)
_REGISTRANT = re.compile(
    r"^[^\S\n]*(\S[^\n]*?)[\s_]*\n[^\S\n]*\(exact name of registrant\b", re.IGNORECASE | re.MULTILINE
)
"""The cover of forms 10-Q, 10-K, 20-F and their like is prescribed (17 CFR 249.308a and neighbours): the words looked
for are part of the form itself.
"""


def load(
    content: bytes,
    file_name: str,
    media_type: str | None,
    limits: ParserLimits,
    page_read: Callable[[], None] | None = None,
    *,
    careful: bool = False,
    nesting: Nesting | None = None,
    is_web_page: bool = False,
    charset: str = "",
    recognised: Mapping[int, RecognisedPage | None] | None = None,
) -> tuple[FileKind, LoadedText]:
    """Read a file; `page_read`, `careful`, `nesting`, `is_web_page`, `charset` and `recognised` are those of
    `SourceFile`.

    Errors: `ParseFailed`, whose code says why; what libraries raise on damaged files passes through.
    """
    kind = file_kind(content, file_name, media_type)
    source = SourceFile(
        content, file_name, limits, page_read, careful, nesting or Nesting(), is_web_page, charset, recognised
    )
    loaded = kind.loader().load(source)
    limits.require_characters(len(loaded.text))
    text = without_asides(loaded.text, loaded.blocks)
    if recognised:
        require_recognised(text, len(recognised))
    require_text(text, _why_empty(kind, recognises=recognised is not None))
    require_legible(text, prose=kind.value.is_prose)
    title = filing_title(loaded.text, PurePath(file_name).stem)
    return kind, loaded if title is None else replace(loaded, title=title)


def _why_empty(kind: FileKind, *, recognises: bool) -> str:
    """What a person can do about a file without text."""
    if kind is not FileKind.PDF:
        return "it is blank, or shows only pictures, or controls and scripts; save what you see as PDF, or leave it out"
    if recognises:
        return "its pages are blank, or their words are drawn; export it with its text, or as pictures of whole pages"
    return "a scan or a drawing? Switch on text recognition (the extra `ocr`), or run it over the file first"


def failure_of(error: Exception) -> ParseFailed:
    """What an exception of a loader says about the file."""
    if isinstance(error, ParseFailed):
        return error
    if isinstance(error, RecursionError):
        return ParseFailed("the file is nested too deeply", code="PARSE_CORRUPT")
    return ParseFailed(f"the file is damaged ({type(error).__name__}: {error})"[:500], code="PARSE_CORRUPT")


def filing_title(text: str, stem: str) -> str | None:
    """ "Harbour Inc. Form 10-Q, quarterly period ended June 30, 2023 (2023-Q2-HRB)" from the text of a filing and the
    name of its file without extension; None for any other text.
    """
    cover = text[:_COVER]
    form, period, registrant = _FORM.search(cover), _PERIOD.search(cover), _REGISTRANT.search(cover)
    if form is None or period is None or registrant is None:
        return None
    name = registrant[1].strip(" _")
    if not 1 < len(name) <= _LONGEST_NAME:
        return None
    title = f"{name} Form {form[1].upper()}, {period[1].lower()} {period[2]}"
    return f"{title} ({stem})" if stem else title
