"""A response as server-sent events: the search, the answer sentence by sentence, its citations, the whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from agentic_rag.language.sentences import sentence_spans
from agentic_rag_server.rest.openai.response_models import FileSearchCall, OutputMessage, ResponseShown


async def response_events(response: ResponseShown, after: int = -1) -> AsyncIterator[bytes]:
    """Every event behind the one of the number `after`, in OpenAI's order, with its number."""
    for number, (kind, told) in enumerate(_events(response)):
        if number <= after:
            continue
        body = msgspec.json.encode({"type": kind, "sequence_number": number, **told})
        yield b"event: " + kind.encode() + b"\ndata: " + body + b"\n\n"


def _events(response: ResponseShown) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = replace(response, status="in_progress", output=[], usage=None)
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for place, item in enumerate(response.output):
        if isinstance(item, FileSearchCall):
            yield from _search(place, item)
        else:
            yield from _message(place, item)
    yield "response.completed", {"response": response}


def _search(place: int, call: FileSearchCall) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = replace(call, status="in_progress", results=None)
    yield "response.output_item.added", {"output_index": place, "item": begun}
    for state in ("in_progress", "searching", "completed"):
        yield f"response.file_search_call.{state}", {"output_index": place, "item_id": call.id}
    yield "response.output_item.done", {"output_index": place, "item": call}


def _message(place: int, message: OutputMessage) -> Iterator[tuple[str, dict[str, Any]]]:
    (part,) = message.content
    at = {"output_index": place, "item_id": message.id, "content_index": 0}
    begun = replace(message, status="in_progress", content=[])
    yield "response.output_item.added", {"output_index": place, "item": begun}
    yield "response.content_part.added", {**at, "part": replace(part, text="", annotations=[])}
    start = 0
    for _, end in sentence_spans(part.text):
        yield "response.output_text.delta", {**at, "delta": part.text[start:end], "logprobs": []}
        start = end
    for number, citation in enumerate(part.annotations):
        yield "response.output_text.annotation.added", {**at, "annotation_index": number, "annotation": citation}
    yield "response.output_text.done", {**at, "text": part.text, "logprobs": []}
    yield "response.content_part.done", {**at, "part": part}
    yield "response.output_item.done", {"output_index": place, "item": message}
