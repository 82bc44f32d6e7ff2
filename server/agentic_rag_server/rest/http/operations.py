"""REST operations: path, parameters, body and all answers. Routes and the OpenAPI document are made from one list."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from agentic_rag.kernel.patience import ORDINARY_SECONDS
from agentic_rag.kernel.public_ids import NodeId
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.http.compression import COMPRESSED
from agentic_rag_server.rest.http.models import JSON, Model, Refusal

Serve = Callable[[Request], Awaitable[Response]]

_PARAMETER = re.compile(r"\{([^}]+)\}")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the path, the query or a header. Path parameters are required; `schema` is JSON Schema."""

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
    """An answer below 400: a `body` of a type, or other content by its media type; without one it has no content."""

    status: int
    description: str
    body: type[Model] | None = None
    media_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    """Names and descriptions."""
    also: str | None = None
    """Another media type of the same answer, without a schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationSpec:
    """One method on one path. `refusals` are its statuses from 400 on, with a body of type `refusal`."""

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
    rule: Rule | None
    """Who may do it; None: whoever asks, without a token."""
    traffic: Traffic | None = None
    """What it counts as in the rate limits; None: a read or a write, by its method."""
    seconds: float = ORDINARY_SECONDS
    """How long its callers wait, where they do not say."""
    description: str = ""


Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Response]])


def operation(method: str, path: str, name: str, **declared: Any) -> Callable[[Handler], Handler]:
    """Declares that a method of an `Endpoint` serves an operation. `declared` are fields of `OperationSpec`."""

    def decorate(handler: Handler) -> Handler:
        handler.__dict__["declared"] = {"method": method, "path": path, "name": name, **declared}
        return handler

    return decorate


class Endpoint:
    """Serves the operations that its methods declare, all under one tag."""

    tag: ClassVar[str]

    def __init__(self, parts: ServerParts) -> None:
        self._parts = parts

    def operations(self) -> list[OperationSpec]:
        """The declared operations, in the order of the class."""
        return [
            OperationSpec(serve=getattr(self, name), tag=self.tag, **handler.declared)
            for name, handler in vars(type(self)).items()
            if hasattr(handler, "declared")
        ]

    async def require(self, request: Request, node: NodeId) -> tuple[WorkspaceRef, Principal]:
        """The workspace of a document, and the caller, who has the operation's right to the document. Errors: those of
        `DocumentAccess.require`.
        """
        caller = admitted(request)
        ref = WorkspaceRef(caller.principal.org_id, node.workspace_id)
        await caller.rule.require(self._parts.document_access, caller.principal, ref, node.key)
        return ref, caller.principal


@dataclass(frozen=True, slots=True)
class Admitted:
    """The caller of an operation, who may perform its actions. Its right is the operation's to check."""

    principal: Principal
    rule: Rule


def admit(request: Request, principal: Principal, rule: Rule) -> None:
    """Let the caller in. Errors: `Forbidden`."""
    rule.authorise(principal)
    request.state.admitted = Admitted(principal, rule)


def admitted(request: Request) -> Admitted:
    """The caller of an operation that takes a token."""
    return request.state.admitted


def routes(operations: Iterable[OperationSpec]) -> list[Route]:
    """One route per path, so that the refusal of a wrong method lists the right ones."""
    by_path: defaultdict[str, dict[str, OperationSpec]] = defaultdict(dict)
    for one in operations:
        if one.method in by_path[one.path]:
            raise ValueError(f"{one.method} {one.path} is served twice")
        by_path[one.path][one.method] = one
    return [_route(path, served) for path, served in by_path.items()]


def route_names(operations: Sequence[OperationSpec]) -> Callable[[str], str | None]:
    """A function from a request's path to its path pattern; None for an unknown path."""
    patterns = [
        (re.compile(_PARAMETER.sub("[^/]+", path)), path) for path in dict.fromkeys(it.path for it in operations)
    ]

    def name_of(path: str) -> str | None:
        return next((name for pattern, name in patterns if pattern.fullmatch(path)), None)

    return name_of


def _route(path: str, served: Mapping[str, OperationSpec]) -> Route:
    async def serve(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await served[method].serve(request)

    # Originals and pictures are packed already, and an ETag names the bytes as they are sent.
    is_plain = all(answer.media_type == JSON for one in served.values() for answer in one.answers)
    return Route(path, serve, methods=sorted(served), middleware=[COMPRESSED] if is_plain else [])
