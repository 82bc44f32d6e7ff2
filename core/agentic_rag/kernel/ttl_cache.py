"""A cache with a time to live, for values that a process would otherwise read for every request."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.concurrency import SingleFlight, detached_task

PATIENCE_SECONDS = 0.05
"""For a further look, before a caller goes on with what was found: longer than a server that answers takes."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _Entry(Generic[V]):
    value: V
    loaded_at: float


class TtlCache(Generic[K, V]):
    """Keeps the value of `look` for each key for `seconds`, for the `most` keys that were used last.

    `look` gets the previous value, None the first time and after `forget`. Concurrent callers for one key share one
    look and its error. With `goes_on` they get the old value at once while it is loaded again; the caller that loads it
    does after `PATIENCE_SECONDS`.
    """

    def __init__(
        self,
        look: Callable[[K, V | None], Coroutine[Any, Any, V]],
        clock: Clock,
        *,
        seconds: float,
        most: int,
        goes_on: bool = False,
    ) -> None:
        self._look = look
        self._clock = clock
        self._seconds = seconds
        self._most = most
        self._goes_on = goes_on
        self._found: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._looks: SingleFlight[V] = SingleFlight()
        self._forgotten = 0
        self._late: set[asyncio.Task[tuple[V, bool]]] = set()

    async def get(self, key: K) -> V:
        """What is known, or found now. Errors: those of `look`, which leave what was found before to the next one."""
        found, now = self._found.get(key), self._clock.monotonic()
        if found is not None and now - found.loaded_at < self._seconds:
            self._found.move_to_end(key)
            return found.value
        look = self._looks.run((key, self._forgotten), lambda: self._reload(key, now))
        if found is None or not self._goes_on:
            return (await look)[0]
        found.loaded_at = now
        looking = asyncio.create_task(look)
        self._late.add(looking)
        looking.add_done_callback(self._end)
        await asyncio.wait({looking}, timeout=PATIENCE_SECONDS)
        return looking.result()[0] if looking.done() else found.value

    def forget(self, key: K | None = None) -> None:
        """Look again at the next use of a key, or of all of them; a look that began before is not remembered."""
        self._forgotten += 1
        if key is None:
            self._found.clear()
        else:
            self._found.pop(key, None)

    def knows(self, key: K) -> bool:
        """Whether something is remembered for the key, however old."""
        return key in self._found

    def items(self) -> Iterable[tuple[K, V]]:
        """What is remembered, the last used at the end."""
        return ((key, found.value) for key, found in self._found.items())

    def _end(self, looking: asyncio.Task[tuple[V, bool]]) -> None:
        self._late.discard(looking)
        if not looking.cancelled():
            # Nobody may wait for it any more; what was found before stays.
            looking.exception()

    async def _reload(self, key: K, now: float) -> V:
        before, forgotten = self._found.get(key), self._forgotten
        value = await detached_task(self._look(key, None if before is None else before.value))
        if forgotten == self._forgotten:
            self._found[key] = _Entry(value, now)
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
        return value
