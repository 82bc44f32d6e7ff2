"""Root fields. Each one requires that the product is on and that the caller may perform its action."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import strawberry

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, user_error

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


def mutation(action: Action, payload: type[Any], *more: type[AgenticRagError], description: str) -> Decorator:
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
