"""What everything with an id has in common."""

from __future__ import annotations

import strawberry


@strawberry.interface(description="Anything that `node(id)` can find again.")
class Node:
    """An object with an opaque, stable id."""

    id: strawberry.ID
