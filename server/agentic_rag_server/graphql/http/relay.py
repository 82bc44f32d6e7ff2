"""Relay's types: objects with a global id, and pages of a list by keyset cursors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import strawberry

from agentic_rag.kernel.pagination import Page

Item = TypeVar("Item")
Shown = TypeVar("Shown")


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
