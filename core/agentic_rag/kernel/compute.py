"""Where CPU-bound work runs, so that an event loop never does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")
A = TypeVar("A")


class Compute(Protocol):
    """Runs pure functions of modules; argument and result may cross a process boundary (they must pickle).

    Errors: what the function raises; `Retryable` code COMPUTE_LOST when the process that ran it is gone.
    """

    async def run(self, function: Callable[[A], T], argument: A, size: int) -> T:
        """`function(argument)`. `size` is the number of items in it: small work is not worth a hand-over."""
        ...

    async def run_here(self, function: Callable[[], T]) -> T:
        """`function()` in this process, in turn with all else that computes here; for work of a few hundred
        milliseconds at most, which may hold what does not pickle.
        """
        ...

    async def aclose(self) -> None:
        """End what was started."""
        ...
