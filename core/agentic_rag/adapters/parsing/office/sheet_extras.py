"""What stands on a sheet beside its cells: comments, text boxes, diagrams, what is said of pictures, titles of charts,
the lines around its printed pages, hints of its cells.
The figures behind a chart are those of cells and are not repeated.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence

from agentic_rag.adapters.parsing.office.comments import cell_comments, cell_place, comment_line
from agentic_rag.adapters.parsing.office.drawing_text import alternative_texts, chart_data, paragraphs, shown_elements
from agentic_rag.adapters.parsing.office.package import Package
from agentic_rag.adapters.parsing.office.pictures import drawing_lines, drawn_pictures
from agentic_rag.adapters.parsing.text.formulas import local_name
from agentic_rag.kernel.text import strip_unstorable

_ROW = re.compile(r"[A-Z]{1,3}(\d{1,7})")
_AROUND = re.compile(rb"<(?:\w+:)?(?:odd|even|first)(?:Header|Footer)\b[^>]*>([^<]*)<")
_ASKING = re.compile(rb"<(?:\w+:)?dataValidation\b[^>]*>")
_SAID = re.compile(rb"""\b(promptTitle|prompt)=["']([^"']*)["']""")
_FIELD = re.compile(r'&(?:"[^"]*"|\d+|K[0-9A-F]{6}|[A-Z])')
"""Codes of fonts, sizes, colours, places, page numbers and dates (ECMA-376 Part 1, 18.3.1.46)."""
_PAGE = re.compile(r"\b(?:Page|of)\b", re.IGNORECASE)


def beside_cells(
    package: Package, workbook: str, sheet: str, rows: Mapping[int, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """What drawings on a sheet say, and the comments on its cells, each with the label of its row; `rows` by number."""
    drawn: list[str] = []
    for kind, part in package.relations(sheet).values():
        if kind == "drawing" and part in package.names:
            drawn += _drawing_lines(package, part)
    comments = [
        comment_line(text, author, cell_place(reference, _label(reference, rows)))
        for reference, author, text in cell_comments(package, workbook, sheet)
    ]
    return drawn, [*filter(None, comments)]


def around_cells(content: bytes) -> list[str]:
    """What stands above and below the printed pages of a sheet, without their numbers, and what cells say that ask for
    input; each once.
    """
    lines = [_FIELD.sub(" ", html.unescape(one[1].decode("utf-8", "replace"))) for one in _AROUND.finditer(content)]
    for cell in _ASKING.finditer(content):
        said = {name.decode(): html.unescape(text.decode("utf-8", "replace")) for name, text in _SAID.findall(cell[0])}
        lines.append(": ".join(said[name] for name in ("promptTitle", "prompt") if said.get(name)))
    kept = (" ".join(strip_unstorable(line).split()) for line in lines)
    return [*dict.fromkeys(line for line in kept if any(map(str.isalpha, _PAGE.sub("", line))))]


def sheet_pictures(package: Package, sheet: str) -> int:
    """How many large pictures the drawings on a sheet show."""
    drawings = [part for kind, part in package.relations(sheet).values() if kind == "drawing" and part in package.names]
    return sum(len(drawn_pictures(package.tree(part))) for part in drawings)


def _label(reference: str, rows: Mapping[int, Sequence[str]]) -> str:
    row = _ROW.fullmatch(reference)
    return next(filter(None, rows.get(int(row[1]), ())), "") if row else ""


def _drawing_lines(package: Package, part: str) -> list[str]:
    drawing = package.tree(part)
    shapes = [one for one in shown_elements(drawing) if local_name(one) == "sp"]
    lines = [line for shape in shapes for line in paragraphs(shape)]
    for kind, other in package.relations(part).values():
        if other not in package.names:
            continue
        if kind == "diagramData":
            lines += paragraphs(package.tree(other))
        elif kind in ("chart", "chartEx") and (caption := chart_data(package.tree(other)).caption):
            lines.append(f"Chart: {caption}")
    return [*lines, *filter(None, drawing_lines(package, part)), *alternative_texts(drawing)]
