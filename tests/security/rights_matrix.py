"""The matrix of rights: every operation × {role, scope, owner, owner who is no reader, writer, reader, stranger, other
organisation}. What must come is worked out here from the rule that the operation declares; what comes is asked of the
server.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx2

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.tenancy.principals import Role
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.graphql.http.fields import rules_of
from agentic_rag_server.graphql.schema import build_schema
from agentic_rag_server.main import server_parts
from agentic_rag_server.mcp import resources
from agentic_rag_server.mcp.tools.table import TOOLS as SERVED_TOOLS
from agentic_rag_server.rest.api import operations
from agentic_rag_server.rest.http.operations import OperationSpec
from tests.security.events import deciding_event
from tests.security.operation_requests import FIELDS, FILE, PARENTS, ROUTES, TOOLS, Request
from tests.security.rights_world import Caller, Relation, RightsWorld, quoted

ROLES = (Role.VIEWER, Role.MEMBER, Role.ADMIN, Role.OPERATOR)
MANAGERS = (Role.ADMIN, Role.OPERATOR)
HIDDEN_CODE = re.compile(
    r"(|WORKSPACE_|DOCUMENT_|JOB_|RUN_|THREAD_|SAVED_QUESTION_|API_KEY_|EVALUATION_|ERASURE_|SNAPSHOT_)NOT_FOUND|SOURCE_UNKNOWN"
)
PASSED = {
    "SWITCH_NOT_FOUND",
    "SPACE_ALREADY_ACTIVE",
    "TEXT_NOT_PUBLISHED",
    "CONFIRMATION_WRONG",
    "DATASET_INVALID",
    "SOURCE_INVALID",
    "PAGE_NOT_SHOWN",
    "ORIGINAL_MISSING",
}
"""Refusals that come after every wall."""


class Outcome(enum.Enum):
    """What an operation says to a caller."""

    ALLOWED = "allowed"
    FORBIDDEN = "forbidden"
    HIDDEN = "as if it were not there"


def is_permitted(rule: Rule, caller: Caller) -> bool:
    """Whether the caller's role and scopes are enough for the rule's actions."""
    strength = ROLES.index(caller.role)
    return all(
        strength >= ROLES.index(action.role) and (caller.scopes is None or action.scope in caller.scopes)
        for action in rule.actions
    )


def expected(rule: Rule, caller: Caller, request: Request) -> Outcome:
    """What the rule says to the caller."""
    if rule.right is Sight.PLATFORM:
        return Outcome.FORBIDDEN  # Nobody here is of the default organisation.
    if caller.relation is Relation.FOREIGN and "%(organisation)s" in request.text:
        return Outcome.HIDDEN
    if not is_permitted(rule, caller):
        return Outcome.HIDDEN if rule.is_hidden else Outcome.FORBIDDEN
    if caller.relation is Relation.FOREIGN:
        return Outcome.ALLOWED if request.owns_nothing else Outcome.HIDDEN
    relation = Relation.READER if request.is_public else caller.relation
    if request.is_of_reader and relation is Relation.ABSENT:
        relation = Relation.STRANGER
    return _by_right(rule.right, relation, is_manager=caller.role in MANAGERS)


def _by_right(right: DocumentRight | Sight, relation: Relation, *, is_manager: bool) -> Outcome:
    reads = relation not in (Relation.STRANGER, Relation.ABSENT)
    match right:
        case Sight.ORGANISATION:
            return Outcome.ALLOWED
        case Sight.ASKER:
            return Outcome.ALLOWED if is_manager or relation is Relation.OWNER else Outcome.HIDDEN
        case Sight.SUBJECT:
            return Outcome.ALLOWED if relation is Relation.OWNER else Outcome.HIDDEN
        case Sight.PATH:
            may = is_manager or relation in (Relation.OWNER, Relation.WRITER)
            return Outcome.ALLOWED if may else Outcome.FORBIDDEN
        case DocumentRight.KNOW:
            return Outcome.ALLOWED if reads or is_manager else Outcome.HIDDEN
        case DocumentRight.READ:
            if not reads:
                return Outcome.FORBIDDEN if is_manager else Outcome.HIDDEN
            return Outcome.ALLOWED
        case DocumentRight.WRITE | DocumentRight.OWN:
            named = (Relation.OWNER, Relation.ABSENT, *((Relation.WRITER,) if right is DocumentRight.WRITE else ()))
            if is_manager or relation in named:
                return Outcome.ALLOWED
            return Outcome.FORBIDDEN if reads else Outcome.HIDDEN


async def ask_field(world: RightsWorld, name: str, request: Request, caller: Caller) -> str:
    """What a field says, in the words of `Outcome`, or as the code of another refusal."""
    ids = await world.prepare(request.needs, caller.relation)
    operation = name.partition(".")[0].lower() if name.startswith(("Mutation.", "Subscription.")) else "query"
    headers = {"authorization": f"Bearer {caller.token}"}
    asked = request.text % quoted(ids)
    if "$file" in request.text:
        query = {"query": f"mutation ($file: Upload!) {{ it: {asked} }}", "variables": {"file": None}}
        files = {
            "operations": (None, json.dumps(query)),
            "map": (None, json.dumps({"0": ["variables.file"]})),
            "0": FILE,
        }
        body = (
            await world.http.post("/graphql", files=files, headers={**headers, "x-requested-with": "matrix"})
        ).json()
    elif operation == "subscription":
        _, body = await deciding_event(world.http, {"query": f"subscription {{ it: {asked} }}"}, headers)
    else:
        sent = {"query": f"{operation} {{ it: {asked} }}"}
        body = (await world.http.post("/graphql", json=sent, headers=headers)).json()
    value = (body.get("data") or {}).get("it")
    if isinstance(value, dict) and isinstance(value.get("answer"), dict):
        value = value["answer"]
    faults = [one["extensions"]["code"] for one in body.get("errors", ())]
    if isinstance(value, dict):
        faults += [one["code"] for one in value.get("userErrors") or ()]
        inner = name.partition(".")[2]
        if name in PARENTS and inner in value and value[inner] is None:
            value = None
    if faults:
        return _by_code(faults[0])
    return _seen(value is not None, json.dumps(body), request, ids)


async def ask_route(world: RightsWorld, method: str, request: Request, caller: Caller) -> str:
    """What a route says, as `ask_field`."""
    ids = await world.prepare(request.needs, caller.relation)
    response: httpx2.Response = await world.http.request(
        method,
        request.text % ids,
        headers={"authorization": f"Bearer {caller.token}"},
        **request.body(ids),
    )
    if response.is_success:
        return _seen(True, response.text, request, ids)
    fault = response.json()
    return _by_code((fault.get("error") or fault)["code"])


async def call_tool(world: RightsWorld, name: str, request: Request, caller: Caller) -> str:
    """What a tool, or a request for resources, says over `/mcp`, as `ask_field`."""
    ids = await world.prepare(request.needs, caller.relation)
    is_tool = "/" not in name
    method, given = ("tools/call" if is_tool else name), request.body(ids)
    params = {"name": name, "arguments": given} if is_tool else given
    headers = {
        "authorization": f"Bearer {caller.token}",
        "accept": "application/json, text/event-stream",
        "host": "127.0.0.1",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        **({"mcp-name": name if is_tool else given["uri"]} if "list" not in method else {}),
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    response = await world.http.post(request.text, json=sent, headers=headers)
    body = response.json()
    if "error" in body:
        return _by_code((body["error"].get("data") or body["error"])["code"])
    if body["result"].get("isError"):
        return _by_code(json.loads(body["result"]["content"][0]["text"])["error"]["code"])
    return _seen(True, response.text, request, ids)


def _by_code(code: str) -> str:
    if code in PASSED:
        return Outcome.ALLOWED.value
    if HIDDEN_CODE.fullmatch(code):
        return Outcome.HIDDEN.value
    return Outcome.FORBIDDEN.value if code == "FORBIDDEN" else code


def _seen(found: bool, body: str, request: Request, ids: Mapping[str, str]) -> str:
    is_there = found and (request.seen is None or ids[request.seen] in body)
    return (Outcome.ALLOWED if is_there else Outcome.HIDDEN).value


@dataclass(frozen=True)
class Declared:
    """What the product declares, by the names of fields and of routes."""

    fields: Mapping[str, Rule]
    routes: Mapping[str, OperationSpec]
    tools: Mapping[str, Rule]

    @property
    def rules(self) -> Mapping[str, Rule]:
        """The rules by the names of fields, routes and tools."""
        routes = {name: one.rule for name, one in self.routes.items() if one.rule}
        return {**self.fields, **routes, **self.tools}

    @property
    def unknown(self) -> list[str]:
        """What nobody here knows how to ask, or what is gone."""
        unlike = (self.fields.keys() ^ FIELDS.keys()) | (self.routes.keys() ^ ROUTES.keys())
        return sorted(unlike | (self.tools.keys() ^ TOOLS.keys()))


def declared_by(world: RightsWorld) -> Declared:
    """The declarations of the schema and of the REST operations."""
    routes = {one.name: one for one in operations(server_parts(world.container)) if one.rule}
    tools = {name: one.rule for name, one in SERVED_TOOLS.items()}
    asked = {"resources/list": resources.LIST_RULE, "resources/read": resources.READ_RULE}
    return Declared(rules_of(build_schema()), routes, {**tools, **asked})


async def differing(
    world: RightsWorld, declared: Declared, callers: Sequence[Caller], only: str = ""
) -> tuple[int, list[str]]:
    """How many cells were asked, and those that differ from their rule."""
    cells, wrong = 0, list[str]()
    kinds = ((FIELDS, declared.fields), (ROUTES, declared.routes), (TOOLS, declared.tools))
    for requests, rules in kinds:
        for name, request in requests.items():
            found = rules.get(name)
            rule = found.rule if isinstance(found, OperationSpec) else found
            for caller in callers if rule and only in name else ():
                wanted = expected(rule, caller, request)
                if name in PARENTS:
                    parent = expected(declared.fields[PARENTS[name]], caller, request)
                    wanted = wanted if parent is Outcome.ALLOWED else parent
                if requests is TOOLS:
                    got = await call_tool(world, name, request, caller)
                elif isinstance(found, OperationSpec):
                    got = await ask_route(world, found.method, request, caller)
                else:
                    got = await ask_field(world, name, request, caller)
                cells += 1
                if got != wanted.value:
                    wrong.append(f"{name} for {caller}: {got}, declared {wanted.value}")
    return cells, wrong
