"""The stored text of documents."""

import strawberry

from agentic_rag.documents import unread_pages
from agentic_rag.documents.read_text import TextPart
from agentic_rag_server.graphql.http.fields import to_schema


@strawberry.type(description="A page of a text, in code points.")
class TextPage:
    number: int = strawberry.field(description="From 1.")
    start: int
    end: int


@strawberry.type(description="A section of a text.")
class OutlineEntry:
    heading_path: list[str] = strawberry.field(description="Its headings, from the outermost on.")
    start: int = strawberry.field(description="Where its first passage starts, in code points.")


@strawberry.type(description="A part of a document's text; places count in code points of the whole.")
class DocumentText:
    text: str
    start: int
    end: int
    characters: int = strawberry.field(description="Of the whole text.")
    corpus_version: int
    pages: list[TextPage] = strawberry.field(description="Of the whole text; empty for formats without pages.")
    outline: list[OutlineEntry] = strawberry.field(description="Of the whole text.")


@strawberry.type(description="A part of a document's text, in code points.")
class TextRange:
    start: int
    end: int


@strawberry.type(
    description="Text that stands beside the main content of a web page, or is hidden in it: `text` holds it, and no "
    "answer knows of it."
)
class LeftOut:
    characters: int
    total: int = strawberry.field(description="Characters of the document's blocks, these included.")
    parts: list[TextRange] = strawberry.field(description="The first places of `text` where it stands.")


def show_left_out(left_out: unread_pages.LeftOut) -> LeftOut:
    """What was left out of a document."""
    return to_schema(LeftOut, left_out, parts=[to_schema(TextRange, one) for one in left_out.parts])


def show_text(part: TextPart) -> DocumentText:
    """A part of a text with the layout of the whole."""
    layout = part.layout
    return to_schema(
        DocumentText,
        part,
        layout,
        pages=[to_schema(TextPage, one) for one in layout.pages],
        outline=[to_schema(OutlineEntry, one, heading_path=list(one.heading_path)) for one in layout.outline],
    )
