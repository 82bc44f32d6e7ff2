"""GraphQL over HTTP: reading requests and choosing the media type of answers.

Follows the GraphQL-over-HTTP draft of the GraphQL Foundation: `application/graphql-response+json` answers 400 when no
field ran; plain `application/json` answers 200 for every well-formed request.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import orjson
from starlette.requests import ClientDisconnect, Request

GRAPHQL_RESPONSE = "application/graphql-response+json"
JSON = "application/json"
MAX_LIST = 10_000
"""Members of a list in `variables`, looked at before any is read as its type: the questions of an evaluation."""

MAX_VALUES = 200_000
"""Values in `variables`, those inside others too, looked at before any is read as its type, which takes 20 µs and more
for each: those of an evaluation with spans.
"""

FEW_VALUES = 5_000
"""The same for operations that take no questions: filters, a history, readers."""

_UTF8 = frozenset({"utf-8", "utf8"})


class RequestFault(Exception):
    """A request that is not GraphQL over HTTP, with the status and the error of its answer."""

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class GraphQLRequest:
    """The parameters of a request."""

    query: str
    variables: dict[str, Any] | None
    operation_name: str | None
    document_id: str | None = None
    """Names an operation of the operator's file; then `query` may be empty."""
    document_hash: str | None = None
    """Names a document by its SHA-256; with `query`, registers it."""
    values: int = 0
    """How many `variables` holds, those inside others too."""


@lru_cache(maxsize=128)
def response_type(accept: str) -> str | None:
    """The media type of the answer; None when the client accepts neither. A wildcard or no header means JSON."""
    if not accept.strip():
        return JSON
    quality = {JSON: 0.0, GRAPHQL_RESPONSE: 0.0}
    rank = {JSON: -1, GRAPHQL_RESPONSE: -1}
    for part in accept.split(","):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = _weight(parameters)
        for offered in quality:
            specificity = {offered: 2, "application/*": 1, "*/*": 0}.get(media, -1)
            if specificity > rank[offered]:
                rank[offered], quality[offered] = specificity, weight
    best = max(quality, key=lambda offered: (quality[offered], rank[offered], offered != JSON and rank[offered] == 2))
    return best if quality[best] > 0 else None


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


async def read_operation(request: Request, max_body_bytes: int) -> GraphQLRequest:
    """The operation of a GET or POST request. Errors: `RequestFault`."""
    if request.method == "GET":
        return _from_query(request)
    if request.method == "POST":
        _check_content(request)
        return _from_json(await _body(request, max_body_bytes))
    raise RequestFault(405, "METHOD_NOT_ALLOWED", "Use GET or POST.", {"allow": "GET, POST"})


def _check_content(request: Request) -> None:
    media, *parameters = (piece.strip().lower() for piece in request.headers.get("content-type", "").split(";"))
    if media != JSON:
        raise RequestFault(415, "UNSUPPORTED_MEDIA_TYPE", "Send the request as `Content-Type: application/json`.")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip('" ') not in _UTF8:
            raise RequestFault(415, "UNSUPPORTED_MEDIA_TYPE", "Send the request in UTF-8.")
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise RequestFault(415, "UNSUPPORTED_ENCODING", "Send the body uncompressed.", {"accept-encoding": "identity"})


async def _body(request: Request, most: int) -> bytes:
    too_large = RequestFault(413, "BODY_TOO_LARGE", f"The request body may have {most} bytes at most.")
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:20]) > most:
        raise too_large
    pieces: list[bytes] = []
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > most:
                raise too_large
            pieces.append(piece)
    except ClientDisconnect as gone:
        raise RequestFault(400, "CLIENT_GONE", "The request ended before its body did.") from gone
    return b"".join(pieces)


def _from_json(body: bytes) -> GraphQLRequest:
    given = _json(body, "The body")
    if not isinstance(given, dict):
        raise RequestFault(400, "BAD_REQUEST", "The body must be one JSON object with `query`; batches are not served.")
    return operation_from(given)


def _from_query(request: Request) -> GraphQLRequest:
    given: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        if given.get(name):
            given[name] = _json(given[name].encode("utf-8", "replace"), f"The parameter `{name}`")
        else:
            given.pop(name, None)
    return operation_from(given)


def _json(text: bytes, what: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as wrong:
        raise RequestFault(400, "BAD_JSON", f"{what} is not JSON in UTF-8: {wrong.msg}.") from wrong


def operation_from(given: dict[str, Any]) -> GraphQLRequest:
    """The operation of a request's JSON object. Errors: `RequestFault`."""
    query, variables = given.get("query"), given.get("variables")
    name, extensions = given.get("operationName"), given.get("extensions")
    document_id, document_hash = _text_of(given.get("documentId"), "documentId"), _document_hash(extensions)
    if query is None and (document_id or document_hash):
        query = ""
    elif not isinstance(query, str) or not query.strip():
        raise RequestFault(400, "BAD_REQUEST", "`query` must be a GraphQL document.")
    if variables is not None and not isinstance(variables, dict):
        raise RequestFault(400, "BAD_REQUEST", "`variables` must be an object or null.")
    values = _count_values(variables or {})
    if name is not None and not isinstance(name, str):
        raise RequestFault(400, "BAD_REQUEST", "`operationName` must be a string or null.")
    if extensions is not None and not isinstance(extensions, dict):
        raise RequestFault(400, "BAD_REQUEST", "`extensions` must be an object or null.")
    return GraphQLRequest(query, variables, name or None, document_id, document_hash, values)


def _count_values(variables: dict[str, Any]) -> int:
    """How many values there are inside. Errors: `RequestFault` for too many, and for a list that is too long."""
    waiting: list[Any] = [variables]
    values = 0
    while waiting:
        inside: Any = waiting.pop()
        held: list[Any] = []
        if isinstance(inside, list):
            held = cast(list[Any], inside)
            if len(held) > MAX_LIST:
                raise RequestFault(400, "BAD_REQUEST", f"A list in `variables` has {MAX_LIST} members at most.")
        elif isinstance(inside, dict):
            held = [*cast(dict[str, Any], inside).values()]
        values += len(held)
        if values > MAX_VALUES:
            raise too_many_values(MAX_VALUES)
        waiting += [one for one in held if isinstance(one, list | dict)]
    return values


def too_many_values(most: int) -> RequestFault:
    """The refusal of a request whose `variables` hold more."""
    return RequestFault(400, "BAD_REQUEST", f"`variables` holds {most} values at most, those inside others counted.")


def _document_hash(extensions: Any) -> str | None:
    """The hash of Apollo's `extensions.persistedQuery`."""
    persisted = extensions.get("persistedQuery") if isinstance(extensions, dict) else None
    return _text_of(persisted.get("sha256Hash"), "sha256Hash") if isinstance(persisted, dict) else None


def _text_of(value: Any, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise RequestFault(400, "BAD_REQUEST", f"`{name}` must be a string.")
    return value or None
