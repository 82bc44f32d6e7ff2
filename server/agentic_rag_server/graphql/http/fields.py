"""Root fields, each of which requires that the product is on and that the caller may perform its action; and the types
and conversions that they share: payloads, Relay's objects with a global id, pages of a list by keyset cursors.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import fields
from functools import lru_cache, wraps
from typing import Any, Generic, TypeVar

import strawberry

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.pagination import Page
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error


@strawberry.type
class Payload:
    """What a mutation answers: its own fields have defaults, and are left out when there are user errors."""

    user_errors: list[UserError] = strawberry.field(default_factory=list)


Item = TypeVar("Item")
Shown = TypeVar("Shown")
Resolver = Callable[..., Awaitable[Any]]
Decorator = Callable[[Resolver], Any]


def field(*actions: Action, description: str) -> Decorator:
    """A field for callers who may perform all of the actions. Every error goes to `errors`."""

    def decorate(resolve: Resolver) -> Any:
        @wraps(resolve)
        async def guard(*args: Any, info: Info, **arguments: Any) -> Any:
            _require(info, *actions)
            return await resolve(*args, info=info, **arguments)

        return strawberry.field(guard, description=description)

    return decorate


def mutation(action: Action, payload: type[Payload], *more: type[AgenticRagError], description: str) -> Decorator:
    """A field for callers who may perform the action. `USER_ERRORS` and `more` go to the payload's `userErrors`;
    the payload's other fields have defaults.
    """

    def decorate(resolve: Resolver) -> Any:
        @wraps(resolve)
        async def guard(*args: Any, info: Info, **arguments: Any) -> Any:
            _require(info, action)
            try:
                return await resolve(*args, info=info, **arguments)
            except (*USER_ERRORS, *more) as error:
                return payload(user_errors=[user_error(error)])

        return strawberry.mutation(guard, description=description)

    return decorate


def _require(info: Info, *actions: Action) -> None:
    info.context.parts.options.require_enabled()
    for action in actions:
        authorise(info.context.principal, action)


def to_schema(kind: type[Shown], /, *values: object, **different: Any) -> Shown:
    """A value of the type `kind`. Each field takes the attribute of its name, from the first of `values` that has it,
    or what `different` gives for it.

    Strawberry reads fields by name, so a nested value of the core needs no conversion when its names are the schema's.
    """
    copied = {
        name: next(getattr(value, name) for value in values if hasattr(value, name))
        for name in _names(kind)
        if name not in different
    }
    return kind(**copied, **different)


@lru_cache(maxsize=128)
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)


@strawberry.interface(description="Anything that `node(id)` can find again.")
class Node:
    id: strawberry.ID


@strawberry.type(description="Whether more rows follow, and where to go on.")
class PageInfo:
    has_next_page: bool
    end_cursor: str | None = strawberry.field(description="Pass it as `after` to get the next page.")


@strawberry.type(description="A row and its cursor.")
class Edge(Generic[Shown]):
    cursor: str
    node: Shown


@strawberry.type(description="One page of a list.")
class Connection(Generic[Shown]):
    edges: list[Edge[Shown]]
    nodes: list[Shown] = strawberry.field(description="The same rows without cursors.")
    page_info: PageInfo


def connection(page: Page[Item], show: Callable[[Item], Shown]) -> Connection[Shown]:
    """A page of domain values as a page of the schema."""
    nodes = [show(item) for item in page.items]
    edges = [Edge(cursor=cursor, node=node) for cursor, node in zip(page.cursors, nodes, strict=True)]
    end = page.cursors[-1] if page.cursors else None
    return Connection(edges=edges, nodes=nodes, page_info=PageInfo(has_next_page=page.has_next, end_cursor=end))
