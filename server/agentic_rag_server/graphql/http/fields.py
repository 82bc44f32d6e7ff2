"""Root fields. Each one requires that the product is on and that the caller may perform its action."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import fields
from functools import lru_cache, wraps
from typing import Any, TypeVar

import strawberry

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error


@strawberry.type
class Payload:
    """What a mutation answers: its own fields have defaults, and are left out when there are user errors."""

    user_errors: list[UserError] = strawberry.field(default_factory=list)


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


_Shown = TypeVar("_Shown")


def to_schema(kind: type[_Shown], /, *values: object, **different: Any) -> _Shown:
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
