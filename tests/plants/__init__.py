"""Lies planted in the product: for each row of the tables of measures one that the row must miss."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Patch = Callable[[Any, str, Any], None]
"""Replaces an attribute of a module or class."""


class Where(enum.Enum):
    """The processes that lie."""

    EVERYWHERE = "everywhere"
    CHILDREN = "children"
    """Only those that the harness starts: what it compares them with is made in its own."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A lie, and the figure of the row that must miss it."""

    lie: str
    plant: Callable[[Patch], None]
    figure: str
    """Words of its name."""
    where: Where = Where.EVERYWHERE
    is_slow: bool = False
    """Run at night: its row takes long, or starts many processes."""


def nothing(*_: Any, **__: Any) -> None:
    """In the place of a check."""


async def nothing_awaited(*_: Any, **__: Any) -> None:
    """In the place of one that is awaited."""
