"""Fields, each of which declares who may ask it and requires that and that the product is on; and the types and
conversions that they share: payloads, Relay's objects with a global id, pages of a list by keyset cursors.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import fields
from functools import lru_cache, wraps
from operator import attrgetter
from typing import Any, Generic, TypeVar

import strawberry
from strawberry.utils.str_converters import to_camel_case

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.pagination import Page
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error


@strawberry.type
class Payload:
    """What a mutation answers: its own fields have defaults, and are left out when there are user errors."""

    user_errors: list[UserError] = strawberry.field(default_factory=list)


Item = TypeVar("Item")
Shown = TypeVar("Shown")
Resolver = Callable[..., Awaitable[Any]]
Events = Callable[..., AsyncGenerator[Any]]
Decorator = Callable[[Resolver], Any]

OK = "OK"
"""In the place of a code."""

_RULE = "rule"
"""Where the metadata of a field hold its rule."""


def field(*actions: Action, right: DocumentRight | Sight, document: str | None = None, description: str) -> Decorator:
    """A field for callers who may perform all of the actions and have the right. Every error goes to `errors`."""
    rule = _rule(actions, right, document)

    def decorate(resolve: Resolver) -> Any:
        @wraps(resolve)
        async def guard(*args: Any, info: Info, **arguments: Any) -> Any:
            try:
                await _require(info, rule, arguments)
                answered = await resolve(*args, info=info, **arguments)
            except AgenticRagError as error:
                _count(info, error.code)
                raise
            _count(info, OK)
            return answered

        return strawberry.field(guard, description=description, metadata={_RULE: rule})

    return decorate


def mutation(
    action: Action,
    payload: type[Payload],
    *more: type[AgenticRagError],
    right: DocumentRight | Sight,
    document: str | None = None,
    description: str,
) -> Decorator:
    """A field for callers who may perform the action and have the right. `USER_ERRORS` and `more` go to the payload's
    `userErrors`; the payload's other fields have defaults.
    """
    rule = _rule((action,), right, document)

    def decorate(resolve: Resolver) -> Any:
        @wraps(resolve)
        async def guard(*args: Any, info: Info, **arguments: Any) -> Any:
            try:
                await _require(info, rule, arguments)
                answered = await resolve(*args, info=info, **arguments)
            except AgenticRagError as error:
                _count(info, error.code)
                if not isinstance(error, (*USER_ERRORS, *more)):
                    raise
                return payload(user_errors=[user_error(error)])
            _count(info, OK)
            return answered

        return strawberry.mutation(guard, description=description, metadata={_RULE: rule})

    return decorate


def subscription(action: Action, *, right: DocumentRight | Sight, description: str) -> Callable[[Events], Any]:
    """A field of events for callers who may perform the action and have the right. Errors end the subscription."""
    rule = _rule((action,), right, None)

    def decorate(resolve: Events) -> Any:
        @wraps(resolve)
        async def guard(*args: Any, info: Info, **arguments: Any) -> AsyncGenerator[Any]:
            await _require(info, rule, arguments)
            async with aclosing(resolve(*args, info=info, **arguments)) as events:
                async for event in events:
                    yield event

        return strawberry.subscription(guard, description=description, metadata={_RULE: rule})

    return decorate


def inner(*actions: Action, right: DocumentRight | Sight, is_hidden: bool = False, description: str) -> Decorator:
    """A field of an object that asks the stores. The object's own rule was checked before; `is_hidden` answers null
    instead of FORBIDDEN.
    """
    rule = Rule(actions, right, is_hidden=is_hidden)

    def decorate(resolve: Resolver) -> Any:
        @wraps(resolve)
        async def guard(self: Any, info: Info, **arguments: Any) -> Any:
            if rule.is_hidden and not rule.permits(info.context.principal):
                return None
            rule.authorise(info.context.principal)
            return await resolve(self, info, **arguments)

        return strawberry.field(guard, description=description, metadata={_RULE: rule})

    return decorate


def rules_of(schema: strawberry.Schema) -> Mapping[str, Rule]:
    """The rule of every field that asks the product, as `Type.field`. Errors: `ValueError` for one without a rule: such
    a schema is not served.
    """
    rules: dict[str, Rule] = {}
    roots = {one.__strawberry_definition__.name for one in (schema.query, schema.mutation, schema.subscription) if one}
    for kind, shown in schema.schema_converter.type_map.items():
        definition = shown.definition
        for one in getattr(definition, "fields", ()):
            resolver = one.base_resolver
            if resolver is None or not (resolver.info_parameter or kind in roots):
                continue
            name = f"{kind}.{schema.config.name_converter.get_graphql_name(one)}"
            if _RULE not in one.metadata:
                raise ValueError(f"{name} does not declare who may ask it: make it by one of the decorators here")
            rules[name] = one.metadata[_RULE]
    return rules


def _rule(actions: tuple[Action, ...], right: DocumentRight | Sight, document: str | None) -> Rule:
    if not actions:
        raise ValueError("a field of the schema's roots declares an action at least")
    return Rule(actions, right, document)


async def _require(info: Info, rule: Rule, arguments: Mapping[str, Any]) -> None:
    context = info.context
    context.parts.options.require_enabled()
    rule.authorise(context.principal)
    if rule.document is not None:
        node = decode(arguments[rule.document], NodeKind.DOCUMENT, path=(to_camel_case(rule.document),))
        await rule.require(context.parts.document_access, context.principal, context.ref(node), node.key)


def _count(info: Info, code: str) -> None:
    """Count how a field of the roots ended; names of the schema bound the label."""
    info.context.parts.telemetry.count("rag_graphql_fields_total", field=info.field_name, code=code)


def to_schema(kind: type[Shown], /, *values: object, **different: Any) -> Shown:
    """A value of the type `kind`. Each field takes the attribute of its name, from the first of `values` that has it,
    or what `different` gives for it.

    Strawberry reads fields by name, so a nested value of the core needs no conversion when its names are the schema's.
    """
    names, find = _copied(kind, tuple(different))
    if len(values) == 1:
        return kind(**dict(zip(names, find(values[0]), strict=True)), **different)
    copied = {name: next(getattr(value, name) for value in values if hasattr(value, name)) for name in names}
    return kind(**copied, **different)


@lru_cache(maxsize=256)
def _copied(kind: Any, different: tuple[str, ...]) -> tuple[tuple[str, ...], Callable[[object], tuple[Any, ...]]]:
    """The names of the fields that come from a value, and what reads them of one."""
    names = tuple(field.name for field in fields(kind) if field.init and field.name not in different)
    if len(names) > 1:
        return names, attrgetter(*names)
    return names, lambda value: tuple([getattr(value, name) for name in names])


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


Paged = TypeVar("Paged", bound=Connection[Any])


def connection(page: Page[Item], show: Callable[[Item], Shown]) -> Connection[Shown]:
    """A page of domain values as a page of the schema."""
    return connection_of(Connection[Shown], page, show)


def connection_of(kind: type[Paged], page: Page[Item], show: Callable[[Item], Any], **more: Any) -> Paged:
    """A page of domain values as a type of page that has fields of its own; `more` are their values."""
    nodes = [show(item) for item in page.items]
    edges = [Edge(cursor=cursor, node=node) for cursor, node in zip(page.cursors, nodes, strict=True)]
    end = page.cursors[-1] if page.cursors else None
    info = PageInfo(has_next_page=page.has_next, end_cursor=end)
    return kind(edges=edges, nodes=nodes, page_info=info, **more)
