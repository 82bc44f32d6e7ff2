"""OpenDocument text, spreadsheets and presentations (ODT, ODS, ODP): ISO/IEC 26300, part `content.xml`. Comments stand
behind the paragraph or the table that they are about; text that tracked changes deleted is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.office.comments import cell_place, column_letters
from agentic_rag.adapters.parsing.office.open_extras import (
    ANNOTATION,
    NOTE,
    OPEN_NAMES,
    OpenObjects,
    comment_of,
    comments_in,
    form_lines,
    leave_out_struck,
    notes_in,
    page_lines,
    picture_text,
    write_objects,
)
from agentic_rag.adapters.parsing.office.package import open_package, zip_parts
from agentic_rag.adapters.parsing.office.pictures import framed_pictures, lacks_words
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text.number_formats import number_text
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.adapters.parsing.text.svg import read_svg
from agentic_rag.adapters.parsing.text.table_text import add_grid, add_table, count_names
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.adapters.parsing.unread import OBJECT, PAGE, PICTURE, UnreadParts, none_of, with_unread
from agentic_rag.documents.document import BlockKind, PageSpan
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.text import strip_unstorable

_TEXT, _TABLE, _DRAW = (f"{{{OPEN_NAMES}:{room}:1.0}}" for room in ("text", "table", "drawing"))
_OFFICE, _PRESENTATION = (f"{{{OPEN_NAMES}:{room}:1.0}}" for room in ("office", "presentation"))
_STYLE = f"{{{OPEN_NAMES}:style:1.0}}"
_LEFT_OUT = frozenset({
    ANNOTATION, f"{_TEXT}tracked-changes", f"{_TABLE}tracked-changes", f"{_TEXT}sequence-decls", f"{_TEXT}bookmark",
    f"{_TEXT}table-of-content", NOTE, f"{_OFFICE}forms", f"{_OFFICE}scripts",
})  # fmt: skip
_NOTE_TEXT = f"{_TEXT}note-body"
_COVERED = f"{_TABLE}covered-table-cell"
_CELLS = (f"{_TABLE}table-cell", _COVERED)
_ROW_GROUPS = tuple(f"{_TABLE}{name}" for name in ("table-header-rows", "table-row-group", "table-rows"))
_MOST_REPEATED = 1_000
"""Cells and rows that a repeat count makes; sheets end with a blank row repeated a million times."""


def _sample(name: str, content: str) -> bytes:
    names = " ".join(f'xmlns:{room}="{OPEN_NAMES}:{room}:1.0"' for room in ("office", "text", "table", "drawing"))
    return zip_parts(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{name}",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": f"<office:document-content {names}><office:body><office:{name}>{content}</office:{name}>"
            "</office:body></office:document-content>",
        }
    )


_WARM = "<text:p>warm</text:p>"
TEXT_SAMPLE = _sample("text", _WARM)
SPREADSHEET_SAMPLE = _sample(
    "spreadsheet",
    f'<table:table table:name="warm"><table:table-row><table:table-cell>{_WARM}</table:table-cell></table:table-row>'
    "</table:table>",
)
PRESENTATION_SAMPLE = _sample(
    "presentation",
    f"<drawing:page><drawing:frame><drawing:text-box>{_WARM}</drawing:text-box></drawing:frame></drawing:page>",
)


def load(source: SourceFile) -> LoadedText:
    """Headings, paragraphs, lists and tables; every slide is a page, every sheet a section.

    Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED.
    """
    with open_package(source.content, source.limits, "OpenDocument file") as package:
        if b"encryption-data" in package.read("META-INF/manifest.xml"):
            raise ParseFailed("the document is protected by a password; save it without one", code="PARSE_ENCRYPTED")
        content = package.tree("content.xml")
        named_styles = package.tree("styles.xml") if "styles.xml" in package.names else ElementTree.Element("none")
        named = package.title("meta.xml")
        objects = write_objects(package, content)
        drawings = [read_svg(package.read(one))[0] for one in sorted(package.names) if one.endswith(".svg")]
        large = framed_pictures(content, _LEFT_OUT)
        # Those of slides stand beside words.
        lettered = sum(one in package.names and lacks_words(package.read(one), width) for one, width in large.items())
    body = content.find(f"{_OFFICE}body")
    _write_shifts(content, {**_shifts(named_styles), **_shifts(content)})
    leave_out_struck(content, named_styles)
    reading = _Reading(source.limits, objects)
    for part in body if body is not None else ():
        reading.body(part)
    title = first_heading(reading.built.text(), reading.built.blocks, deepest=1)
    reading.built.add_section("Drawings", [*filter(None, drawings)])
    reading.built.add_section("Form", form_lines(content))
    reading.built.add_section("Header and footer", page_lines(named_styles))
    text = reading.built.text()
    loaded = LoadedText(text, tuple(reading.built.blocks), tuple(reading.pages), named or title)
    pictures = lettered if reading.pages else len(large)
    return with_unread(
        loaded,
        UnreadParts(reading.drawn, len(reading.pages), PAGE),
        none_of(pictures, PICTURE),
        none_of(objects.unread, OBJECT),
    )


def _shifts(styles: ElementTree.Element) -> dict[str, Shift]:
    """The styles that raise or lower letters (ISO/IEC 26300-1, 20.384 style:text-position)."""
    found: dict[str, Shift] = {}
    for style in styles.iter(f"{_STYLE}style"):
        properties = style.find(f"{_STYLE}text-properties")
        place = "" if properties is None else properties.get(f"{_STYLE}text-position", "").partition(" ")[0]
        if place.strip("0%"):
            found[style.get(f"{_STYLE}name", "")] = Shift.LOWERED if place.startswith(("sub", "-")) else Shift.RAISED
    return found


def _write_shifts(content: ElementTree.Element, shifts: Mapping[str, Shift]) -> None:
    """Write the spans of these styles as raised and lowered letters."""
    for parent in content.iter():
        before = parent.text or ""
        for child in parent:
            shift = shifts.get(child.get(f"{_TEXT}style-name", "")) if child.tag == f"{_TEXT}span" else None
            if shift is not None:
                child.text = shifted_text(child.text or "", shift, before)
            before = child.tail or child.text or ""


class _Reading:
    """Depth-first over the body."""

    def __init__(self, limits: ParserLimits, objects: OpenObjects) -> None:
        self.built = TextBuilder()
        self.pages: list[PageSpan] = []
        self.drawn: list[int] = []
        """The slides that are nothing but pictures."""
        self._limits = limits
        self._objects = objects
        self._in_spreadsheet = False

    def body(self, part: ElementTree.Element) -> None:
        """Read the one part of the body: a text, a spreadsheet or a presentation."""
        self._in_spreadsheet = part.tag == f"{_OFFICE}spreadsheet"
        self.walk(part)

    def walk(self, node: ElementTree.Element) -> None:
        """Read what stands in an element."""
        for child in node:
            self._read(child)

    def _read(self, node: ElementTree.Element) -> None:
        if node.tag == ANNOTATION:
            self.built.add(BlockKind.PARAGRAPH, comment_of(node))
        if node.tag in _LEFT_OUT:
            return
        if node.tag == f"{_TEXT}h":
            level = node.get(f"{_TEXT}outline-level", "1")
            self.built.add(BlockKind.HEADING, _line(node), level=min(int(level), 6) if level.isdigit() else 1)
            self._beside([node])
        elif node.tag == f"{_TEXT}p":
            self.built.add(BlockKind.PARAGRAPH, _line(node))
            self._beside([node])
        elif node.tag == f"{_TEXT}list-item":
            self._item(node)
        elif node.tag == f"{_TABLE}table":
            self._table(node)
        elif node.tag == f"{_DRAW}page":
            self._slide(node)
        elif node.tag == f"{_DRAW}frame":
            self._frame(node)
        else:
            self.walk(node)

    def _beside(self, nodes: Sequence[ElementTree.Element]) -> None:
        """What is anchored in paragraphs: frames, notes, then comments."""
        for node in nodes:
            for frame in _frames(node):
                self._frame(frame)
            for note in notes_in(node):
                for text in note.iterfind(_NOTE_TEXT):
                    self.walk(text)
            self.built.add_section("", comments_in(node))

    def _frame(self, frame: ElementTree.Element) -> None:
        chart = self._objects.charts.get(id(frame))
        if chart is not None:
            rows = [] if chart.table is None or self._in_spreadsheet else [row for _, row, _ in _rows(chart.table)]
            # The figures behind the chart of a sheet are those of its cells.
            caption = f"Chart: {chart.caption}" if self._in_spreadsheet and chart.caption else chart.caption
            add_table(self.built, [row for row in rows if any(row)], 1, caption)
        else:
            self.walk(self._objects.documents.get(id(frame), frame))
        self.built.add(BlockKind.PARAGRAPH, picture_text(frame))

    def _item(self, node: ElementTree.Element) -> None:
        own = [child for child in node if child.tag in (f"{_TEXT}p", f"{_TEXT}h")]
        lines = [_line(child) for child in own]
        self.built.add(BlockKind.LIST_ITEM, "- " + " ".join(lines) if any(lines) else "")
        self._beside(own)
        for child in node:
            if child.tag not in (f"{_TEXT}p", f"{_TEXT}h"):
                self._read(child)

    def _table(self, node: ElementTree.Element) -> None:
        if self._in_spreadsheet:
            self._sheet(node)
            return
        cells = [cell for row in _own_rows(node) for cell in row if cell.tag in _CELLS]
        if any(next(cell.iter(f"{_TABLE}table"), None) is not None for cell in cells):
            # A table that holds tables only places them.
            for cell in cells:
                self.walk(cell)
            return
        rows = list(_rows(node))
        held = [row for _, row, _ in rows if any(row)]
        headed = sum(header and any(row) for _, row, header in rows)
        add_table(self.built, held, headed or count_names(held))
        self._beside(cells)

    def _sheet(self, node: ElementTree.Element) -> None:
        rows = list(_rows(node))
        is_blank = not any(any(row) for _, row, _ in rows)
        if is_blank and not "".join(node.itertext()).strip() and node.find(f".//{_DRAW}object") is None:
            # A name is no content.
            return
        self.built.add(BlockKind.HEADING, node.get(f"{_TABLE}name", ""), level=1)
        add_grid(self.built, ((number, row) for number, row, _ in rows), self._limits)
        for shapes in node.findall(f"{_TABLE}shapes"):
            self.walk(shapes)
        for cell in (cell for row in _own_rows(node) for cell in row if cell.tag in _CELLS):
            for frame in _frames(cell):
                self._frame(frame)
        self.built.add_section("Comments", _cell_comments(node), level=2)

    def _slide(self, node: ElementTree.Element) -> None:
        start, first = self.built.length, len(self.built.blocks)
        for frame in sorted(node, key=lambda frame: frame.get(f"{_PRESENTATION}class") != "title"):
            if frame.get(f"{_PRESENTATION}class") == "title":
                self.built.add(BlockKind.HEADING, _line(frame), level=1)
            elif frame.tag == f"{_PRESENTATION}notes":
                if any(_line(paragraph) for paragraph in frame.iter(f"{_TEXT}p")):
                    self.built.add(BlockKind.HEADING, "Notes", level=2)
                    self.walk(frame)
            else:
                self._read(frame)
        self.pages.append(PageSpan(len(self.pages) + 1, start, self.built.length))
        titled = all(block.kind is BlockKind.HEADING for block in self.built.blocks[first:])
        has_picture = titled and node.find(f".//{_DRAW}image") is not None
        if has_picture and (self.built.length == start or framed_pictures(node, _LEFT_OUT)):
            self.drawn.append(len(self.pages))


def _rows(table: ElementTree.Element) -> Iterator[tuple[int, Sequence[str], bool]]:
    """(number, cells, whether it is a header row) of every row; repeated ones as often as they stand there."""
    number = 0
    headers = {
        id(row) for group in table.iter(f"{_TABLE}table-header-rows") for row in group.iter(f"{_TABLE}table-row")
    }
    spanned: dict[int, tuple[str, int]] = {}
    for row in _own_rows(table):
        cells = _cells(row, spanned)
        while cells and not cells[-1]:
            cells.pop()
        stated = _repeats(row, "rows")
        for at in range(1, (min(stated, _MOST_REPEATED) if cells else 1) + 1):
            yield number + at, cells, id(row) in headers
        number += stated


def _cells(row: ElementTree.Element, spanned: dict[int, tuple[str, int]]) -> list[str]:
    """The texts of a row, that of a merged cell in each that it covers, unless it is all of its row. `spanned` holds by
    column the text of the merged cell that reaches there, and for how many rows it does.
    """
    own = [cell for cell in row if cell.tag in _CELLS]
    fills_row = len(own) > 1 and all(cell.tag == _COVERED for cell in own[1:])
    texts: list[str] = []
    for cell in own:
        text, repeats = " ".join(filter(None, map(_line, _paragraphs(cell)))) or _value(cell), _repeats(cell, "columns")
        if cell.tag == _COVERED and not text:
            repeats = min(repeats, _MOST_REPEATED)
            texts += [spanned.get(at, ("", 0))[0] for at in range(len(texts), len(texts) + repeats)]
            continue
        columns, rows = (
            min(_repeat_count(cell, f"number-{what}-spanned"), _MOST_REPEATED) for what in ("columns", "rows")
        )
        if columns * rows > 1 and not (fills_row and rows == 1):
            spanned.update(dict.fromkeys(range(len(texts), len(texts) + columns), (text, rows)))
        texts += [text] * min(repeats, _MOST_REPEATED)
    for at, (text, rows) in list(spanned.items()):
        if rows > 1:
            spanned[at] = text, rows - 1
        else:
            del spanned[at]
    return texts


def _value(cell: ElementTree.Element) -> str:
    """The value of a cell that holds no text, as some programs write them, else its formula."""
    stated = (cell.get(f"{_OFFICE}{name}") for name in ("string-value", "date-value", "time-value", "boolean-value"))
    shown = next(filter(None, stated), "")
    number = cell.get(f"{_OFFICE}value", "")
    if not shown and number:
        try:
            shown = number_text(float(number), "0.00%" if cell.get(f"{_OFFICE}value-type") == "percentage" else "")
        except (ValueError, OverflowError):
            shown = number
    return shown or cell.get(f"{_TABLE}formula", "").removeprefix("of:")


def _own_rows(table: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The rows of a table, not those of tables in it."""
    for child in table:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from _own_rows(child)


def _paragraphs(cell: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The outermost paragraphs of a cell, those of lists too, but not those of frames and comments."""
    for child in cell:
        if child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
            yield child
        elif child.tag not in _LEFT_OUT and child.tag != f"{_DRAW}frame":
            yield from _paragraphs(child)


def _cell_comments(table: ElementTree.Element) -> Iterator[str]:
    """The comments of a sheet, each with its cell and the label of its row."""
    number = 1
    for row in _own_rows(table):
        column, label = 0, ""
        for cell in row:
            if cell.tag not in _CELLS:
                continue
            label = label or " ".join(filter(None, map(_line, _paragraphs(cell))))
            for annotation in cell.iter(ANNOTATION):
                yield comment_of(annotation, cell_place(f"{column_letters(column)}{number}", label))
            column += _repeats(cell, "columns")
        number += _repeats(row, "rows")


def _frames(node: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """The outermost frames in an element."""
    for child in node:
        if child.tag == f"{_DRAW}frame":
            yield child
        elif child.tag not in _LEFT_OUT:
            yield from _frames(child)


def _repeats(node: ElementTree.Element, what: str) -> int:
    return _repeat_count(node, f"number-{what}-repeated")


def _repeat_count(node: ElementTree.Element, name: str) -> int:
    stated = node.get(f"{_TABLE}{name}", "1")
    return max(int(stated), 1) if stated.isdigit() and len(stated) < 8 else 1


def _line(node: ElementTree.Element) -> str:
    """The text of a paragraph on one line, without comments and text boxes."""
    pieces: list[str] = []

    def read(one: ElementTree.Element) -> None:
        pieces.append(one.text or "")
        for child in one:
            if child.tag in (f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break"):
                pieces.append(" ")
            elif child.tag not in _LEFT_OUT and child.tag != f"{_DRAW}frame":
                read(child)
            pieces.append(child.tail or "")

    read(node)
    return " ".join(strip_unstorable("".join(pieces)).split())
