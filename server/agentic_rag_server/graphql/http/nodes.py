"""The interface of objects with a global id."""

from __future__ import annotations

import strawberry


@strawberry.interface(description="Anything that `node(id)` can find again.")
class Node:
    id: strawberry.ID
