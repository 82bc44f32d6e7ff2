"""`GET /v1/documents/{id}/text`: the stored text that citations count in."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.documents.read_text import MAX_CHARACTERS
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.rest.documents.uploads import DOCUMENT, TAG
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, operation

_MOST = 2**31 - 1
_INSTANT = {"type": "string", "format": "date-time"}
_PLACE = {"type": "integer", "minimum": 0, "maximum": _MOST}


class Section(Model, frozen=True):
    """A section of a text."""

    heading_path: list[str]
    start: int


class Page(Model, frozen=True):
    """A page of a text."""

    number: int
    start: int
    end: int


class StoredText(Model, frozen=True):
    """A part of a document's text; places count in code points of the whole."""

    text: str
    start: int
    end: int
    characters: Annotated[int, Meta(description="Of the whole text.")]
    corpus_version: int
    pages: list[Page]
    outline: list[Section]


class TextEndpoint(Endpoint):
    """Serves text to callers who may read the document."""

    tag = TAG

    @operation(
        "GET",
        "/v1/documents/{id}/text",
        "getDocumentText",
        summary="The text of a document, or a part of it",
        description=f"At most {MAX_CHARACTERS} code points at a time.",
        rule=Rule((Action.READ,), DocumentRight.READ),
        parameters=(
            replace(DOCUMENT, name="id"),
            Parameter("start", "query", "The first code point; default 0.", _PLACE),
            Parameter("end", "query", "Behind the last code point; default: as far as one answer goes.", _PLACE),
            Parameter("asOf", "query", "A corpus version to read at; default: the newest.", _PLACE),
            Parameter("asOfTime", "query", "Read what was the newest version then; give it or `asOf`.", _INSTANT),
        ),
        answers=(ResponseSpec(200, "The text.", StoredText),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `require` and `ReadText`."""
        node = decode(request.path_params["id"], NodeKind.DOCUMENT)
        ref, principal = await self.require(request, node)
        places = {name: _place(request, name) for name in ("start", "end", "asOf")}
        part = await self._parts.read_text.run(
            principal, ref, node.key, places["start"] or 0, places["end"], places["asOf"], _instant(request)
        )
        layout = part.layout
        body = StoredText(
            text=part.text,
            start=part.start,
            end=part.end,
            characters=layout.characters,
            corpus_version=part.corpus_version,
            pages=[Page(number=one.number, start=one.start, end=one.end) for one in layout.pages],
            outline=[Section(heading_path=list(one.heading_path), start=one.start) for one in layout.outline],
        )
        return answer(body, headers=NOT_STORED)


def text_address(base_url: str, workspace_id: UUID, document_id: UUID, start: int, end: int) -> str:
    """The address that opens a part of a document's text."""
    document = encode(NodeKind.DOCUMENT, workspace_id, document_id)
    return f"{base_url}/v1/documents/{document}/text?start={start}&end={end}"


def _instant(request: Request) -> datetime | None:
    """`asOfTime` of the query. Errors: `InvalidInput`."""
    given = request.query_params.get("asOfTime")
    try:
        return None if given is None else datetime.fromisoformat(given)
    except ValueError as error:
        raise InvalidInput("`asOfTime` is an instant such as 2026-11-01T12:30:00Z.", path=("asOfTime",)) from error


def _place(request: Request, name: str) -> int | None:
    """A number of the query. Errors: `InvalidInput`."""
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and len(given) <= 10 and int(given) <= _MOST):
        raise InvalidInput(f"`{name}` is a number from 0 to {_MOST}.", path=(name,))
    return int(given)
