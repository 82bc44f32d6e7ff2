"""Rows on ids of another organisation: every field and mutation of the schema that takes an id is asked with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import asyncpg
from graphql import (
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLSchema,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_object_type,
)
from graphql.pyutils import Undefined

from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_in_organisation
from agentic_rag.tenancy.access import validate_principals
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag_migrations.catalogue import TABLES, TableClass
from agentic_rag_server.graphql.schema import build_schema
from tests.bench.reports import Row, exactly
from tests.security.alike import Pair, all_alike
from tests.security.events import deciding_event
from tests.security.ground import Ground
from tests.security.table import Measure
from tests.security.tenants import Tenant, TwoTenants, two_tenants

MISSING_WORKSPACE, MISSING_KEY = UUID(int=0xDEAD), UUID(int=0xBEEF)
LATER = "2999-01-01T00:00:00Z"
SAMPLES: Mapping[str, Any] = {
    "String": "pump",
    "Int": 5,
    "Float": 0.5,
    "Boolean": False,
    "DateTime": "2999-01-01T00:00:00Z",
}
DEPTH = 3
INVALID = "INVALID_ID"
VOLATILE = ("traceId", "run", "timings", "createdAt", "startedMs", "tookMs", "seconds")


@dataclass(frozen=True)
class Place:
    """A field of the schema and one of the ids it takes, by the names that lead there."""

    operation: str
    field: str
    path: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.field}({'.'.join(self.path)})"


@dataclass(frozen=True)
class Asked:
    """What came back, without what differs between any two requests."""

    status: int
    body: str


def roots(schema: GraphQLSchema) -> Mapping[str, GraphQLObjectType]:
    """The root type of each kind of operation."""
    found = {"query": schema.query_type, "mutation": schema.mutation_type, "subscription": schema.subscription_type}
    return {operation: root for operation, root in found.items() if root is not None}


def places(schema: GraphQLSchema) -> Iterator[Place]:
    """Every id that any field takes."""
    for operation, root in roots(schema).items():
        for name, field in root.fields.items():
            for argument, described in field.args.items():
                for path in _ids(described.type, (argument,)):
                    yield Place(operation, name, path)


def _ids(kind: GraphQLInputType, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    named = get_named_type(kind)
    if named.name == "ID":
        yield path
    elif isinstance(named, GraphQLInputObjectType) and len(path) < DEPTH + 1:
        for name, inner in named.fields.items():
            yield from _ids(inner.type, (*path, name))


@dataclass(frozen=True)
class Ids:
    """The id that is tried, where it belongs; ids that must be given beside it are our own, of the kind that their name
    speaks of.
    """

    place: tuple[str, ...]
    tried: str
    ours: Mapping[NodeKind, str]

    def at(self, path: tuple[str, ...]) -> str:
        """The id for a place."""
        if path == self.place:
            return self.tried
        name = path[-1].lower().replace("source", "document")
        return self.ours[next((kind for kind in NodeKind if kind.name.lower() in name), NodeKind.WORKSPACE)]


def value(kind: GraphQLInputType, ids: Ids, path: tuple[str, ...]) -> Any:
    """A value of the type; what need not be given is left out."""
    required = isinstance(kind, GraphQLNonNull)
    inner = kind.of_type if isinstance(kind, GraphQLNonNull) else kind
    if not required and ids.place[: len(path)] != path:
        return Undefined
    if isinstance(inner, GraphQLList):
        return [value(GraphQLNonNull(get_named_type(inner)), ids, path)]
    if isinstance(inner, GraphQLInputObjectType):
        given = {name: value(field.type, ids, (*path, name)) for name, field in inner.fields.items()}
        return {name: one for name, one in given.items() if one is not Undefined}
    if isinstance(inner, GraphQLEnumType):
        return next(iter(inner.values))
    if inner.name == "ID":
        return ids.at(path)
    return SAMPLES.get(inner.name)


def selection(kind: GraphQLOutputType, depth: int = DEPTH) -> str:
    """Every leaf that needs no argument, some levels down."""
    named = get_named_type(kind)
    if is_leaf_type(named):
        return ""
    if is_abstract_type(named) or not is_object_type(named):
        return "{ __typename }"
    chosen: list[str] = ["__typename"]
    for name, field in named.fields.items():
        if any(argument.type for argument in field.args.values() if isinstance(argument.type, GraphQLNonNull)):
            continue
        leaf = is_leaf_type(get_named_type(field.type))
        if leaf or depth > 1:
            chosen.append(f"{name} {selection(field.type, depth - 1)}".strip())
    return "{ " + " ".join(chosen) + " }"


def document(place: Place, field: GraphQLField) -> str:
    """The operation that asks the field, every argument a variable. Three levels are within the limits."""
    declared = ", ".join(f"${name}: {argument.type}" for name, argument in field.args.items())
    passed = ", ".join(f"{name}: ${name}" for name in field.args)
    return f"{place.operation}({declared}) {{ {place.field}({passed}) {selection(field.type, 2)} }}"


async def ask(world: TwoTenants, field: GraphQLField, place: Place, tried: str) -> Asked:
    """Ask as an admin of our organisation."""
    ids = Ids(place.path, tried, world.ours.ids)
    given = {name: value(argument.type, ids, (name,)) for name, argument in field.args.items()}
    variables = {name: one for name, one in given.items() if one is not Undefined}
    operation = {"query": document(place, field), "variables": variables}
    headers = {"authorization": f"Bearer {world.ours.token}"}
    if place.operation == "subscription":
        status, event = await deciding_event(world.http, operation, headers)
        return _asked(status, json.dumps(event), world, tried)
    uploads = [name for name, argument in field.args.items() if get_named_type(argument.type).name == "Upload"]
    if uploads:
        files = {
            "operations": (None, json.dumps(operation)),
            "map": (None, json.dumps({"0": [f"variables.{uploads[0]}"]})),
            "0": ("a.md", b"# A\n\nText.", "text/markdown"),
        }
        response = await world.http.post("/graphql", files=files, headers={**headers, "graphql-require-preflight": "1"})
    else:
        response = await world.http.post("/graphql", json=operation, headers=headers)
    return _asked(response.status_code, response.text, world, tried)


def _asked(status: int, body: str, world: TwoTenants, tried: str) -> Asked:
    for spelling in (tried, _in_ours(tried, world.ours)):
        body = body.replace(spelling, "THE-ID")
    return Asked(status, json.dumps(_comparable(json.loads(body)), sort_keys=True))


def _in_ours(tried: str, ours: Tenant) -> str:
    """How an answer spells the key when it takes the workspace from elsewhere."""
    node = decode(tried)
    return encode(node.kind, decode(ours.ids[NodeKind.WORKSPACE]).workspace_id, node.key)


def _comparable(value: Any) -> Any:
    """Without what differs between any two answers: traces, times and the run itself."""
    if isinstance(value, dict):
        return {name: _comparable(one) for name, one in value.items() if name not in VOLATILE}
    return [_comparable(one) for one in value] if isinstance(value, list) else value


def missing(kind: NodeKind) -> str:
    """An id of the kind that was never given to anything."""
    if kind in (NodeKind.WORKSPACE, NodeKind.API_KEY):
        return encode_in_organisation(kind, MISSING_WORKSPACE)
    return encode(kind, MISSING_WORKSPACE, MISSING_KEY)


def missing_in_ours(kind: NodeKind, ours: Tenant) -> str:
    """One of our workspace's, whose key belongs to nothing: a foreign id must not differ from it either."""
    if kind in (NodeKind.WORKSPACE, NodeKind.API_KEY):
        return missing(kind)
    return encode(kind, decode(ours.ids[NodeKind.WORKSPACE]).workspace_id, MISSING_KEY)


def borrowed(kind: NodeKind, world: TwoTenants) -> str:
    """Our workspace in front of a key of theirs."""
    if kind in (NodeKind.WORKSPACE, NodeKind.API_KEY):
        return world.theirs.ids[kind]
    ours = decode(world.ours.ids[NodeKind.WORKSPACE]).workspace_id
    return encode(kind, ours, decode(world.theirs.ids[kind]).key)


async def contents(url: str, org_id: UUID) -> Mapping[str, tuple[int, str]]:
    """Every row of an organisation, as a count and a digest for each table."""
    server = await asyncpg.connect(url)
    found: dict[str, tuple[int, str]] = {}
    try:
        for table, kind in TABLES.items():
            if kind is not TableClass.GLOBAL:
                row = await server.fetchrow(
                    f"SELECT count(*), coalesce(md5(string_agg(md5(t::text), '' ORDER BY t::text)), '') "
                    f"FROM {table} t WHERE org_id = $1",
                    org_id,
                )
                found[table] = tuple(row)
    finally:
        await server.close()
    return found


async def kinds_of(world: TwoTenants, field: GraphQLField, place: Place) -> list[NodeKind]:
    """The kinds of id that the place takes: to others the answer is INVALID_ID."""
    return [kind for kind in NodeKind if INVALID not in (await ask(world, field, place, missing(kind))).body]


async def foreign_ids(ground: Ground, short: bool) -> list[Row]:
    """Foreign against missing, in their workspace and in ours, one id at a time; then whether anything of theirs
    changed.
    """
    schema = build_schema()._schema
    async with two_tenants(ground) as world:
        before = await contents(world.database_url, world.theirs.org_id)
        answers, without_kind = list[Pair](), list[str]()
        for place in places(schema):
            field = roots(schema)[place.operation].fields[place.field]
            kinds = await kinds_of(world, field, place)
            if not kinds:
                without_kind.append(str(place))
            for kind in kinds:
                pairs = (
                    (world.theirs.ids[kind], missing(kind)),
                    (borrowed(kind, world), missing_in_ours(kind, world.ours)),
                )
                for foreign, unknown in pairs:
                    two = [await ask(world, field, place, id) for id in (foreign, unknown)]
                    answers.append(Pair(f"{place} {kind.name}", *two))
        assert schema.query_type is not None
        document_field = schema.query_type.fields["document"]
        read = Place("query", "document", ("id",))
        control = await ask(world, document_field, read, world.ours.ids[NodeKind.DOCUMENT])
        after = await contents(world.database_url, world.theirs.org_id)
    for name in without_kind:
        print(f"  takes no id of any kind: {name}")
    changed = [table for table in before if before[table] != after[table]]
    return [
        all_alike("foreign ids answered as missing ones", answers),
        exactly("ids of the schema that could not be tried", len(without_kind), 0),
        exactly("tables in which something of the other organisation changed", len(changed), 0),
        exactly("our own document read meanwhile", int("valve.md" in control.body), 1),
    ]


async def as_member(world: TwoTenants) -> TwoTenants:
    """The same world for a member of ours, to whom our documents are hidden."""
    workspace = WorkspaceRef(world.ours.org_id, decode(world.ours.ids[NodeKind.WORKSPACE]).workspace_id)
    boss = Principal(world.ours.org_id, "boss", Role.ADMIN)
    async with world.container.database.transaction(world.ours.org_id) as transaction:
        documents = (await transaction.documents.page(workspace, PageRequest(50))).items
    for one in documents:
        named = validate_principals(["boss"], [])
        await world.container.document_access.change(boss, workspace, one.document_id, named)
    made = await world.container.api_keys.create(world.ours.org_id, KeyWish("member", Role.MEMBER), "test")
    return replace(world, ours=replace(world.ours, token=made.token))


HIDDEN = (NodeKind.DOCUMENT, NodeKind.CHUNK, NodeKind.JOB, NodeKind.RUN, NodeKind.THREAD, NodeKind.SAVED)
"""Things of documents, and of those who ask, that a member may not see."""


async def close(world: TwoTenants) -> None:
    """Let admins alone enter our workspace."""
    workspace = WorkspaceRef(world.ours.org_id, decode(world.ours.ids[NodeKind.WORKSPACE]).workspace_id)
    await world.container.administer.set_workspace_access(workspace, (), None, "test")


async def _hidden_pairs(world: TwoTenants, unknown_ids: Mapping[NodeKind, str]) -> list[Pair]:
    """What our own ids are answered, and ids of nothing, wherever the schema takes them."""
    schema, answers = build_schema()._schema, list[Pair]()
    for place in places(schema):
        field = roots(schema)[place.operation].fields[place.field]
        for kind, unknown_id in unknown_ids.items():
            unknown = await ask(world, field, place, unknown_id)
            if INVALID in unknown.body:
                continue
            hidden = await ask(world, field, place, world.ours.ids[kind])
            answers.append(Pair(f"{place} {kind.name}", hidden, unknown))
    return answers


async def hidden_ids(ground: Ground, short: bool) -> list[Row]:
    """Ids in our own workspace whose documents are hidden from the member that asks, against ids of nothing."""
    async with two_tenants(ground) as whole:
        world = await as_member(whole)
        hidden = await _hidden_pairs(world, {kind: missing_in_ours(kind, world.ours) for kind in HIDDEN})
    return [all_alike("ids hidden from a member answered as missing ones", hidden)]


async def closed_workspace(ground: Ground, short: bool) -> list[Row]:
    """Ids of a workspace that the member who asks may not enter, against ids of nothing."""
    async with two_tenants(ground) as whole:
        world = await as_member(whole)
        await close(world)
        kinds = (NodeKind.WORKSPACE, NodeKind.DOCUMENT) if short else tuple(world.ours.ids)
        closed = await _hidden_pairs(world, {kind: missing(kind) for kind in kinds})
    return [all_alike("ids of a workspace that a member may not enter answered as missing ones", closed)]


ROWS: Mapping[str, Measure] = {
    "foreign-ids": foreign_ids,
    "hidden-ids": hidden_ids,
    "closed-workspace": closed_workspace,
}
