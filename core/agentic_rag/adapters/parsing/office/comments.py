"""What reviewers wrote beside a text, a slide or a cell, by Office's parts for comments and their authors."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase
from xml.etree.ElementTree import Element

from agentic_rag.adapters.parsing.office.drawing_text import paragraphs
from agentic_rag.adapters.parsing.office.package import Package
from agentic_rag.adapters.parsing.text.formulas import local_name
from agentic_rag.kernel.text import strip_unstorable

_LONGEST_LABEL = 80
_COPIED = "[Threaded comment]"
"""What the copies of threaded comments begin with that Excel writes for its older versions."""


def comment_line(text: str, author: str = "", place: str = "") -> str:
    """ "Comment on B5 (South) by Jane Roe: postponed"; empty for a comment without a text."""
    said, author = (" ".join(strip_unstorable(one).split()) for one in (text, author))
    head = "".join(f" {word} {part}" for word, part in (("on", place), ("by", author)) if part)
    return f"Comment{head}: {said}" if said else ""


def cell_place(reference: str, label: str) -> str:
    """ "B5 (South)": a cell with the label of its row."""
    return f"{reference} ({label})" if 0 < len(label) <= _LONGEST_LABEL else reference


def column_letters(number: int) -> str:
    """The name of a column that is counted from 0."""
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = ascii_uppercase[rest] + letters
    return letters


def word_comments(package: Package, part: str) -> dict[str, str]:
    """The comments of a text by their ids (ECMA-376 Part 1, 17.13.4)."""
    found: dict[str, str] = {}
    for comment in _entries(package, part, "comments", "comment"):
        text = " ".join("".join(_word_pieces(one)) for one in comment.iter() if local_name(one) == "p")
        found[attribute(comment, "id")] = comment_line(text, attribute(comment, "author"))
    return found


def slide_comments(package: Package, presentation: str, slide: str) -> list[str]:
    """The comments of a slide and their replies, of both kinds that PowerPoint writes."""
    authors = {
        attribute(one, "id"): attribute(one, "name")
        for kind in ("commentAuthors", "authors")
        for one in _entries(package, presentation, kind, "cmAuthor", "author")
    }
    lines: list[str] = []
    for comment in _entries(package, slide, "comments", "cm", "reply"):
        own = [child for child in comment if local_name(child) in ("text", "txBody")]
        text = " ".join(" ".join(paragraphs(one)) or one.text or "" for one in own)
        lines.append(comment_line(text, authors.get(attribute(comment, "authorId"), "")))
    return [*filter(None, lines)]


def cell_comments(package: Package, workbook: str, sheet: str) -> list[tuple[str, str, str]]:
    """(reference, author, text) of every comment of a sheet, threaded ones and their replies too."""
    people = {
        attribute(one, "id"): attribute(one, "displayName") for one in _entries(package, workbook, "person", "person")
    }
    found = [
        (attribute(one, "ref"), people.get(attribute(one, "personId"), ""), _join_texts(one, "text"))
        for one in _entries(package, sheet, "threadedComment", "threadedComment")
    ]
    authors = ["".join(one.itertext()) for one in _entries(package, sheet, "comments", "author")]
    for one in _entries(package, sheet, "comments", "comment"):
        text, number = _join_texts(one, "t"), attribute(one, "authorId")
        author = authors[int(number)] if number.isdigit() and int(number) < len(authors) else ""
        if not text.startswith(_COPIED):
            # Excel writes the author's name as the first line of the note.
            found.append((attribute(one, "ref"), author, text.removeprefix(f"{author}:")))
    return found


def attribute(node: Element, name: str) -> str:
    """An attribute whatever its namespace."""
    return next((value for key, value in node.attrib.items() if key.rpartition("}")[2] == name), "")


def _entries(package: Package, part: str, kind: str, *names: str) -> Iterator[Element]:
    """The elements of these names in the parts that a part refers to as `kind`."""
    for other_kind, other in package.relations(part).values():
        if other_kind == kind and other in package.names:
            yield from (one for one in package.tree(other).iter() if local_name(one) in names)


def _word_pieces(paragraph: Element) -> Iterator[str]:
    for one in paragraph.iter():
        if local_name(one) == "t":
            yield one.text or ""
        elif local_name(one) in ("tab", "br"):
            yield " "


def _join_texts(node: Element, name: str) -> str:
    return "".join(one.text or "" for one in node.iter() if local_name(one) == name)
