"""What Word shows and mammoth does not read: equations and fields within the text; comments, charts, diagrams, text
boxes and what is said of pictures, as paragraphs and tables behind the outermost block where they are anchored; and the
lines above and below the pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement

from agentic_rag.adapters.parsing.office.comments import attribute, word_comments
from agentic_rag.adapters.parsing.office.drawing_text import alternative_text, chart_data, paragraphs
from agentic_rag.adapters.parsing.office.package import Package
from agentic_rag.adapters.parsing.office.symbol_fonts import symbols_written
from agentic_rag.adapters.parsing.text.formulas import formula_text, local_name
from agentic_rag.adapters.parsing.text.svg import read_svg
from agentic_rag.kernel.text import strip_unstorable

_HOLDERS = frozenset({"sdt", "sdtContent", "customXml"})
"""What stands around paragraphs and tables of the text."""
_BLOCKS = frozenset({"p", "tbl"})
_EQUATIONS = frozenset({"oMath", "oMathPara"})
_TRANSPARENT = frozenset({"fldSimple", "dir", "bdo"})
"""Fields with their result, and runs of text with a direction of their own."""
_RUBY, _RUBY_BASE = "ruby", "rubyBase"
_REWRITTEN = _EQUATIONS | _TRANSPARENT | {_RUBY}
_DELETED = frozenset({"del", "moveFrom", "Fallback"})
_PAGE_FIELD = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", re.IGNORECASE)


def write_inline(tree: Element) -> bool:
    """Write equations as runs of text, and lift text out of the elements that mammoth does not open; whether there are
    any.
    """
    word = tree.tag.partition("}")[0] + "}"
    changed = False
    for parent in list(tree.iter()):
        changed = _write_choices(parent, word) or changed
        changed = _write_signs(parent, word) or changed
        changed = _blank_instructions(parent) or changed
        if local_name(parent) in _EQUATIONS or not any(local_name(child) in _REWRITTEN for child in parent):
            continue
        parent[:] = list(_lift(parent, word))
        changed = True
    return changed


def _write_choices(run: Element, word: str) -> bool:
    """Write what was chosen in a list of an old form as the text of its run; whether there is one."""
    if local_name(run) != "r":
        return False
    for choices in (one for held in run if local_name(held) == "fldChar" for one in held.iter(f"{word}ddList")):
        entries = [attribute(one, "val") for one in choices if local_name(one) == "listEntry"]
        chosen = next((attribute(one, "val") for one in choices if local_name(one) == "result"), "0")
        if chosen.isdigit() and int(chosen) < len(entries):
            SubElement(run, f"{word}t").text = entries[int(chosen)]
            return True
    return False


def _write_signs(run: Element, word: str) -> bool:
    """Write letters of symbol fonts as such, and breaks of pages and tabs of alignment, which mammoth drops, as line
    breaks and plain tabs; whether there are any.
    """
    if local_name(run) != "r":
        return False
    changed = False
    for held in run:
        name = local_name(held)
        if name == "t" and held.text and (written := symbols_written(held.text, _font(run, word))) != held.text:
            held.text, changed = written, True
        elif name == "ptab":
            held.tag, changed = f"{word}tab", True
        elif name == "br" and attribute(held, "type") in ("page", "column"):
            held.attrib.clear()
            changed = True
    return changed


def _font(run: Element, word: str) -> str:
    fonts = run.find(f"{word}rPr/{word}rFonts")
    return "" if fonts is None else attribute(fonts, "ascii") or attribute(fonts, "hAnsi")


def _blank_instructions(paragraph: Element) -> bool:
    """Blank the results of fields that stand in the instruction of another one, as in a condition; whether there are
    any.
    """
    if local_name(paragraph) != "p":
        return False
    changed, instructed = False, list[bool]()
    for one in paragraph.iter():
        if local_name(one) == "fldChar":
            match attribute(one, "fldCharType"):
                case "begin":
                    instructed.append(True)
                case "separate" if instructed:
                    instructed[-1] = False
                case "end" if instructed:
                    instructed.pop()
                case _:
                    pass
        elif local_name(one) == "t" and any(instructed[:-1]) and one.text:
            one.text, changed = "", True
    return changed


def _lift(parent: Element, word: str) -> Iterator[Element]:
    for child in parent:
        name = local_name(child)
        if name in _EQUATIONS:
            yield _run(word, "; ".join(formula_text(one) for one in child.iter() if local_name(one) == "oMath"))
        elif name in _TRANSPARENT:
            yield from _lift(child, word)
        elif name == _RUBY:
            for base in child:
                yield from _lift(base, word) if local_name(base) == _RUBY_BASE else ()
        else:
            yield child


class WordExtras:
    """Writes the extras of a document into its tree."""

    def __init__(self, package: Package, part: str, word: str) -> None:
        self._package = package
        self._targets: Mapping[str, tuple[str, str]] = package.relations(part)
        self._comments = word_comments(package, part)
        self._word = word

    def write_into(self, document: Element) -> bool:
        """Write them behind the blocks where they are anchored; whether there are any."""
        body = next((one for one in document if local_name(one) == "body"), None)
        return body is not None and self._write(body)

    def _write(self, holder: Element) -> bool:
        blocks: list[Element] = []
        has_extras = False
        for block in holder:
            blocks.append(block)
            if local_name(block) in _HOLDERS:
                has_extras = self._write(block) or has_extras
            elif local_name(block) in _BLOCKS:
                extras = self._extras(block)
                blocks += extras
                has_extras = has_extras or bool(extras)
        holder[:] = blocks
        return has_extras

    def _extras(self, block: Element) -> list[Element]:
        made: list[Element] = []
        for box in _take_boxes(block):
            self._write(box)
            made += box
        for one in _visible_elements(block):
            made += self._additions(one)
        return made

    def _additions(self, node: Element) -> Sequence[Element]:
        """What one element adds."""
        match local_name(node):
            case "commentReference":
                return self._lines([self._comments.get(attribute(node, "id"), "")])
            case "docPr":
                return self._lines([alternative_text(node.get("descr", ""))])
            case "textpath":  # letters along a path: WordArt of before 2010
                return self._lines([" ".join(strip_unstorable(node.get("string", "")).split())])
            case "svgBlip" if (part := self._part(node, "embed")) is not None:
                return self._lines([read_svg(self._package.read(part))[0]])
            case "chart" if (held := self._target(node, "id")) is not None:
                chart = chart_data(held)
                return [*self._lines([chart.caption]), *self._table(chart.rows)]
            case "relIds" if (held := self._target(node, "dm")) is not None:
                return self._lines([*paragraphs(held)])
            case _:
                return ()

    def _target(self, node: Element, name: str) -> Element | None:
        """The tree of the part that an attribute refers to."""
        part = self._part(node, name)
        return None if part is None else self._package.tree(part)

    def _part(self, node: Element, name: str) -> str | None:
        part = self._targets.get(attribute(node, name), ("", ""))[1]
        return part if part in self._package.names else None

    def _lines(self, lines: Sequence[str]) -> list[Element]:
        made: list[Element] = []
        for line in filter(None, lines):
            paragraph = Element(f"{self._word}p")
            paragraph.append(_run(self._word, line))
            made.append(paragraph)
        return made

    def _table(self, rows: Sequence[Sequence[str]]) -> list[Element]:
        """The figures of a chart, their first row marked as names."""
        if not rows:
            return []
        table = Element(f"{self._word}tbl")
        for number, row in enumerate(rows):
            line = SubElement(table, f"{self._word}tr")
            if number == 0:
                SubElement(SubElement(line, f"{self._word}trPr"), f"{self._word}tblHeader")
            for cell in row:
                SubElement(line, f"{self._word}tc").extend(self._lines([cell or " "]))
        return [table]


def page_lines(package: Package, part: str) -> list[str]:
    """What stands above and below the pages, each text once and without the numbers of pages."""
    found: dict[str, None] = {}
    for kind, other in package.relations(part).values():
        if kind in ("header", "footer") and other in package.names:
            for paragraph in package.tree(other).iter():
                if local_name(paragraph) == "p":
                    found |= dict.fromkeys(_pieces(paragraph))
    return [*found]


def _pieces(paragraph: Element) -> Iterator[str]:
    """The parts of a line between its tabs; one with the number of a page is left out."""
    piece, counts = list[str](), False
    for node in [*_visible_elements(paragraph), Element("tab")]:
        match local_name(node):
            case "t":
                piece.append(node.text or "")
            case "instrText":
                counts = counts or _PAGE_FIELD.match(node.text or "") is not None
            case "fldSimple":
                counts = counts or _PAGE_FIELD.match(attribute(node, "instr")) is not None
            case "tab" | "ptab":
                text = " ".join(strip_unstorable("".join(piece)).split())
                if not counts and any(map(str.isalpha, text)):
                    yield text
                piece, counts = [], False
            case _:
                pass


def _visible_elements(block: Element) -> Iterator[Element]:
    """The elements of a block in their order, without what was deleted."""
    stack = [block]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for child in reversed(node) if local_name(child) not in _DELETED]


def _take_boxes(block: Element) -> list[Element]:
    """Take the text boxes out of a block. Of a drawing with a second copy for older programs that copy is dropped."""
    taken: list[Element] = []
    for parent in list(_visible_elements(block)):
        for child in list(parent):
            if local_name(child) == "txbxContent":
                taken.append(child)
                parent.remove(child)
            elif local_name(child) == "Fallback" and _is_drawn(parent):
                parent.remove(child)
    return taken


def _is_drawn(alternatives: Element) -> bool:
    """Whether the first of two copies is a drawing."""
    return any(
        local_name(one) in ("drawing", "txbxContent")
        for choice in alternatives
        if local_name(choice) == "Choice"
        for one in choice.iter()
    )


def _run(word: str, text: str) -> Element:
    run = Element(f"{word}r")
    written = SubElement(run, f"{word}t")
    written.text = text
    written.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return run
