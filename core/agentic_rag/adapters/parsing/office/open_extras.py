"""What OpenDocument files hold beside their text: formulas and charts as objects of their own, comments, alternative
texts, the lines above and below the pages, and letters that are struck out (ISO/IEC 26300-1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from posixpath import normpath
from xml.etree.ElementTree import Element

from agentic_rag.adapters.parsing.office.comments import comment_line
from agentic_rag.adapters.parsing.office.drawing_text import alternative_text
from agentic_rag.adapters.parsing.office.package import Package
from agentic_rag.adapters.parsing.office.struck_cells import leave_out_struck_cells
from agentic_rag.adapters.parsing.text.formulas import formula_text, local_name

OPEN_NAMES = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _DRAW, _CHART = (f"{{{OPEN_NAMES}:{room}:1.0}}" for room in ("text", "drawing", "chart"))
_OFFICE, _STYLE, _TABLE = (f"{{{OPEN_NAMES}:{room}:1.0}}" for room in ("office", "style", "table"))
_LINK = "{http://www.w3.org/1999/xlink}href"
_FORM = f"{{{OPEN_NAMES}:form:1.0}}"
_TYPED = ("text", "textarea", "formatted-text", "number", "date", "time", "combobox")
"""Controls of forms that people type into; one for passwords is not among them."""
_TICKED = "☒"
_READ_INSIDE = (f"{_OFFICE}spreadsheet", f"{_OFFICE}text")
ANNOTATION, NOTE = f"{_OFFICE}annotation", f"{_TEXT}note"
_APART = (f"{_DRAW}frame", f"{_TEXT}tracked-changes")
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_LINES = (*_PARAGRAPHS, f"{_TEXT}span", f"{_TEXT}a")
_AROUND = tuple(f"{_STYLE}{name}" for name in (
    "header", "footer", "header-left", "footer-left", "header-first", "footer-first",
))  # fmt: skip
_COUNTS = (f"{_TEXT}page-number", f"{_TEXT}page-count")


@dataclass(frozen=True, slots=True)
class OpenChart:
    """A chart: its title with what its axes measure, and the table of its figures."""

    caption: str
    table: Element | None


@dataclass(slots=True)
class OpenObjects:
    """The objects of a file, by the identity of the frame that holds each."""

    charts: dict[int, OpenChart] = field(default_factory=dict[int, OpenChart])
    documents: dict[int, Element] = field(default_factory=dict[int, Element])
    """The contents of embedded sheets and texts."""
    unread: int = 0
    """Objects of other programs."""


def write_objects(package: Package, content: Element) -> OpenObjects:
    """Write every formula as text in its place, and find the other objects."""
    found = OpenObjects()
    framed = [(parent, child) for parent in content.iter() for child in parent if child.tag == f"{_DRAW}frame"]
    for parent, frame in framed:
        for held in frame.findall(f"{_DRAW}object"):
            part = f"{normpath(held.get(_LINK, ''))}/content.xml"
            if part not in package.names:
                found.unread += 1
                continue
            tree = package.tree(part)
            if local_name(tree) == "math":
                _become_text(frame, formula_text(tree), "span" if parent.tag in _LINES else "p")
            elif (chart := tree.find(f".//{_CHART}chart")) is not None:
                found.charts[id(frame)] = OpenChart(_caption(chart), chart.find(f"{_TABLE}table"))
            elif (held := next((one for one in tree.iter() if one.tag in _READ_INSIDE), None)) is not None:
                found.documents[id(frame)] = held
            else:
                found.unread += 1
        found.unread += len(frame.findall(f"{_DRAW}object-ole"))
    return found


def _become_text(frame: Element, text: str, name: str) -> None:
    tail = frame.tail
    frame.clear()
    frame.tag, frame.text, frame.tail = f"{_TEXT}{name}", text, tail


def _caption(chart: Element) -> str:
    title = _lines(chart.find(f"{_CHART}title"))
    axes = "; ".join(filter(None, (_lines(one) for one in chart.findall(f".//{_CHART}axis/{_CHART}title"))))
    return f"{title} ({axes})".strip() if axes else title


def _lines(held: Element | None) -> str:
    return "" if held is None else " ".join(" ".join("".join(one.itertext()).split()) for one in held)


def comments_in(node: Element) -> list[str]:
    """The comments anchored in a paragraph or a table, not those in its frames and notes."""
    return [comment_of(one) for one in _anchored(node) if one.tag == ANNOTATION]


def notes_in(node: Element) -> list[Element]:
    """The notes anchored in a paragraph or a table, not those in its frames."""
    return [one for one in _anchored(node) if one.tag == NOTE]


def comment_of(annotation: Element, place: str = "") -> str:
    author = next((one.text or "" for one in annotation if local_name(one) == "creator"), "")
    text = " ".join("".join(one.itertext()) for one in annotation.iter() if one.tag in _PARAGRAPHS)
    return comment_line(text, author, place)


def _anchored(node: Element) -> Iterator[Element]:
    """The elements in one, but not those in its frames and notes, which are read by themselves."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        if one.tag != NOTE:
            stack += [child for child in reversed(one) if child.tag not in _APART]


def picture_text(frame: Element) -> str:
    """What a frame says of its picture: its description, else its title."""
    held = {local_name(one): " ".join("".join(one.itertext()).split()) for one in frame}
    return alternative_text(held.get("desc", "")) or alternative_text(held.get("title", ""))


def page_lines(styles: Element) -> list[str]:
    """What stands above and below the pages, each text once and without those that count pages."""
    paragraphs = [
        one for around in styles.iter() if around.tag in _AROUND for one in around.iter() if one.tag in _PARAGRAPHS
    ]
    texts = [
        " ".join("".join(one.itertext()).split())
        for one in paragraphs
        if next((inner for inner in one.iter() if inner.tag in _COUNTS), None) is None
    ]
    return [*dict.fromkeys(text for text in texts if any(map(str.isalpha, text)))]


def form_lines(content: Element) -> list[str]:
    """What people filled into the forms of a file: `name: value` (ISO/IEC 26300-1, 13)."""
    lines: list[str] = []
    for control in (one for forms in content.iter(f"{_OFFICE}forms") for one in forms.iter()):
        name = control.get(f"{_FORM}label") or control.get(f"{_FORM}name") or ""
        value = _filled_value(control)
        if value:
            lines.append(f"{name}: {value}" if name else value)
    return lines


def _filled_value(control: Element) -> str:
    kind = control.tag.removeprefix(_FORM)
    if kind in ("checkbox", "radio"):
        ticked = (control.get(f"{_FORM}current-state") or control.get(f"{_FORM}state")) == "checked"
        return _TICKED if ticked or control.get(f"{_FORM}current-selected") == "true" else ""
    if kind == "listbox":
        chosen = [one for one in control if one.get(f"{_FORM}current-selected", one.get(f"{_FORM}selected")) == "true"]
        return ", ".join(one.get(f"{_FORM}label") or one.get(f"{_FORM}value") or "" for one in chosen)
    if kind in _TYPED:
        return " ".join((control.get(f"{_FORM}current-value") or control.get(f"{_FORM}value") or "").split())
    return ""


def leave_out_struck(content: Element, named_styles: Element) -> None:
    """Empty the spans and cells whose style strikes letters out. What a paragraph's own style strikes out its spans may
    show again: it stays.
    """
    lines = {**_lines_through(named_styles), **_lines_through(content)}
    struck = {name for name, line in lines.items() if line != "none"}
    for span in content.iter(f"{_TEXT}span") if struck else ():
        if span.get(f"{_TEXT}style-name") in struck:
            span[:] = []
            span.text = ""
    leave_out_struck_cells(content, struck, lines.keys() - struck)


def _lines_through(styles: Element) -> dict[str, str]:
    """The styles that say whether letters are struck out (ISO/IEC 26300-1, 20.376 style:text-line-through-style)."""
    properties = ((style, style.find(f"{_STYLE}text-properties")) for style in styles.iter(f"{_STYLE}style"))
    said = ((style, None if one is None else one.get(f"{_STYLE}text-line-through-style")) for style, one in properties)
    return {style.get(f"{_STYLE}name", ""): line for style, line in said if line is not None}
