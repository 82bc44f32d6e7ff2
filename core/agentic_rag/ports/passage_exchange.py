"""Where an answer that waits and the worker that writes for it meet: nothing in it outlives the wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agentic_rag.domain.chat import Fault, Told


@dataclass(frozen=True, slots=True)
class WaitedFor:
    """A question whose answer waits for a passage, and for how long it still does."""

    question: str
    seconds_left: float


class PassageExchange(Protocol):
    """A key names one exchange. Errors: `DependencyUnavailable`."""

    async def ask(self, key: str, question: str, seconds: float) -> None:
        """Leave a question; it is gone after `seconds`."""
        ...

    async def waited_for(self, key: str) -> WaitedFor | None:
        """The question, or None when nobody waits any more."""
        ...

    async def give(self, key: str, passage: Told[str] | Fault, seconds: float) -> None:
        """Hand over what came of it; it is gone after `seconds`, taken or not."""
        ...

    async def wait(self, key: str) -> Told[str] | Fault:
        """What came of it, once, as soon as it is there. The caller ends the wait."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
