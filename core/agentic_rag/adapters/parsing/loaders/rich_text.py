"""RTF by striprtf: the paragraphs of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from typing import cast

import striprtf.striprtf

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.pictures import says_something
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.adapters.parsing.text.table_text import add_table
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.adapters.parsing.unread import EQUATION, OBJECT, PICTURE, none_of, with_unread
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.text import strip_unstorable

_SHIFTED = re.compile(r"(.?)(\{?)((?:\\[a-z]+-?\d*)*)\\(super|sub)(?![a-z])((?:\\[a-z]+-?\d*)*) ?([^\\{}\r\n]{1,12})")
_ASIDE = re.compile(
    r"\{(?:\\\*)?\\(footnote|annotation|shptxt|dptxbxtext|header[lrf]?|footer[lrf]?|result)(?![a-z])-?\d*\s?"
)
"""The groups whose text stands beside that of the document (RTF 1.9.1)."""
_DELETED = re.compile(r"\{(?:\\[a-z]+-?\d* ?)*\\deleted(?![a-z0-9])")
"""A group of text that tracked changes deleted."""
_OBJECT = re.compile(r"\{\\object(?![a-z])")
_EQUATION = re.compile(r"\\moMath(?![A-Za-z])")
_PICTURE = re.compile(r"\{\\pict(?![a-z])")
_SIDES = re.compile(r"\\pic(wgoal|hgoal|scalex|scaley)(\d{1,6})")
_OLD_COPY = re.compile(r"\{(?:\\\*)?\\nonshppict(?![a-z])")
_PICTURE_HEAD = 400
"""Characters in which a picture states its size."""
_TWIPS_A_CM = 567
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
SAMPLE = rb"{\rtf1\ansi warm\par}"


def load(source: SourceFile) -> LoadedText:
    """The text of an RTF file, a paragraph a line; behind it notes, comments and text boxes. Equations, large
    pictures and objects of other programs are told as unread.
    """
    raw = source.content.decode("latin-1")
    strip = cast(Callable[..., str], striprtf.striprtf.rtf_to_text)  # pyright: ignore[reportUnknownMemberType]
    raw = _without_deleted(raw)
    content = _SHIFTED.sub(_write_shift, _with_asides(raw))
    text = strip(content, errors="replace")
    built = TextBuilder()
    for in_table, lines in groupby(strip_unstorable(text).splitlines(), lambda line: line.endswith("|")):
        if in_table:
            add_table(built, [[" ".join(cell.split()) for cell in line[:-1].split("|")] for line in lines], 0)
            continue
        for line in lines:
            built.add(BlockKind.PARAGRAPH, " ".join(line.split()))
    loaded = LoadedText(built.text(), tuple(built.blocks))
    equations = len(_EQUATION.findall(raw))
    objects = len(_OBJECT.findall(raw))
    return with_unread(
        loaded, none_of(_count_pictures(raw), PICTURE), none_of(equations, EQUATION), none_of(objects, OBJECT)
    )


def _without_deleted(content: str) -> str:
    kept, at = list[str](), 0
    for group in _DELETED.finditer(content):
        if group.start() >= at:
            kept.append(content[at : group.start()])
            at = _group_end(content, group.end()) + 1
    return "".join((*kept, content[at:]))


def _count_pictures(content: str) -> int:
    """How many large pictures stand in the file, without the second copies for older programs."""
    old = [(one.start(), _group_end(content, one.end())) for one in _OLD_COPY.finditer(content)]
    count = 0
    for picture in _PICTURE.finditer(content):
        head = content[picture.end() : picture.end() + _PICTURE_HEAD].partition("}")[0]
        stated = {name: int(number) for name, number in _SIDES.findall(head)}
        wide = stated.get("wgoal", 0) * stated.get("scalex", 100) / 100 / _TWIPS_A_CM
        high = stated.get("hgoal", 0) * stated.get("scaley", 100) / 100 / _TWIPS_A_CM
        is_old = any(start <= picture.start() < end for start, end in old)
        count += not is_old and says_something(wide, high)
    return count


def _with_asides(content: str) -> str:
    """The file with notes, comments, text boxes and the lines around its pages as paragraphs at its end: striprtf drops
    them where they stand.
    """
    found: dict[str, None] = {}
    for aside in _ASIDE.finditer(content):
        end = _group_end(content, aside.end())
        label = "Comment: " if aside[1] == "annotation" else ""
        found[f"{{\\pard\\plain {label}{content[aside.end() : end]}}}\\par\n"] = None
    if not found:
        return content
    last = content.rstrip().rfind("}")
    return f"{content[:last]}\\par\n{''.join(found)}{content[last:]}"


def _group_end(content: str, start: int) -> int:
    """Where the group ends that is open at `start`."""
    depth = 1
    for brace in _BRACE.finditer(content, start):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0:
            return brace.start()
    return len(content)


def _write_shift(found: re.Match[str]) -> str:
    """Raised or lowered letters as RTF's own characters of Unicode (RTF 1.9.1, `\\uN`)."""
    before, brace, left, shift, right, letters = found.groups()
    shown = shifted_text(letters, Shift.RAISED if shift == "super" else Shift.LOWERED, before)
    if not shown.isascii():
        shown = "{\\uc0" + "".join(f"\\u{ord(letter)} " for letter in shown) + "}"
    controls = left + right
    return f"{before}{brace}{controls}{' ' if controls else ''}{shown}"
