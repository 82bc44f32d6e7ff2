"""Walks over a page: its readable text in reading order, with headings, lists, code and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase

from selectolax.lexbor import LexborNode

from agentic_rag.adapters.parsing.office.drawing_text import alternative_text
from agentic_rag.adapters.parsing.pictures import embedded_picture, is_large
from agentic_rag.adapters.parsing.text.page_content import PageContent, children
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.adapters.parsing.text.svg import is_svg, read_svg
from agentic_rag.adapters.parsing.text.table_text import add_table, count_names
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading, tidy_title
from agentic_rag.adapters.parsing.unread import PICTURE, none_of, with_unread
from agentic_rag.documents.document import BlockKind

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "main", "noscript",
    "p", "section", "summary",
    "ul", "ol", "table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption",
})  # fmt: skip
NUMBER_ATTRIBUTE = "data-docx-number"
"""Of a list item: what Word shows before it."""
_LETTERS = {"a": ascii_lowercase, "A": ascii_uppercase}
"""By type of an ordered list."""
_SHIFTS = {"sup": Shift.RAISED, "sub": Shift.LOWERED}
_INLINE = frozenset({"-text", "br", "img", *_SHIFTS})
_SPACE = re.compile(r"[^\S\x00]+")
_ITEMS = frozenset({"a", "span", "label"})
_ITEM = "\ufdd0"
"""Stands between two of these until white space is folded: a noncharacter, which no text holds."""
_ITEM_BORDER = re.compile(rf"(?<=[a-zß-ÿ][a-zß-ÿ]){_ITEM}+(?=[A-ZÀ-Þ])|(?<=\d){_ITEM}+(?=[A-ZÀ-Þ][a-zß-ÿ])")
"""Where a word or a figure ends and another word begins: items may also hold the parts of one word or figure."""
_LINE_BREAK = "\x00"
"""Stands for <br> until white space is folded; the parser turns real NUL characters into U+FFFD."""
_MOST_SPANNED = 10_000
"""Cells of a table that spans fill; of a table that claims more, spans count no more."""
_DEEPEST = 150
"""Nested elements followed: real pages stay below 60, and Python's stack of 1,000 frames holds 200. Deeper text is
read as
one paragraph."""


class PageWalker:
    """Depth-first over the tree; inline text gathers in `_inline` until a block ends it."""

    def __init__(self, *, describes_pictures: bool) -> None:
        self.built = TextBuilder()
        self.drawn: set[bytes] = set()
        """Large pictures that the page itself holds."""
        self._describes_pictures = describes_pictures
        self._inline: list[str] = []
        self._depth = 0
        self._pictures: list[str] = []
        """What is said of pictures since the last block."""
        self._drawings: list[str] = []
        """What drawings say that stand there."""
        self._kind = BlockKind.PARAGRAPH
        self._mark = ""
        """What the next block begins with: that of a list item, and the terms that it describes."""
        self._numbers: dict[int, int] = {}
        """By ordered list: the number of its next item."""

    def walk(self, node: LexborNode) -> None:
        """Reads everything under `node`."""
        self._deeper(node)
        self._flush()

    def _add(self, kind: BlockKind, text: str, level: int = 0, node: LexborNode | None = None) -> None:
        """Append a block; `node` is the element that it is, None for gathered text."""
        self.built.add(kind, text, level)

    def _node(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _INLINE:
            self._add_inline(tag, node)
        elif tag.startswith(("-", "!")):
            return
        elif self._depth >= _DEEPEST:
            self._inline.append(_text_of(node))
        elif tag in _HEADINGS:
            self._whole(node, BlockKind.HEADING, _HEADINGS[tag])
        elif tag == "pre":
            self._flush()
            self._add(BlockKind.CODE, node.text(), node=node)
        elif tag == "table" and not _only_places(node):
            self._flush()
            self._table(node)
        elif tag == "dl":
            self._descriptions(node)
        elif tag in ("li", "dt", "dd"):
            self._item(node, self._list_mark(node))
        elif tag in _BLOCKS:
            self._flush()
            self._deeper(node)
            self._flush()
        else:
            self._part_items(node)
            self._deeper(node)

    def _part_items(self, node: LexborNode) -> None:
        """Note where an item begins right behind another one: styles set them apart, their texts would be one word."""
        before = node.prev
        while before is not None and before.tag == "-comment":
            before = before.prev
        if node.tag in _ITEMS and before is not None and before.tag in _ITEMS and self._inline:
            self._inline.append(_ITEM)

    def _add_inline(self, tag: str, node: LexborNode) -> None:
        if tag == "-text":
            self._inline.append(node.text_content or "")
        elif tag == "br":
            self._inline.append(_LINE_BREAK)
        elif tag == "img":
            self._add_picture(node)
        else:
            before = self._inline[-1] if self._inline else ""
            self._inline.append(shifted_text(_text_of(node, {}), _SHIFTS[tag], before))

    def _deeper(self, node: LexborNode) -> None:
        self._depth += 1
        for child in children(node):
            self._node(child)
        self._depth -= 1

    def _item(self, node: LexborNode, mark: str) -> None:
        self._flush()
        outer, self._kind = self._kind, BlockKind.LIST_ITEM
        self._mark = mark
        self._deeper(node)
        self._flush()
        self._kind, self._mark = outer, ""

    def _list_mark(self, node: LexborNode) -> str:
        """`- `, or the number or letter of an item of an ordered list."""
        parent = node.parent
        if node.tag != "li" or parent is None or parent.tag != "ol":
            return "- "
        stated = node.attributes.get(NUMBER_ATTRIBUTE)
        if stated is not None:
            return f"{stated or '-'} "
        number = _number_in(node, "value") or self._numbers.get(parent.mem_id) or _number_in(parent, "start") or 1
        self._numbers[parent.mem_id] = number + 1
        letters = _LETTERS.get(parent.attributes.get("type") or "", "")
        return f"{letters[number - 1] if number <= len(letters) else number}. "

    def _descriptions(self, node: LexborNode) -> None:
        """A list of terms: each description stands behind its terms."""
        self._flush()
        terms: list[str] = []
        is_described = True
        for entry in _entries(node):
            if entry.tag == "dt":
                terms = [*([] if is_described else terms), " ".join(_text_of(entry).split())]
                is_described = False
            elif entry.tag == "dd":
                self._item(entry, f"- {_label(terms)}")
                is_described = True
            else:
                self._node(entry)
        if not is_described:
            self._add(BlockKind.LIST_ITEM, f"- {', '.join(terms)}", node=node)

    def _whole(self, node: LexborNode, kind: BlockKind, level: int) -> None:
        self._flush()
        mark, self._mark = self._mark.removeprefix("- "), ""
        text = " ".join(_text_of(node).split())
        self._add(kind, f"{mark}{text}" if text else "", level, node)

    def _table(self, node: LexborNode) -> None:
        rows = _Rows()
        header_rows, caption = 0, ""
        for row in node.css("caption, tr"):
            if row.tag == "caption":
                caption = " ".join(_text_of(row).split())
                continue
            cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
            names = len(cells) > 1 and all(cell.tag == "th" for cell in cells)
            if rows.add(cells) and names and header_rows == len(rows.made) - 1:
                header_rows += 1
        add_table(self.built, rows.made, header_rows or count_names(rows.made), caption)
        for image in node.css("img"):
            self._add_picture(image)
        self._add_pictures()

    def _flush(self) -> None:
        text = _collapse_whitespace(_ITEM_BORDER.sub(" ", "".join(self._inline)).replace(_ITEM, ""))
        self._inline.clear()
        if text.strip("- \n"):
            self._add(self._kind, f"{self._mark}{text}")
            self._mark = ""
        self._add_pictures()

    def _add_picture(self, image: LexborNode) -> None:
        self._pictures.append(_picture(image))
        held = embedded_picture(image.attributes.get("src") or "")
        line, is_drawn = read_svg(held) if is_svg(held) else ("", bool(held) and is_large(held))
        self._drawings.append(line)
        if is_drawn:
            self.drawn.add(held)

    def _add_pictures(self) -> None:
        if self._describes_pictures:
            self.built.add_section("", self._pictures)
        self.built.add_section("", self._drawings)
        self._pictures.clear()
        self._drawings.clear()


def read_content(page: PageContent, walker: PageWalker) -> LoadedText:
    """Readable text and blocks of what is read of a page; the title is its <title>, else its first heading."""
    if page.element is not None:
        walker.walk(page.element)
    text = walker.built.text()
    title = None if page.title is None else tidy_title(page.title)
    loaded = LoadedText(text, tuple(walker.built.blocks), title=title or first_heading(text, walker.built.blocks))
    return with_unread(loaded, none_of(len(walker.drawn), PICTURE))


def read_asides(page: PageContent) -> list[str]:
    """What stands beside the element that is read, block by block, then what is hidden. Takes the element out of the
    page.
    """
    asides = PageWalker(describes_pictures=False)
    if page.element is not None and page.body is not None and page.body.mem_id != page.element.mem_id:
        page.element.decompose()
        asides.walk(page.body)
    text = asides.built.text()
    return [*(text[one.start : one.end] for one in asides.built.blocks), *page.hidden]


class _Rows:
    """The rows of a table; a cell that spans columns or rows stands in each of them."""

    def __init__(self) -> None:
        self.made: list[list[str]] = []
        self._below: dict[int, tuple[str, int]] = {}
        """By column: a text that spans rows, and how many rows it still stands in."""
        self._filled = 0

    def add(self, cells: Sequence[LexborNode]) -> bool:
        """Append a row; False when it holds no text."""
        row: list[str] = []
        for cell in cells:
            self._fill_from_above(row)
            text = " ".join(_text_of(cell).split()) or _signs(cell)
            columns, rows = _span(cell, "colspan"), _span(cell, "rowspan")
            if self._filled + columns * rows > _MOST_SPANNED:
                columns = rows = 1
            elif columns * rows > 1:
                self._filled += columns * rows
            for at in range(len(row), len(row) + columns):
                row.append(text)
                if rows > 1:
                    self._below[at] = (text, rows - 1)
        self._fill_from_above(row)
        if any(row):
            self.made.append(row)
        return any(row)

    def _fill_from_above(self, row: list[str]) -> None:
        while len(row) in self._below:
            text, rows = self._below.pop(len(row))
            if rows > 1:
                self._below[len(row)] = (text, rows - 1)
            row.append(text)


def _only_places(table: LexborNode) -> bool:
    """Whether a table places parts of a page: it holds tables or headings."""
    # What a node selects may be the node itself.
    holds_table = any(one.mem_id != table.mem_id for one in table.css("table"))
    return holds_table or table.css_first("h1, h2, h3") is not None


def _picture(image: LexborNode) -> str:
    """What a page says of a picture; a formula that is drawn stands in the text."""
    stated = image.attributes.get("alt") or ""
    return "" if "\\" in stated else alternative_text(stated)


def _signs(cell: LexborNode) -> str:
    """What signs stand for where a cell holds nothing else: "yes" for a tick."""
    return " ".join(" ".join(one.attributes.get("alt") or "" for one in cell.css("img")).split())


def _entries(node: LexborNode) -> Iterator[LexborNode]:
    """What a list of terms holds; each group of it may stand in a div."""
    for child in children(node):
        yield from children(child) if child.tag == "div" else (child,)


def _label(terms: Sequence[str]) -> str:
    """Terms before their description."""
    label = ", ".join(filter(None, terms))
    return label and f"{label}{' ' if label.endswith((':', '?', '!', '.')) else ': '}"


def _span(cell: LexborNode, attribute: str) -> int:
    return _number_in(cell, attribute) or 1


def _number_in(node: LexborNode, attribute: str) -> int:
    """The number in an attribute; 0 where it holds none, or one of more than three figures."""
    stated = node.attributes.get(attribute) or ""
    return int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 4 else 0


def _collapse_whitespace(text: str) -> str:
    lines = (_SPACE.sub(" ", line).strip() for line in text.split(_LINE_BREAK))
    return "\n".join(line for line in lines if line)


def _text_of(node: LexborNode, shifts: Mapping[str, Shift] = _SHIFTS) -> str:
    """All text under a node."""
    parts: list[str] = []
    stack = [node.child]
    while stack:
        current = stack.pop()
        if current is None:
            continue
        stack.append(current.next)
        tag = current.tag or ""
        if tag == "-text":
            parts.append(current.text_content or "")
        elif tag in shifts:
            parts.append(shifted_text(_text_of(current, {}), shifts[tag], parts[-1] if parts else ""))
        elif not tag.startswith(("-", "!")):
            if tag in _BLOCKS or tag in ("br", "li"):
                parts.append(" ")
            stack.append(current.child)
    return "".join(parts)
