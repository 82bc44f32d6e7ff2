"""The rows of `make documents`, each with the lie that makes it miss."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.chunking import chunk_document
from agentic_rag.documents.document import BlockKind, ChunkDraft, ParsedDocument
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.language.tokenizer import query_terms, tokenize
from agentic_rag.workspaces.chunk_profiles import DEFAULT_PROFILE
from tests.bench.reports import Row, at_least, exactly
from tests.documents import generated
from tests.documents.formats import rows as of_formats
from tests.documents.reading import Read, by_pdfium, by_pypdf, parted_words, real_pdfs, words
from tests.documents.scans import scans
from tests.documents.tables.rows import tables
from tests.documents.web_pages import web_pages
from tests.hostile.pdf_files import PDF_FILES

Measure = Callable[[Read, bool], list[Row]]
"""Measures rows with a way to read files; the second argument asks for the short form."""
_LEAST_WORDS = 20
"""Words on which two engines agree in a file that can be read."""
_DOCUMENT = UUID(int=1)
_FIGURE = r"\d[\d,.]*"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure, and a lie about what was read under which it misses."""

    measure: Measure
    lie: Callable[[Read], Read]


def changed(change: Callable[[LoadedText], LoadedText | ParseFailed]) -> Callable[[Read], Read]:
    """A lie that changes what was read."""

    def lie(read: Read) -> Read:
        def lying(content: bytes, name: str) -> LoadedText | ParseFailed:
            found = read(content, name)
            return found if isinstance(found, ParseFailed) else change(found)

        return lying

    return lie


def with_text(change: Callable[[str], str]) -> Callable[[Read], Read]:
    return changed(lambda found: replace(found, text=change(found.text), blocks=()))


def _always_read(read: Read) -> Read:
    def lying(content: bytes, name: str) -> LoadedText | ParseFailed:
        found = read(content, name)
        return LoadedText("\x01\x02 /g01/g02/g03", ()) if isinstance(found, ParseFailed) else found

    return lying


def _slowly(read: Read) -> Read:
    def lying(content: bytes, name: str) -> LoadedText | ParseFailed:
        by_pypdf(content)
        return read(content, name)

    return lying


def _shift_figures(text: str) -> str:
    """Every figure stands where the one after the next stood."""
    figures = re.findall(_FIGURE, text)
    others = iter(figures[2:] + figures[:2])
    return re.sub(_FIGURE, lambda _: next(others), text)


def agreed_words(read: Read, short: bool) -> list[Row]:
    """Of the words on which pypdf and PDFium agree, each by itself, the share that the product's text holds."""
    least, worst, false_failures = 1.0, "", 0
    for one in real_pdfs(short=short):
        agreed = words(by_pypdf(one.content)) & words(by_pdfium(one.content))
        if agreed.total() < _LEAST_WORDS:
            continue
        found = read(one.content, one.name)
        if isinstance(found, ParseFailed):
            false_failures += 1
            continue
        share = (agreed & words(found.text)).total() / agreed.total()
        if share < least:
            least, worst = share, one.name
    return [
        at_least(f"PDF: words of two engines found, worst file {worst}".rstrip(), least, 0.98, "", timed=False),
        exactly("PDF: files that two engines read and we refuse", false_failures, 0),
    ]


def garbage(read: Read, short: bool) -> list[Row]:
    """Made files that hold no language, and those that are damaged or closed: none may be READY."""
    files = [one for one in PDF_FILES if one.phrase is None and "PARSE_TOO_LARGE" not in one.codes]
    ready = [
        one.name for one in files[:: 3 if short else 1] if not isinstance(read(one.build(), one.name), ParseFailed)
    ]
    return [exactly("PDF: garbage that is READY", len(ready), 0)]


def form_values(read: Read, short: bool) -> list[Row]:
    """Values that stand behind their label, before the next one."""
    right = total = 0
    for seed in range(2 if short else 40):
        content, pairs = generated.form(seed)
        found = read(content, "form.pdf")
        text = "" if isinstance(found, ParseFailed) else found.text
        right += sum(f"{label} {value}" in text for label, value in pairs)
        total += len(pairs)
    return [at_least("PDF: form values beside their labels", 100 * right / total, 95, " %", timed=False)]


def parted(read: Read, short: bool) -> list[Row]:
    """Words that PDFium by itself sees parted at a line's end: some chunk has all terms of the whole word."""
    right = total = 0
    for one in real_pdfs(short=short):
        wanted = {*parted_words(by_pdfium(one.content))}
        found = read(one.content, one.name) if wanted else None
        if found is None or isinstance(found, ParseFailed):
            continue
        chunks = [frozenset(tokenize(chunk.text)) for chunk in _chunks(found)]
        right += sum(any(terms.issuperset(query_terms(word)) for terms in chunks) for word in wanted)
        total += len(wanted)
    return [at_least(f"PDF: {total} words parted at line ends found", 100 * right / total, 100, " %", timed=False)]


def running(read: Read, short: bool) -> list[Row]:
    """Headers of made reports: in the text on every page, in chunks once at most."""
    too_often = missing = 0
    for seed in range(2 if short else 20):
        content, header = generated.report(seed)
        found = read(content, "report.pdf")
        if isinstance(found, ParseFailed):
            missing += 1
            continue
        missing += found.text.count(header) != 6
        too_often += sum(chunk.text.count(header) for chunk in _chunks(found)) > 1
    return [
        exactly("PDF: reports whose header is in the index more than once", too_often, 0),
        exactly("PDF: reports whose text lacks a header", missing, 0),
    ]


def speed(read: Read, short: bool) -> list[Row]:
    """Pages a second over those of pypdf alone, which read them before; in pairs, by processor time."""
    former = now = 0.0
    for one in real_pdfs(short=short):
        began = time.process_time()
        text = by_pypdf(one.content)
        middle = time.process_time()
        if text and not isinstance(read(one.content, one.name), ParseFailed):
            former += middle - began
            now += time.process_time() - middle
    return [at_least("PDF: pages a second over pypdf", former / now, 3)]


def _chunks(found: LoadedText) -> Sequence[ChunkDraft]:
    parsed = ParsedDocument(found.text, found.blocks, found.pages, found.title, "application/pdf", "p", "1")
    return chunk_document(_DOCUMENT, parsed, DEFAULT_PROFILE, estimate_tokens)


TABLE: Mapping[str, Measured] = {
    "words": Measured(agreed_words, with_text(lambda text: " ".join(text.split()[::2]))),
    "garbage": Measured(garbage, _always_read),
    "forms": Measured(form_values, with_text(lambda text: "\n".join(line.split(":")[0] for line in text.split("\n")))),
    "parted": Measured(parted, with_text(lambda text: text.replace("-\n", "-\n\n"))),
    "running": Measured(
        running,
        changed(lambda found: replace(found, blocks=tuple(b for b in found.blocks if b.kind is not BlockKind.RUNNING))),
    ),
    "web pages": Measured(web_pages, with_text(lambda text: text[len(text) // 2 :])),
    "formats": Measured(of_formats.formats, with_text(lambda text: " ".join(text.split()[::2]))),
    "wrong files": Measured(of_formats.wrong, _always_read),
    "code pages": Measured(of_formats.code_pages, with_text(lambda text: text.encode().decode("cp1252", "replace"))),
    "tables": Measured(tables, with_text(_shift_figures)),
    "scans": Measured(scans, with_text(lambda text: " ".join(text.split()[::2]))),
    "speed": Measured(speed, _slowly),
}
