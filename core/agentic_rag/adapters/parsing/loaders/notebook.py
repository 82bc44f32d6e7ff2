"""IPYNB (nbformat 3 and 4): prose, code and printed results in the order of the cells."""

from __future__ import annotations

from typing import Annotated

import msgspec

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.loaders.markdown import read_markdown
from agentic_rag.adapters.parsing.pictures import embedded_picture, is_large
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.adapters.parsing.unread import PICTURE, none_of, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed

SAMPLE = b'{"cells":[{"cell_type":"markdown","source":"warm"}]}'
_Lines = str | list[str]
_LONGEST_RESULT = 4_000
"""Code points kept of one printed result: logs of training runs say little."""


class _Shown(msgspec.Struct):
    plain: _Lines = msgspec.field(default="", name="text/plain")
    markdown: _Lines = msgspec.field(default="", name="text/markdown")
    html: _Lines = msgspec.field(default="", name="text/html")
    png: _Lines = msgspec.field(default="", name="image/png")
    jpeg: _Lines = msgspec.field(default="", name="image/jpeg")


class _Output(msgspec.Struct):
    text: _Lines = ""
    data: _Shown = msgspec.field(default_factory=_Shown)
    error: str = msgspec.field(default="", name="ename")
    message: str = msgspec.field(default="", name="evalue")


class _Cell(msgspec.Struct):
    cell_type: Annotated[str, msgspec.Meta(max_length=40)] = ""
    source: _Lines = ""
    input: _Lines = ""
    outputs: list[_Output] = []


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
    outputs: list[_Output] = []
    for cell in notebook.cells or [cell for sheet in notebook.worksheets for cell in sheet.cells]:
        text = _joined(cell.source or cell.input)
        if cell.cell_type == "markdown":
            built.append(read_markdown(text))
        elif cell.cell_type != "heading":
            built.add(BlockKind.CODE if cell.cell_type == "code" else BlockKind.PARAGRAPH, text)
        else:
            built.add(BlockKind.HEADING, text, level=1)
        outputs += cell.outputs
        for output in cell.outputs:
            _add_result(built, output)
    text = built.text()
    loaded = LoadedText(text, tuple(built.blocks), title=first_heading(text, built.blocks))
    return with_unread(loaded, none_of(sum(map(_draws, outputs)), PICTURE))


def _draws(output: _Output) -> bool:
    """Whether a result shows a large picture."""
    drawn = output.data.png or output.data.jpeg
    return bool(drawn) and is_large(embedded_picture(f"data:image/any;base64,{_joined(drawn)}"))


def _add_result(built: TextBuilder, output: _Output) -> None:
    """A printed result or an error; a result that is shown as a page only is read as one."""
    if output.error:
        built.add(BlockKind.CODE, f"{output.error}: {output.message}")
    shown = _joined(output.text or output.data.plain)
    if shown.strip():
        built.add(BlockKind.CODE, shown[:_LONGEST_RESULT])
        if len(shown) > _LONGEST_RESULT:
            built.add(
                BlockKind.PARAGRAPH, f"(The rest of this result, {len(shown) - _LONGEST_RESULT} signs, is not read.)"
            )
    elif markdown := _joined(output.data.markdown):
        built.append(read_markdown(markdown))
    elif page := _joined(output.data.html):
        built.append(read_html(page))


def _joined(lines: _Lines) -> str:
    return lines if isinstance(lines, str) else "".join(lines)
