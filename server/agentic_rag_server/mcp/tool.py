"""What a tool is: arguments, result, right and use case. Hosts see the schemas that these types make."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeId
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import on_behalf_of
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.rest.http.models import Model

_DEFINITIONS = "#/$defs/{name}"


class Arguments(Model, frozen=True, forbid_unknown_fields=True):
    """The arguments of a tool."""


@dataclass(frozen=True, slots=True)
class ToolCaller:
    """Who calls, from where, and what the endpoint's address narrows."""

    principal: Principal
    address: str
    base_url: str
    """Where this server's other addresses begin, as the caller knows it."""
    trace_id: str
    workspace: str | None = None
    """The name in `/mcp?workspace=NAME`; None: no workspace is meant before a tool names one."""

    def ref(self, node: NodeId) -> WorkspaceRef:
        """The workspace of a public id, always inside the caller's organisation."""
        return WorkspaceRef(self.principal.org_id, node.workspace_id)


Run = Callable[[ServerParts, ToolCaller, Any], Awaitable[Model]]


@dataclass(frozen=True)
class ToolSpec:
    """A tool. Nothing that it does changes anything."""

    name: str
    title: str
    description: str
    takes: type[Arguments]
    gives: type[Model]
    run: Run
    rule: Rule
    traffic: Traffic = Traffic.READ
    reaches_out: bool = False
    """Whether it may read what is outside the organisation's documents."""

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        return object_schema(self.takes)

    @cached_property
    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the result."""
        return object_schema(self.gives)

    async def call(self, parts: ServerParts, caller: ToolCaller, arguments: Any) -> Model:
        """Call the tool. Errors: `InvalidInput` for arguments that do not fit, `Forbidden`, `RateLimited`, those of the
        use case.
        """
        parts.options.require_enabled()
        self.rule.authorise(caller.principal)
        await parts.admission.admit(caller.principal, {self.traffic: 1})
        try:
            given = msgspec.convert(arguments, self.takes)
        except msgspec.ValidationError as wrong:
            raise InvalidInput(f"The arguments do not fit: {wrong}.") from wrong
        with on_behalf_of(caller.principal, caller.address):
            return await self.run(parts, caller, given)


def object_schema(model: type[Model]) -> dict[str, Any]:
    """The JSON Schema of a model, with the object itself at the root, as tools need it."""
    _, components = msgspec.json.schema_components([model], ref_template=_DEFINITIONS)
    schema = dict(components.pop(model.__name__))
    return {**schema, "$defs": components} if components else schema
