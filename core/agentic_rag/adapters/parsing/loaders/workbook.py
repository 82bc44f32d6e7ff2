"""XLSX and XLSM by calamine: every sheet is a section, and every row stands under the names of its columns. Behind the
rows stand what drawings on the sheet say and the comments on its cells; behind all sheets the files embedded in them.

Hidden sheets, rows and columns are read too. Cells read as the sheet shows them. Formulas are never computed here: the
value that the spreadsheet program stored is read, and where it stored none, the formula itself. Macros are not read.
"""

from __future__ import annotations

import datetime
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.office.embedded import read_embedded
from agentic_rag.adapters.parsing.office.package import OFFICE, Package, open_package, relations_part, zip_parts
from agentic_rag.adapters.parsing.office.pictures import pictures_in_cells
from agentic_rag.adapters.parsing.office.sheet_extras import around_cells, beside_cells, sheet_pictures
from agentic_rag.adapters.parsing.office.struck_cells import StruckCells
from agentic_rag.adapters.parsing.text.number_formats import duration_text, number_text, shows_more
from agentic_rag.adapters.parsing.text.table_text import add_grid
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.adapters.parsing.unread import OBJECT, PICTURE, none_of, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

Place = tuple[int, int]
"""Row and column of a cell, from 0."""

_MAIN = f"{{{OFFICE}/spreadsheetml/2006/main}}"
_RELATION = f"{{{OFFICE}/officeDocument/2006/relationships}}id"
_WORKBOOK = "xl/workbook.xml"
_STYLES = "xl/styles.xml"
_CELL = re.compile(rb"""<(?:\w+:)?c\b([^>]*?)(?:/>|>(.*?)</(?:\w+:)?c>)""", re.DOTALL)
_REFERENCE = re.compile(rb"""\br=["']([A-Z]{1,3})(\d{1,7})["']""")
_STYLE = re.compile(rb"""\bs=["'](\d+)["']""")
_FORMULA = re.compile(rb"<(?:\w+:)?f\b[^>]*>(.*?)</(?:\w+:)?f>", re.DOTALL)
_HAS_VALUE = re.compile(rb"<(?:\w+:)?(?:v|is)\b[^>/]*>\s*[^<\s]|<(?:\w+:)?is\b")
_IS_NOT_ZERO = re.compile(rb"<(?:\w+:)?v\b[^>/]*>\s*(?!0(?:\.0*)?\s*<)[^<\s]|<(?:\w+:)?is\b")
_COUNTS_LATER = re.compile(rb"""<(?:\w+:)?calcPr\b[^>]*\bfullCalcOnLoad=["'](?:1|true)""")
"""Of a workbook that a program wrote without a calculation: Excel is to count when it opens it, and 0 stands for each
result (ECMA-376 Part 1, 18.2.2).
"""
_PERCENT = {9: "0%", 10: "0.00%"}
"""Built-in formats by number that show a percentage (ECMA-376 Part 1, 18.8.30)."""
_MOST_MERGED = 1_000
"""Cells of a merged range that take its value."""
SAMPLE = zip_parts(
    {
        "[Content_Types].xml": (
            f'<Types xmlns="{OFFICE}/package/2006/content-types"><Override PartName="/xl/workbook.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>'
        ),
        "_rels/.rels": relations_part("officeDocument", "xl/workbook.xml"),
        "xl/workbook.xml": (
            f'<workbook xmlns="{OFFICE}/spreadsheetml/2006/main" xmlns:r="{OFFICE}/officeDocument/2006/relationships">'
            '<sheets><sheet name="warm" sheetId="1" r:id="a"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": relations_part("worksheet", "worksheets/s.xml"),
        "xl/worksheets/s.xml": (
            f'<worksheet xmlns="{OFFICE}/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is>'
            "<t>warm</t></is></c></row></sheetData></worksheet>"
        ),
    }
)


def load(source: SourceFile) -> LoadedText:
    """The sheets of a workbook in order.

    Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED.
    """
    with open_package(source.content, source.limits, "XLSX") as package:
        title = package.title()
        built = TextBuilder()
        held = HeldFiles(source, built, "file", is_aside=True)
        objects, pictures = 0, pictures_in_cells(package)
        try:
            workbook = CalamineWorkbook.from_filelike(io.BytesIO(source.content))
            parts = _sheet_parts(package)
            formats, struck = _formats(package), StruckCells(package)
            is_calculated = not _COUNTS_LATER.search(package.read(_WORKBOOK) if _WORKBOOK in package.names else b"")
            for sheet in workbook.sheets_metadata:
                part = parts.get(sheet.name)
                content = package.read(part) if part in package.names else b""
                rows: list[tuple[int, Sequence[str]]] = []
                if sheet.typ is SheetTypeEnum.WorkSheet:
                    rows = _rows(
                        workbook.get_sheet_by_name(sheet.name),
                        _marks(content, formats, is_calculated=is_calculated),
                        _remaining_texts(content, struck),
                    )
                drawn, comments = beside_cells(package, _WORKBOOK, part, dict(rows)) if part else ([], [])
                around = around_cells(content) if content else []
                if drawn or comments or around or any(any(row) for _, row in rows):
                    built.add(BlockKind.HEADING, strip_unstorable(sheet.name), level=1)
                    add_grid(built, rows, source.limits)
                    built.add_section("Drawings", drawn, level=2)
                    built.add_section("Comments", comments, level=2)
                    built.add_section("Header, footer and hints", around, level=2)
                pictures += sheet_pictures(package, part) if part else 0
            objects = sum(read_embedded(held, package, part) for part in parts.values())
        except CalamineError as error:
            raise ParseFailed(f"the XLSX is damaged: {error}", code="PARSE_CORRUPT") from error
    return with_unread(held.finish(title), none_of(pictures, PICTURE), none_of(objects, OBJECT))


def _rows(
    sheet: CalamineSheet, marks: Mapping[Place, str], shown: Mapping[Place, str]
) -> list[tuple[int, Sequence[str]]]:
    """The rows with their numbers, merged ranges filled in where something stands beside them. `shown` are the texts of
    cells of which something is struck out.
    """
    top, left = sheet.start or (0, 0)
    rows = [
        [_display_text(value, marks.get((top + down, left + right), "")) for right, value in enumerate(row)]
        for down, row in enumerate(sheet.to_python())
    ]
    for (down, right), text in shown.items():
        if 0 <= down - top < len(rows) and 0 <= right - left < len(rows[down - top]):
            rows[down - top][right - left] = text
    for (first, start), (last, end) in sheet.merged_cell_ranges or ():
        first, last, start, end = first - top, last - top, start - left, end - left
        if not 0 <= first < len(rows) or not 0 <= start < len(rows[first]):
            continue
        row = rows[first]
        if (last - first + 1) * (end - start + 1) <= _MOST_MERGED and (any(row[:start]) or any(row[end + 1 :])):
            for down, right in product(range(first, min(last + 1, len(rows))), range(start, min(end + 1, len(row)))):
                rows[down][right] = row[start]
    return [(top + down + 1, row) for down, row in enumerate(rows)]


def _sheet_parts(package: Package) -> dict[str, str]:
    """The part of each sheet by its name."""
    if _WORKBOOK not in package.names:
        return {}
    relations = package.relations(_WORKBOOK)
    return {
        sheet.get("name", ""): relations[sheet.get(_RELATION, "")][1]
        for sheet in package.tree(_WORKBOOK).iter(f"{_MAIN}sheet")
        if sheet.get(_RELATION) in relations
    }


def _formats(package: Package) -> dict[int, str]:
    """The format codes that show more than the number, by the index of the cell style."""
    if _STYLES not in package.names:
        return {}
    styles = package.tree(_STYLES)
    codes = _PERCENT | {
        int(one.get("numFmtId", "0")): one.get("formatCode", "") for one in styles.iter(f"{_MAIN}numFmt")
    }
    cell_styles = styles.find(f"{_MAIN}cellXfs")
    numbers = [int(one.get("numFmtId", "0")) for one in cell_styles] if cell_styles is not None else []
    return {at: codes[number] for at, number in enumerate(numbers) if shows_more(codes.get(number, ""))}


def _marks(content: bytes, formats: Mapping[int, str], *, is_calculated: bool) -> dict[Place, str]:
    """What calamine does not tell of a sheet: the format of a cell, or "=" and the formula that has no value yet."""
    if not formats and b"<f" not in content and b":f" not in content:
        return {}
    found: dict[Place, str] = {}
    for place, attributes, inner in _cells(content):
        style = _STYLE.search(attributes)
        formula = _FORMULA.search(inner)
        if formula is not None and (_HAS_VALUE if is_calculated else _IS_NOT_ZERO).search(inner) is None:
            found[place] = "=" + html.unescape(formula[1].decode("utf-8", "replace"))
        elif style is not None and int(style[1]) in formats:
            found[place] = formats[int(style[1])]
    return found


def _remaining_texts(content: bytes, struck: StruckCells) -> dict[Place, str]:
    """What is left of the cells of a sheet of which something is struck out."""
    if not struck.in_sheet(content):
        return {}
    texts = ((place, struck.what_is_left(attributes, inner)) for place, attributes, inner in _cells(content))
    return {place: text for place, text in texts if text is not None}


def _cells(content: bytes) -> Iterator[tuple[Place, bytes, bytes]]:
    """The cells of a sheet that say where they stand: place, attributes, what is inside."""
    for cell in _CELL.finditer(content):
        reference = _REFERENCE.search(cell[1])
        if reference is not None:
            yield _place(reference), cell[1], cell[2] or b""


def _place(reference: re.Match[bytes]) -> Place:
    column = 0
    for letter in reference[1]:
        column = column * 26 + letter - ord("A") + 1
    return int(reference[2]) - 1, column - 1


def _display_text(value: object, mark: str) -> str:
    """A cell as the sheet shows it; `mark` is its format, or the formula that stands for a missing value."""
    if isinstance(value, str):
        return " ".join(strip_unstorable(value).split()) or (mark if mark.startswith("=") else "")
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        if mark.startswith("="):
            return mark
        return number_text(value, mark)
    if isinstance(value, datetime.time | datetime.timedelta):
        return duration_text(value)
    if isinstance(value, datetime.datetime):
        # A time is stored as a fraction of a day, which a second is none of.
        value = (value + datetime.timedelta(seconds=0.5)).replace(microsecond=0)
        whole_day = value.time() == datetime.time()
        return value.date().isoformat() if whole_day else value.isoformat(" ", "minutes")
    return str(value)
