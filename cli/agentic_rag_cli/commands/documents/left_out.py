"""What of a web page is in no passage: how much, and how it begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from agentic_rag_cli.client.graphql_client import GraphQLClient

_OPENING = 100
"""Characters of a paragraph."""
_TEXT = "query ($id: ID!, $start: Int!, $end: Int!) { document(id: $id) { text(start: $start, end: $end) { text } } }"


def left_out_text(left_out: Mapping[str, Any] | None) -> str:
    """How much of a document was left out; empty when nothing was."""
    if left_out is None:
        return ""
    return f"{left_out['characters']:,} of {left_out['total']:,} characters left out (rag doc show --left-out)"


async def texts_left_out(client: GraphQLClient, document: Mapping[str, Any]) -> list[str]:
    """The paragraphs of a document that are in no passage."""
    parts = (document["leftOut"] or {"parts": []})["parts"]
    found = [await client.fetch(_TEXT, id=document["id"], **part) for part in parts]
    return [text for one in found for text in one["text"]["text"].split("\n\n")]


def beginnings(texts: Sequence[str]) -> str:
    """How each of them begins, a line each."""
    return "\n".join(fill(text, _OPENING, max_lines=1, placeholder=" …") for text in texts)
