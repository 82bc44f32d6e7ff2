"""What a REST operation is: where it is served, what it takes and everything it answers. The routes and the OpenAPI
document are made from the same list, so neither can know an operation that the other does not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentic_rag_server.rest.http.models import Model, Refusal

Serve = Callable[[Request], Awaitable[Response]]

_PARAMETER = re.compile(r"\{([^}]+)\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the path, the query or a header. `schema` is JSON Schema; those of the path are required."""

    name: str
    place: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class FormField:
    """A plain field of a multipart body."""

    name: str
    description: str
    most_characters: int


@dataclass(frozen=True, slots=True)
class FileForm:
    """A multipart body: one part `file` and optional fields, in any order."""

    fields: tuple[FormField, ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseSpec:
    """An answer below 400: a `body` of a type, or other content by its media type."""

    status: int
    description: str
    body: type[Model] | None = None
    media_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    """Names with what they say."""


@dataclass(frozen=True, slots=True)
class OperationSpec:
    """One method on one path. `refusals` are the statuses from 400 on that it may answer, with a body of type
    `refusal`.
    """

    method: str
    path: str
    name: str
    """`operationId`."""
    tag: str
    summary: str
    serve: Serve
    answers: tuple[ResponseSpec, ...]
    refusals: tuple[int, ...] = ()
    refusal: type[Model] = Refusal
    parameters: tuple[Parameter, ...] = ()
    takes: FileForm | type[Model] | None = None
    takes_token: bool = True
    description: str = ""


def routes(operations: Iterable[OperationSpec]) -> list[Route]:
    """A route for each path, so that a wrong method is told all the right ones."""
    by_path: defaultdict[str, dict[str, Serve]] = defaultdict(dict)
    for one in operations:
        if one.method in by_path[one.path]:
            raise ValueError(f"{one.method} {one.path} is served twice")
        by_path[one.path][one.method] = one.serve
    return [Route(path, _by_method(served), methods=sorted(served)) for path, served in by_path.items()]


def route_names(operations: Sequence[OperationSpec]) -> Callable[[str], str | None]:
    """Finds the path pattern that a request's path fits; None when none does."""
    patterns = [
        (re.compile(_PARAMETER.sub("[^/]+", path)), path) for path in dict.fromkeys(it.path for it in operations)
    ]

    def name_of(path: str) -> str | None:
        return next((name for pattern, name in patterns if pattern.fullmatch(path)), None)

    return name_of


def _by_method(served: dict[str, Serve]) -> Serve:
    async def serve(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await served[method](request)

    return serve
