"""The row on time: what is hidden takes the statements, and the time, of what never was."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import Any
from uuid import UUID

from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.tenancy.principals import Role, WorkspaceRef
from tests.bench.reports import Row, exactly
from tests.integration.postgres.statements import WatchedConnection
from tests.security.ground import Ground
from tests.security.operation_requests import FIELDS, ROUTES, TOOLS, Request
from tests.security.rights_matrix import Declared, Outcome, ask_field, ask_route, call_tool, declared_by, is_permitted
from tests.security.rights_world import Caller, Relation, RightsWorld
from tests.security.rows.foreign_ids import as_member
from tests.security.table import Measure
from tests.security.tenants import TwoTenants, two_tenants

SMALLEST_CHANCE = 0.01
"""A round whose signs come by chance less often tells hidden and none apart."""
ROUNDS = 3
"""They are told apart if each of so many rounds in a row does, the same way."""
PAIRS, PAIRS_IN_SHORT = 200, 12

IN_SHORT = (
    "Query.document",
    "Query.chunk",
    "Query.job",
    "Query.run",
    "Query.explainRun",
    "Mutation.updateDocument",
    "Mutation.setDocumentAccess",
    "getDocument",
    "getOriginal",
    "fetch",
)
"""One place for each way through the product: the short form times these."""

NAMED = {one.name.lower(): one for one in (NodeKind.DOCUMENT, NodeKind.CHUNK, NodeKind.JOB, NodeKind.RUN)}


@dataclass(frozen=True)
class Place:
    """An operation that names one thing by its id."""

    name: str
    request: Request
    kind: NodeKind


def _places() -> Iterator[Place]:
    for name, request in (*FIELDS.items(), *ROUTES.items(), *TOOLS.items()):
        kinds = [NAMED[need] for need in request.needs if need in NAMED]
        if len(kinds) == 1 and not any(need.startswith("new_") for need in request.needs):
            yield Place(name, request, kinds[0])


def _rights_world(world: TwoTenants) -> tuple[RightsWorld, Caller]:
    """The same world as the requests of the matrix know it, and a member to whom everything in it is hidden."""
    ids = {kind.name.lower(): public_id for kind, public_id in world.ours.ids.items()}
    workspace = WorkspaceRef(world.ours.org_id, decode(ids["workspace"]).workspace_id)
    rights = RightsWorld(world.container, world.http, workspace, workspace, ids)
    return rights, Caller(Relation.STRANGER, Role.MEMBER, None, world.ours.token)


async def _ask(world: RightsWorld, declared: Declared, caller: Caller, place: Place) -> str:
    if place.request is TOOLS.get(place.name):
        return await call_tool(world, place.name, place.request, caller)
    if place.request is ROUTES.get(place.name):
        return await ask_route(world, declared.routes[place.name].method, place.request, caller)
    return await ask_field(world, place.name, place.request, caller)


@contextmanager
def _watched() -> Iterator[list[str]]:
    """Every statement that any pool of the process sends meanwhile."""
    statements: list[str] = []
    wrap = PostgresPool._wrap_driver

    def watch(self: PostgresPool, driver: Any) -> Any:
        return WatchedConnection(wrap(self, driver), statements)

    PostgresPool._wrap_driver = watch  # type: ignore[method-assign]
    try:
        yield statements
    finally:
        PostgresPool._wrap_driver = wrap  # type: ignore[method-assign]


Ask = Callable[[bool], Awaitable[object]]
"""Asks a place for something hidden, or for nothing."""


async def are_told_apart(ask: Ask, pairs: int) -> bool:
    """Whether the times of each of `ROUNDS` rounds differ; at most so many rounds are tried."""
    signs, order = set[bool](), random.Random(7)
    for _ in range(ROUNDS):
        slower = 0
        for _ in range(pairs):
            seconds = {is_hidden: await _seconds(ask, is_hidden) for is_hidden in order.sample((True, False), 2)}
            slower += seconds[True] > seconds[False]
        if chance_of(slower, pairs) >= SMALLEST_CHANCE:
            return False
        signs.add(slower > pairs / 2)
    return len(signs) == 1


async def _seconds(ask: Ask, is_hidden: bool) -> float:
    began = time.perf_counter()
    await ask(is_hidden)
    return time.perf_counter() - began


class Pairs:
    """Asks for something hidden, and for nothing by an id of the same age."""

    def __init__(self, world: RightsWorld, caller: Caller) -> None:
        self._world, self._caller = world, caller
        self._declared = declared_by(world)

    def wanted(self, place: Place) -> Outcome:
        """What both are told: where the caller's role is too weak for the operation, that it is, whatever is named."""
        rule = self._declared.rules[place.name]
        is_refused = not (is_permitted(rule, self._caller) or rule.is_hidden)
        return Outcome.FORBIDDEN if is_refused else Outcome.HIDDEN

    async def outcomes(self, place: Place) -> tuple[str, str, bool]:
        """What both are told, and whether by the same statements; what a process writes behind its answers may come
        between, so it is tried again.
        """
        for _ in range(ROUNDS):
            sent: list[list[str]] = []
            outcomes: list[str] = []
            for is_hidden in (True, False):
                with _watched() as statements:
                    outcomes.append(await self.ask(place, is_hidden))
                sent.append(list(statements))
            if sent[0] == sent[1]:
                break
        return outcomes[0], outcomes[1], sent[0] == sent[1]

    async def ask(self, place: Place, is_hidden: bool) -> str:
        """Ask for what is hidden, or for nothing: always by the same id, since parsed documents are kept by text."""
        name = place.kind.name.lower()
        kept = self._world.ids[name]
        node = decode(kept)
        nothing = encode(node.kind, node.workspace_id, UUID(int=node.key.int ^ 0xDEAD))
        self._world.ids[name] = kept if is_hidden else nothing
        try:
            return await _ask(self._world, self._declared, self._caller, place)
        finally:
            self._world.ids[name] = kept


def chance_of(slower: int, pairs: int) -> float:
    """How often as many signs, or more, fall on one side by chance."""
    most = max(slower, pairs - slower)
    return min(1.0, 2 * sum(comb(pairs, one) for one in range(most, pairs + 1)) / 2**pairs)


async def same_time(ground: Ground, short: bool) -> list[Row]:
    """Each place asked for what is hidden and for what never was: by which statements, and in which time."""
    places = list(_places())
    async with two_tenants(ground) as whole:
        pairs = Pairs(*_rights_world(await as_member(whole)))
        seen, unlike, apart = list[str](), list[str](), list[str]()
        for place in places:
            hidden, none, same = await pairs.outcomes(place)
            if {hidden, none} != {pairs.wanted(place).value}:
                seen.append(f"{place.name}: {hidden} and {none}")
            if not same:
                unlike.append(place.name)
        for place in [one for one in places if not short or one.name in IN_SHORT]:
            if await are_told_apart(partial(pairs.ask, place), PAIRS_IN_SHORT if short else PAIRS):
                apart.append(place.name)
    for fault, names in (("is answered", seen), ("takes other statements", unlike), ("takes another time", apart)):
        for name in names:
            print(f"  what is hidden {fault}: {name}")
    return [
        exactly("places that answer what is hidden and what never was in two ways", len(seen), 0),
        exactly("places that take other statements for what is hidden", len(unlike), 0),
        exactly("places whose time tells what is hidden", len(apart), 0),
        Row("places that name a document, passage, job or run", str(len(places)), "≥ 25", len(places) >= 25),
    ]


ROWS: Mapping[str, Measure] = {"same-time": same_time}
