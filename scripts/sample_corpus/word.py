"""Renders a source as a Word document with real heading styles, lists and tables."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime, time
from pathlib import Path

from docx import Document
from docx.document import Document as WordDocument
from scripts.sample_corpus.blocks import Block, Bullets, Chart, Heading, Paragraph, Source, Table

# The earliest moment a zip entry can carry (APPNOTE 4.4.6: MS-DOS dates start in 1980).
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_docx(source: Source, path: Path) -> None:
    """Write the DOCX; equal sources give equal bytes, for every date inside is the source's own or fixed."""
    document = Document()
    properties = document.core_properties
    properties.title, properties.author, properties.last_modified_by = (
        source.title,
        source.author,
        source.author,
    )
    properties.comments = ""
    properties.created = properties.modified = datetime.combine(source.issued, time(9), UTC)
    properties.revision = 1
    document.add_heading(source.title, level=0)
    document.add_paragraph(f"{source.author}, {source.issued.day} {source.issued:%B %Y}", style="Subtitle")
    for block in source.blocks:
        _append(document, block)
    raw = io.BytesIO()
    document.save(raw)
    path.write_bytes(_with_fixed_entry_dates(raw.getvalue()))


def _append(document: WordDocument, block: Block) -> None:
    match block:
        case Heading(level, text):
            document.add_heading(text, level=level)
        case Paragraph(text):
            document.add_paragraph(text)
        case Bullets(items):
            for item in items:
                document.add_paragraph(item, style="List Bullet")
        case Table(caption, rows) | Chart(caption, rows):
            document.add_paragraph(caption, style="Caption")
            _append_table(document, rows)


def _append_table(document: WordDocument, rows: tuple[tuple[str, ...], ...]) -> None:
    table = document.add_table(rows=len(rows), cols=len(rows[0]), style="Light Grid Accent 1")
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_paragraph()


def _with_fixed_entry_dates(data: bytes) -> bytes:
    """Repack the package in its own order with one date per entry, since zip writers stamp the present."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, date_time=ZIP_EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            # Zip entries name the system that made them; the same on every platform keeps the bytes equal.
            entry.create_system = 3
            new.writestr(entry, old.read(name))
    return packed.getvalue()
