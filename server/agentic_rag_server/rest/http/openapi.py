"""`GET /openapi.json`: the OpenAPI 3.1 document, made from the served operations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag import __version__
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.http.models import JSON, Model, Refusal
from agentic_rag_server.rest.http.operations import Endpoint, FileForm, OperationSpec, ResponseSpec, operation

OPENAPI_VERSION = "3.1.0"
PATH = "/openapi.json"
TITLE = "agentic-rag REST API"
DESCRIPTION = (
    "Documents in and out over plain HTTP. Questions are asked by GraphQL at /graphql. Errors carry a stable code, "
    "a message that says what to do, and a trace id."
)
_SECURITY = "bearer"
_REFERENCE = "#/components/schemas/{name}"
_PATH_PARAMETER = re.compile(r"\{([^}]+)\}")

REFUSALS = {
    400: "The request is malformed; the message says where.",
    401: "No valid token.",
    402: "The organisation has to store a provider key first.",
    403: "The role is too weak, or a feature is switched off.",
    404: "Nothing of that id is visible to the caller.",
    409: "The idempotency key was used for something else.",
    413: "The body or file is too large.",
    415: "The body or file is of a kind that is not taken.",
    416: "The file has none of the bytes that `Range` names; Content-Range says how many it has.",
    422: "The file is empty or protected, or what it takes is gone.",
    429: "A ceiling is reached. Wait as Retry-After says, if it is there.",
    500: "A fault of the server; it is logged under the trace id.",
    503: "A server that this takes does not answer.",
}


class OpenAPIEndpoint(Endpoint):
    """Serves the document, which is made once, when it is first asked for."""

    tag = "description"

    def __init__(self, parts: ServerParts, others: Sequence[OperationSpec]) -> None:
        super().__init__(parts)
        self._others = others

    @cached_property
    def _body(self) -> bytes:
        return msgspec.json.encode(document([*self._others, *self.operations()]))

    @operation(
        "GET",
        PATH,
        "openapi",
        summary="This document",
        answers=(ResponseSpec(200, "OpenAPI 3.1."),),
        rule=None,
    )
    async def get(self, request: Request) -> Response:
        """Takes no token: the document holds nothing of a tenant."""
        return Response(self._body, media_type=JSON, headers={"cache-control": "public, max-age=300"})


def document(operations: Sequence[OperationSpec]) -> dict[str, Any]:
    """The OpenAPI document of these operations."""
    types = list(dict.fromkeys(_types(operations)))
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    reference = dict(zip(types, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one, reference)
    return {
        "openapi": OPENAPI_VERSION,
        "info": {
            "title": TITLE,
            "version": __version__,
            "description": DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name} for name in dict.fromkeys(one.tag for one in operations)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {_SECURITY: {"type": "http", "scheme": "bearer", "description": "A JWT or an API key."}},
        },
    }


def _types(operations: Iterable[OperationSpec]) -> Iterable[type[Model]]:
    yield Refusal
    for one in operations:
        if one.refusals:
            yield one.refusal
        if isinstance(one.takes, type):
            yield one.takes
        yield from (answer.body for answer in one.answers if answer.body is not None)


def _operation(one: OperationSpec, reference: dict[type[Model], Any]) -> dict[str, Any]:
    named = set(_PATH_PARAMETER.findall(one.path))
    described = {parameter.name for parameter in one.parameters if parameter.place == "path"}
    if named != described:
        raise ValueError(f"{one.method} {one.path} does not describe its path parameters: {named ^ described}")
    shown: dict[str, Any] = {
        "operationId": one.name,
        "tags": [one.tag],
        "summary": one.summary,
        "responses": {
            **{str(answer.status): _answer(answer, reference) for answer in one.answers},
            **{str(status): _refusal(status, one, reference) for status in one.refusals},
        },
        "security": [{_SECURITY: []}] if one.rule is not None else [],
    }
    if one.description:
        shown["description"] = one.description
    if one.parameters:
        shown["parameters"] = [
            {
                "name": parameter.name,
                "in": parameter.place,
                "required": parameter.place == "path",
                "description": parameter.description,
                "schema": parameter.schema,
            }
            for parameter in one.parameters
        ]
    if one.takes is not None:
        shown["requestBody"] = _body(one.takes, reference)
    return shown


def _body(takes: FileForm | type[Model], reference: dict[type[Model], Any]) -> dict[str, Any]:
    if not isinstance(takes, FileForm):
        return {"required": True, "content": {JSON: {"schema": reference[takes]}}}
    # In OpenAPI 3.1 the schema of a file in a form has no type, because its bytes are no JSON.
    properties: dict[str, Any] = {"file": {"description": "The file, with its name.", "format": "binary"}}
    for field in takes.fields:
        properties[field.name] = {
            "type": "string",
            "description": field.description,
            "maxLength": field.most_characters,
        }
    form = {"type": "object", "properties": properties, "required": ["file"], "additionalProperties": False}
    return {"required": True, "content": {"multipart/form-data": {"schema": form}}}


def _answer(answer: ResponseSpec, reference: dict[type[Model], Any]) -> dict[str, Any]:
    content = {} if answer.body is None else {"schema": reference[answer.body]}
    shown: dict[str, Any] = {"description": answer.description}
    if answer.media_type:
        shown["content"] = {answer.media_type: content}
    if answer.also is not None:
        shown["content"][answer.also] = {}
    if answer.headers:
        shown["headers"] = {name: {"description": says, "schema": {"type": "string"}} for name, says in answer.headers}
    return shown


def _refusal(status: int, one: OperationSpec, reference: dict[type[Model], Any]) -> dict[str, Any]:
    return {
        "description": REFUSALS[status],
        "content": {JSON: {"schema": reference[one.refusal]}},
    }
