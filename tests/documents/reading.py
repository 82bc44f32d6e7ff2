"""Files as the product reads them, and as two engines read them by themselves."""

from __future__ import annotations

import io
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import pypdf
import pypdfium2  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.file_types import kind_by_name
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.process.scans import scan_options
from agentic_rag.adapters.parsing.scans.page_pictures import draw, page_of, prepare
from agentic_rag.adapters.parsing.scans.picture_types import picture_type
from agentic_rag.adapters.parsing.scans.recognised_pages import read_pictures
from agentic_rag.adapters.parsing.scans.tesseract import TesseractEngine
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.kernel.errors import ParseFailed

DATA = Path(os.environ.get("AGENTIC_RAG_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data")
_FEW = ("bdb495-multicolumn.pdf", "362dc3-mistitled_outlines_example.pdf", "right_to_left_01.pdf", "jo.pdf")
"""Of the short form: words parted at line ends, bookmarks, right to left, and garbage to pypdf."""
_PARTING = re.compile(r"[-‐][ \t]*\r?\n[ \t]*")

FETCHED = "web/"
"""Begins the name of a page that was fetched: nobody chose its file."""

Read = Callable[[bytes, str], LoadedText | ParseFailed]
"""Reads a file by its content and name; a lie reads otherwise."""


@dataclass(frozen=True, slots=True)
class File:
    """A real file."""

    name: str
    content: bytes


def read(content: bytes, name: str) -> LoadedText | ParseFailed:
    """As the product reads it, without the child processes; of a picture what is recognised on it."""
    try:
        if picture_type(content) is not None and kind_by_name(name, None) is None:
            with page_of(content, 1) as page:
                return read_pictures({1: _engine().read(draw(page))})
        return load(content, name, None, ParserLimits(), is_web_page=name.startswith(FETCHED))[1]
    except ParseFailed as failure:
        return failure


@cache
def _engine() -> TesseractEngine:
    options = scan_options("eng")
    prepare()
    return TesseractEngine(options.languages, str(options.data))


def real_pdfs(*, short: bool) -> list[File]:
    """The PDFs of the shared data that are small enough for two engines; a few of them in short."""
    folders = (DATA / "files", DATA / "files2", *(() if short else (DATA / "sec-10q" / "docs",)))
    paths = [path for folder in folders for path in sorted(folder.glob("*.pdf"))]
    files = [File(path.name, path.read_bytes()) for path in paths if path.stem not in ("bomb-300mb", "pages-5000")]
    return [one for one in files if one.name in _FEW] if short else files


def by_pypdf(content: bytes) -> str:
    """All that pypdf reads, in its own way; empty where it cannot."""
    try:
        return "\n".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages)
    except Exception:  # noqa: BLE001 - whatever it raises, it read nothing
        return ""


def by_pdfium(content: bytes) -> str:
    """All that PDFium reads, in its own way; empty where it cannot."""
    try:
        document = cast(Any, pypdfium2).PdfDocument(content)
        pages = [page.get_textpage().get_text_range() for page in document]
    except Exception:  # noqa: BLE001 - whatever it raises, it read nothing
        return ""
    return "\n".join(pages).replace("\ufffe", "-\n")


def words(text: str) -> Counter[str]:
    """The words of a text, those that a line's end parts in one piece."""
    text = unicodedata.normalize("NFKC", text.replace("\u00ad", ""))
    return Counter(re.findall(r"\w+", _PARTING.sub("", text)))


def parted_words(text: str) -> list[str]:
    """The words that a line's end parts, in one piece."""
    return [
        before + after
        for before, after in re.findall(r"(?<!\w)([^\W\d_]{2,})[-‐][ \t]*\r?\n[ \t]*([^\W\d_]{2,})", text)
    ]
