"""`kernel.compute.Compute` in the calling task."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
A = TypeVar("A")


class InlineCompute:
    """Runs everything at once, where it stands."""

    async def run(self, function: Callable[[A], T], argument: A, size: int) -> T:
        """`function(argument)`."""
        return function(argument)

    async def run_here(self, function: Callable[[], T]) -> T:
        """`function()`."""
        return function()

    async def aclose(self) -> None:
        """Nothing to end."""
