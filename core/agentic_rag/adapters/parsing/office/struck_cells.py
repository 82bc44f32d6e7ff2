"""Cells of sheets whose letters are struck out, as a whole or in runs: what they say does not hold any more."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from xml.etree.ElementTree import Element

from agentic_rag.adapters.parsing.office.package import OFFICE, Package
from agentic_rag.kernel.text import strip_unstorable

_MAIN = f"{{{OFFICE}/spreadsheetml/2006/main}}"
_STYLES, _STRINGS = "xl/styles.xml", "xl/sharedStrings.xml"
_OFF = ("0", "false")
_ITEM = re.compile(rb"<(?:\w+:)?si\b[^>]*?(?:/>|>(.*?)</(?:\w+:)?si>)", re.DOTALL)
_RUN = re.compile(rb"<(?:\w+:)?r\b[^>]*>(.*?)</(?:\w+:)?r>", re.DOTALL)
_RUN_SAYS = re.compile(rb"<(?:\w+:)?rPr\b")
_STRUCK = re.compile(rb"""<(?:\w+:)?strike\b(?![^>]*\bval=["'](?:0|false)["'])""")
_TEXT = re.compile(rb"<(?:\w+:)?t\b[^>]*>([^<]*)<")
_STYLE = re.compile(rb"""\bs=["'](\d+)["']""")
_IS_SHARED = re.compile(rb"""\bt=["']s["']""")
_VALUE = re.compile(rb"<(?:\w+:)?v\b[^>]*>\s*(\d+)\s*<")

_OPEN = "{urn:oasis:names:tc:opendocument:xmlns"
_TABLE, _OPEN_TEXT, _OPEN_OFFICE = (f"{_OPEN}:{room}:1.0}}" for room in ("table", "text", "office"))
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_DEFAULT = f"{_TABLE}default-cell-style-name"
_ANNOTATION = f"{_OPEN_OFFICE}annotation"
_MOST_COLUMNS = 16_384


class StruckCells:
    """What is struck out in a workbook (ECMA-376 Part 1, 18.4.10 strike)."""

    def __init__(self, package: Package) -> None:
        self._styles = _striking_styles(package)
        strings = package.read(_STRINGS) if _STRINGS in package.names else b""
        self._strings = dict(_run_items(strings)) if _STRUCK.search(strings) else {}
        """The runs of shared strings, by number, where something in some string is struck out."""

    def in_sheet(self, content: bytes) -> bool:
        """Whether something in a sheet may be struck out."""
        return bool(self._styles or self._strings or _STRUCK.search(content))

    def what_is_left(self, attributes: bytes, inner: bytes) -> str | None:
        """The text of a cell without what is struck out; None where nothing is."""
        style = _STYLE.search(attributes)
        is_struck = style is not None and int(style[1]) in self._styles
        runs = self._runs(attributes, inner)
        if not runs:
            return "" if is_struck else None
        left = [text for says, struck, text in runs if not (struck if says else is_struck)]
        return None if len(left) == len(runs) else " ".join(strip_unstorable("".join(left)).split())

    def _runs(self, attributes: bytes, inner: bytes) -> list[tuple[bool, bool, str]]:
        if not _IS_SHARED.search(attributes):
            return _runs(inner)
        number = _VALUE.search(inner)
        return [] if number is None else self._strings.get(int(number[1]), [])


def _striking_styles(package: Package) -> frozenset[int]:
    """The cell styles, by number, whose font strikes letters out."""
    if _STYLES not in package.names or _STRUCK.search(package.read(_STYLES)) is None:
        return frozenset()
    styles = package.tree(_STYLES)
    fonts, cells = styles.find(f"{_MAIN}fonts"), styles.find(f"{_MAIN}cellXfs")
    marks = [one.find(f"{_MAIN}strike") for one in fonts] if fonts is not None else []
    struck = {str(at) for at, mark in enumerate(marks) if mark is not None and mark.get("val", "1") not in _OFF}
    return frozenset(at for at, one in enumerate(cells if cells is not None else ()) if one.get("fontId") in struck)


def _run_items(strings: bytes) -> Iterator[tuple[int, list[tuple[bool, bool, str]]]]:
    for at, item in enumerate(_ITEM.finditer(strings)):
        runs = _runs(item[1] or b"")
        if runs:
            yield at, runs


def _runs(content: bytes) -> list[tuple[bool, bool, str]]:
    """Of each run whether it has a font of its own, whether that strikes it out, and its text."""
    return [
        (
            _RUN_SAYS.search(run[1]) is not None,
            _STRUCK.search(run[1]) is not None,
            html.unescape(b"".join(_TEXT.findall(run[1])).decode("utf-8", "replace")),
        )
        for run in _RUN.finditer(content)
    ]


def leave_out_struck_cells(content: Element, struck: Collection[str], kept: Collection[str]) -> None:
    """Empty the cells of an OpenDocument file whose style is one of `struck`, but for spans of a style of `kept`, which
    shows them, and for comments. A cell without a style has that of its row, else of its column.
    """
    for table in content.iter(f"{_TABLE}table") if struck else ():
        columns = list(_column_styles(table))
        for row in table.iter(f"{_TABLE}table-row"):
            at = 0
            for cell in row:
                if cell.tag in _CELLS:
                    of_column = columns[at] if at < len(columns) else ""
                    if (cell.get(f"{_TABLE}style-name") or row.get(_DEFAULT) or of_column) in struck:
                        _empty(cell, kept)
                    at += _repeats(cell)


def _column_styles(table: Element) -> Iterator[str]:
    left = _MOST_COLUMNS
    for column in table.iter(f"{_TABLE}table-column"):
        stated = min(_repeats(column), left)
        yield from [column.get(_DEFAULT, "")] * stated
        left -= stated


def _repeats(element: Element) -> int:
    stated = element.get(f"{_TABLE}number-columns-repeated", "1")
    return int(stated[:9]) if stated.isdecimal() else 1


def _empty(cell: Element, kept: Collection[str]) -> None:
    for name in [one for one in cell.attrib if one.startswith(_OPEN_OFFICE) or one == f"{_TABLE}formula"]:
        del cell.attrib[name]
    of_comments = {one for comment in cell.iter(_ANNOTATION) for one in comment.iter()}
    for paragraph in cell.iter(f"{_OPEN_TEXT}p"):
        if paragraph in of_comments:
            continue
        paragraph[:] = [
            one for one in paragraph if one.tag == _ANNOTATION or one.get(f"{_OPEN_TEXT}style-name") in kept
        ]
        paragraph.text = ""
        for one in paragraph:
            one.tail = ""
