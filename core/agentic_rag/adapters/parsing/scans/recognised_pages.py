"""Recognised pages among the others of a file, and files that are nothing but pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentic_rag.adapters.parsing.pdf.page_words import PdfPage, plain_page
from agentic_rag.adapters.parsing.pdf.structure import structure
from agentic_rag.adapters.parsing.pdf.tables import lay_tables
from agentic_rag.adapters.parsing.scans.recognised import RecognisedPage
from agentic_rag.adapters.parsing.text.legibility import require_legible, require_recognised
from agentic_rag.adapters.parsing.text_builder import LoadedText, first_heading
from agentic_rag.adapters.parsing.unread import PAGE, UnreadParts, with_unread
from agentic_rag.kernel.errors import ParseFailed

Recognised = Mapping[int, RecognisedPage | None]
"""What was recognised on pages, by their numbers from 1; None for one on which the engine failed."""


class DrawnPages(ParseFailed):
    """Pages of a file are pictures, on which nobody has recognised words yet."""

    code = "PARSE_NO_TEXT"

    def __init__(self, numbers: Sequence[int]) -> None:
        super().__init__("pages of the file are pictures")
        self.numbers = tuple(numbers)


def with_recognised(
    pages: Sequence[PdfPage], unread: Sequence[int], recognised: Recognised | None
) -> tuple[list[PdfPage], tuple[int, ...], tuple[int, ...]]:
    """The pages with what was recognised on the unread ones, the numbers of those that are still unread, and of those
    that were recognised. Errors: `DrawnPages` where the engine has not looked at an unread one.
    """
    if recognised is None:
        return [*pages], tuple(unread), ()
    if missing := [number for number in unread if number not in recognised]:
        raise DrawnPages(missing)
    read = [*pages]
    still: list[int] = []
    found: list[int] = []
    for number in unread:
        page = recognised[number]
        if page is None or not page.is_read:
            still.append(number)
        elif page.lines:
            own = read[number - 1]
            read[number - 1] = replace(page.page(), notes=own.notes, files=own.files)
            found.append(number)
    return read, tuple(still), tuple(found)


def read_pictures(recognised: Recognised) -> LoadedText:
    """The text of a file whose pages are pictures. Errors: `ParseFailed` codes PARSE_NO_TEXT, PARSE_GARBLED."""
    numbers = sorted(recognised)
    read, unread, found = with_recognised([plain_page("") for _ in numbers], numbers, recognised)
    made = structure(lay_tables(read), ())
    require_recognised(made.text, len(numbers))
    require_legible(made.text)
    title = first_heading(made.text, [*made.blocks])
    loaded = LoadedText(made.text, made.blocks, made.pages, title, recognised_pages=found)
    return with_unread(loaded, UnreadParts(unread, len(numbers), PAGE))
