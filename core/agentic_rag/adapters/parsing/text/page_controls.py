"""What people see in the controls and frames of a page that somebody saved, and what its folded parts hold."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

_TYPED = frozenset({"", "text", "email", "number", "tel", "url", "date", "time", "month", "week", "datetime-local"})
_TICKED = frozenset({"checkbox", "radio"})
_TICK = "☒"
_FOLDED = "dialog, template, noscript, nav, datalist"
"""Parts that show when a script or a reader asks for them, and navigation."""


def write_controls(tree: LexborHTMLParser) -> None:
    """Write the values of fields, what is chosen in lists, frames whose page stands in the file, and dialogs that are
    open as text in their place.
    """
    for field in tree.css("input, textarea, select"):
        text = _visible_value(field)
        if text:
            field.replace_with(f" {text} ")
    for frame in tree.css("iframe[srcdoc]"):
        frame.replace_with(f" {_text_of_page(frame.attributes.get('srcdoc') or '')} ")
    for part in tree.css("dialog[open], template[shadowrootmode]"):
        if part.tag == "template":
            part.replace_with(f" {_text_of_page(part.html or '')} ")
        else:
            part.unwrap()


def folded_texts(tree: LexborHTMLParser) -> Iterator[str]:
    """The texts of parts that do not show."""
    for part in tree.css(_FOLDED):
        # The text of a template stands in a document of its own.
        text = _text_of_page(part.html or "") if part.tag == "template" else part.text(separator=" ")
        yield " ".join(text.split())


def _visible_value(field: LexborNode) -> str:
    attributes = field.attributes
    if field.tag == "textarea":
        return field.text()
    if field.tag == "select":
        return ", ".join(" ".join(one.text().split()) for one in field.css("option[selected]"))
    kind = (attributes.get("type") or "").lower()
    if kind in _TICKED:
        return _TICK if "checked" in attributes else ""
    return (attributes.get("value") or "") if kind in _TYPED else ""


def _text_of_page(page: str) -> str:
    for tag in ("<template", "</template"):
        page = page.replace(tag, tag.replace("template", "div"))
    body = LexborHTMLParser(page).body
    if body is None:
        return ""
    for never in body.css("script, style"):
        never.decompose()
    return " ".join(body.text(separator=" ").split())
