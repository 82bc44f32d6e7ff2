"""RTF by striprtf: the paragraphs of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from typing import cast

import striprtf.striprtf

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.office.rtf_symbols import font_table, group_end, symbols_written
from agentic_rag.adapters.parsing.pictures import says_something
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.adapters.parsing.text.table_text import add_table, count_names
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
_STRUCK_GROUP = re.compile(r"\{(?!\\rtf)(?:\\[a-z]+-?\d* ?)*\\strike(?:d1)?(?![a-z0-9])")
_STRIKE = re.compile(r"\\[\\{}]|\\strike(?:d1|(?P<ends>d?0))?(?![a-z0-9]) ?|(?P<brace>[{}])")
"""Text that is struck out: a group of its own, as Word writes it, and up to the word that ends it, as WordPad does."""
_PARAGRAPH = re.compile(r"\\par(?![a-z])")
_FONT_ALONE = re.compile(r"\{\\f\d+(?:(?!\\fcharset)[^{};])*;\}")
"""A font of the file's own code page: striprtf gives it the one that the next font states."""
_OLD_NUMBER = re.compile(r"\{\\pntext(?![a-z])")
"""The number of a paragraph as WordPad writes it; striprtf knows the other word for it."""
_OBJECT = re.compile(r"\{\\object(?![a-z])")
_EQUATION = re.compile(r"\\moMath(?![A-Za-z])")
_PICTURE = re.compile(r"\{\\pict(?![a-z])")
_SIDES = re.compile(r"\\pic(wgoal|hgoal|scalex|scaley)(\d{1,6})")
_OLD_COPY = re.compile(r"\{(?:\\\*)?\\nonshppict(?![a-z])")
_RESULT_WITHIN = 200
"""Characters behind the definition of a form's field in which its result begins."""
_PICTURE_HEAD = 400
"""Characters in which a picture states its size."""
_TWIPS_A_CM = 567
_ROW_WORD = re.compile(r"\\(trowd|clv?mrg|cellx-?\d+|cell|row)(?![a-z])")
"""What merged cells, and the cells and the ends of rows, are marked by (RTF 1.9.1, table definitions)."""
_LEFT, _ABOVE = "\ue000", "\ue001"
"""Stand in a cell that is part of the one beside it, or above it."""
_CHOICE = re.compile(r"\\ffres(\d+)(?![a-z0-9])")
_CHOICES = re.compile(r"\{\\\*\\ffl ([^{}\\]*)\}")
_FORM_FIELD = re.compile(r"\{\\\*\\formfield(?![a-z])")
_FIELD_END = re.compile(r"\{\\fldrslt(?![a-z]) ?")
SAMPLE = rb"{\rtf1\ansi warm\par}"


def load(source: SourceFile) -> LoadedText:
    """The text of an RTF file, a paragraph a line; behind it notes, comments and text boxes. Equations, large
    pictures and objects of other programs are told as unread.
    """
    raw = source.content.decode("latin-1")
    strip = cast(Callable[..., str], striprtf.striprtf.rtf_to_text)  # pyright: ignore[reportUnknownMemberType]
    raw = _without_struck(_without_deleted(_OLD_NUMBER.sub(r"{\\listtext", symbols_written(_without_lone_fonts(raw)))))
    content = _SHIFTED.sub(_write_shift, _with_asides(_with_choices(_mark_merged(raw))))
    text = strip(content, errors="replace")
    built = TextBuilder()
    for in_table, lines in groupby(strip_unstorable(text).splitlines(), lambda line: line.endswith("|")):
        if in_table:
            rows = _fill_merged([[" ".join(cell.split()) for cell in line[:-1].split("|")] for line in lines])
            add_table(built, rows, count_names(rows))
            continue
        for line in lines:
            built.add(BlockKind.PARAGRAPH, " ".join(line.split()))
    loaded = LoadedText(built.text(), tuple(built.blocks))
    equations = len(_EQUATION.findall(raw))
    objects = len(_OBJECT.findall(raw))
    return with_unread(
        loaded, none_of(_count_pictures(raw), PICTURE), none_of(equations, EQUATION), none_of(objects, OBJECT)
    )


def _without_lone_fonts(content: str) -> str:
    """The file without these fonts. Text that a document sets in a font looks alike, so that only the table counts."""
    start, end = font_table(content)
    return content[:start] + _FONT_ALONE.sub("", content[start:end]) + content[end:]


def _mark_merged(content: str) -> str:
    """The file with a mark in each cell that is part of another one: striprtf leaves it empty."""
    kept, at = list[str](), 0
    merged, wanted, cell = list[str](), "", 0
    for word in _ROW_WORD.finditer(content):
        match word[1]:
            case "trowd":
                merged, wanted = [], ""
            case "clmrg":
                wanted = _LEFT
            case "clvmrg":
                wanted = _ABOVE
            case "row":
                cell = 0
            case "cell":
                mark = merged[cell] if cell < len(merged) else ""
                if mark:
                    kept += content[at : word.start()], f"{{\\uc0\\u{ord(mark)} }}"
                    at = word.start()
                cell += 1
            case _:
                merged.append(wanted)
                wanted = ""
    return "".join((*kept, content[at:]))


def _fill_merged(rows: list[list[str]]) -> list[list[str]]:
    """The rows with the text of a merged cell in each column and row that it covers, unless it is all of its row."""
    above: list[str] = []
    for row in rows:
        fills_row = len(row) > 1 and all(_LEFT in cell for cell in row[1:])
        for at, cell in enumerate(row):
            own = cell.replace(_LEFT, "").replace(_ABOVE, "").strip()
            if not own and _LEFT in cell and at and not fills_row:
                own = row[at - 1]
            elif not own and _ABOVE in cell and at < len(above):
                own = above[at]
            row[at] = own
        above = row
    return rows


def _with_choices(content: str) -> str:
    """The file with what was chosen in each list of a form as the result of its field, where that is empty."""
    kept, at = list[str](), 0
    for field in _FORM_FIELD.finditer(content):
        end = group_end(content, field.end())
        held = content[field.end() : end]
        chosen, choices = _CHOICE.search(held), _CHOICES.findall(held)
        result = _FIELD_END.search(content, end, end + _RESULT_WITHIN)
        if chosen is None or result is None or not int(chosen[1]) < len(choices):
            continue
        if not content[result.end() : group_end(content, result.end())].strip():
            kept += content[at : result.end()], choices[int(chosen[1])]
            at = result.end()
    return "".join((*kept, content[at:]))


def _without_deleted(content: str) -> str:
    kept, at = list[str](), 0
    for group in _DELETED.finditer(content):
        if group.start() >= at:
            kept.append(content[at : group.start()])
            at = group_end(content, group.end()) + 1
    return "".join((*kept, content[at:]))


def _without_struck(content: str) -> str:
    """The file without groups that are struck out; its paragraphs stay apart."""
    kept, at = list[str](), 0
    for group in _STRUCK_GROUP.finditer(content):
        if group.start() < at:
            continue
        end = group_end(content, group.end())
        held = content[group.end() : end]
        if "\\strike0" not in held and "\\striked0" not in held:
            kept += content[at : group.start()], _paragraphs_of(held)
            at = end + 1
    return _without_struck_runs("".join((*kept, content[at:])))


def _without_struck_runs(content: str) -> str:
    kept, at = list[str](), 0
    start: int | None = None
    for word in _STRIKE.finditer(content):
        if word["brace"]:
            start = None
        elif word["ends"] and start is not None:
            kept += content[at:start], _paragraphs_of(content[start : word.start()])
            at, start = word.end(), None
        elif word[0].startswith("\\strike") and not word["ends"]:
            start = word.start() if start is None else start
    return "".join((*kept, content[at:]))


def _paragraphs_of(struck: str) -> str:
    return "{\\par}" * len(_PARAGRAPH.findall(struck))


def _count_pictures(content: str) -> int:
    """How many large pictures stand in the file, without the second copies for older programs."""
    old = [(one.start(), group_end(content, one.end())) for one in _OLD_COPY.finditer(content)]
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
        end = group_end(content, aside.end())
        label = "Comment: " if aside[1] == "annotation" else ""
        found[f"{{\\pard\\plain {label}{content[aside.end() : end]}}}\\par\n"] = None
    if not found:
        return content
    last = content.rstrip().rfind("}")
    return f"{content[:last]}\\par\n{''.join(found)}{content[last:]}"


def _write_shift(found: re.Match[str]) -> str:
    """Raised or lowered letters as RTF's own characters of Unicode (RTF 1.9.1, `\\uN`)."""
    before, brace, left, shift, right, letters = found.groups()
    shown = shifted_text(letters, Shift.RAISED if shift == "super" else Shift.LOWERED, before)
    if not shown.isascii():
        shown = "{\\uc0" + "".join(f"\\u{ord(letter)} " for letter in shown) + "}"
    controls = left + right
    return f"{before}{brace}{controls}{' ' if controls else ''}{shown}"
