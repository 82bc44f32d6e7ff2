"""IPYNB (nbformat 3 and 4): prose, code and printed results in the order of the cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

import msgspec

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.loaders.markdown import read_markdown
from agentic_rag.adapters.parsing.pictures import embedded_picture, is_large
from agentic_rag.adapters.parsing.text.svg import read_svg
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.adapters.parsing.unread import OBJECT, PICTURE, none_of, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed

SAMPLE = b'{"cells":[{"cell_type":"markdown","source":"warm"}]}'
_Lines = str | list[str]
_SVG = "image/svg+xml"
_PICTURES = ("image/png", "image/jpeg")
_PRINTED = ("text/latex", "text/csv", "application/json")
_CHART = re.compile(r"^application/(?:pdf$|vnd\.(?:vega|plotly|bokeh))")
"""Forms of results that show a chart, or pages, and are no text."""
_NAME_OF_OBJECT = re.compile(r"<[^<>\n]+>")
"""What Python prints of an object that is shown otherwise (`<IPython.core.display.HTML object>`)."""
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Of a terminal (ECMA-48)."""
_LONGEST_RESULT = 4_000
"""Code points kept of one printed result: logs of training runs say little."""


class _Output(msgspec.Struct):
    text: _Lines = ""
    data: dict[str, msgspec.Raw] = {}
    error: str = msgspec.field(default="", name="ename")
    message: str = msgspec.field(default="", name="evalue")


class _Cell(msgspec.Struct):
    cell_type: Annotated[str, msgspec.Meta(max_length=40)] = ""
    source: _Lines = ""
    input: _Lines = ""
    outputs: list[_Output] = []
    attachments: dict[str, dict[str, msgspec.Raw]] = {}


class _Worksheet(msgspec.Struct):
    cells: list[_Cell] = []


class _Notebook(msgspec.Struct):
    cells: list[_Cell] = []
    worksheets: list[_Worksheet] = []


def load(source: SourceFile) -> LoadedText:
    """The cells of a notebook; large pictures are told as unread, widgets are left out.

    Errors: `ParseFailed` code PARSE_CORRUPT.
    """
    try:
        notebook = msgspec.json.decode(source.text.encode(), type=_Notebook)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise ParseFailed(f"the notebook is damaged: {error}", code="PARSE_CORRUPT") from error
    built = TextBuilder()
    pictures = charts = 0
    for cell in notebook.cells or [cell for sheet in notebook.worksheets for cell in sheet.cells]:
        text = _join_lines(cell.source or cell.input)
        if cell.cell_type == "markdown":
            built.append(read_markdown(text))
        elif cell.cell_type != "heading":
            built.add(BlockKind.CODE if cell.cell_type == "code" else BlockKind.PARAGRAPH, text)
        else:
            built.add(BlockKind.HEADING, text, level=1)
        pictures += sum(map(_draws, (*cell.attachments.values(), *(output.data for output in cell.outputs))))
        for output in cell.outputs:
            charts += not _add_result(built, output) and any(map(_CHART.search, output.data))
    text = built.text()
    loaded = LoadedText(text, tuple(built.blocks), title=first_heading(text, built.blocks))
    return with_unread(loaded, none_of(pictures, PICTURE), none_of(charts, OBJECT))


def _draws(data: Mapping[str, msgspec.Raw]) -> bool:
    """Whether a result or an attachment shows a large picture."""
    drawing = _lines(data, _SVG)
    if drawing and read_svg(drawing.encode(errors="replace"))[1]:
        return True
    drawn = next(filter(None, (_lines(data, kind) for kind in _PICTURES)), "")
    return bool(drawn) and is_large(embedded_picture(f"data:image/any;base64,{drawn}"))


def _add_result(built: TextBuilder, output: _Output) -> bool:
    """Append a printed result or an error; of a result in several forms the plain one, unless that only names an
    object. False where no form of it is text.
    """
    before = built.length
    if output.error:
        built.add(BlockKind.CODE, f"{output.error}: {output.message}")
    plain = _COLOURS.sub("", _join_lines(output.text) or _lines(output.data, "text/plain"))
    is_name = _NAME_OF_OBJECT.fullmatch(plain.strip()) is not None
    if plain.strip() and not is_name:
        _add_printed(built, plain)
    elif markdown := _lines(output.data, "text/markdown"):
        built.append(read_markdown(markdown))
    elif page := _lines(output.data, "text/html"):
        built.append(read_html(page))
    elif drawing := _lines(output.data, _SVG):
        built.add(BlockKind.PARAGRAPH, read_svg(drawing.encode(errors="replace"))[0])
    else:
        _add_printed(built, next(filter(None, (_lines(output.data, kind) for kind in _PRINTED)), ""))
    is_text = built.length > before
    if is_name and not is_text:
        _add_printed(built, plain)
    return is_text


def _add_printed(built: TextBuilder, text: str) -> None:
    built.add(BlockKind.CODE, text[:_LONGEST_RESULT])
    if len(text) > _LONGEST_RESULT:
        left = len(text) - _LONGEST_RESULT
        built.add(BlockKind.PARAGRAPH, f"(The rest of this result, {left} signs, is not read.)")


def _lines(data: Mapping[str, msgspec.Raw], kind: str) -> str:
    """A result in one of its forms; JSON as it is written."""
    held = data.get(kind)
    if held is None:
        return ""
    try:
        return _join_lines(msgspec.json.decode(held, type=_Lines))
    except msgspec.DecodeError:
        return bytes(held).decode()


def _join_lines(lines: _Lines) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
