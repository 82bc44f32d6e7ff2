"""What one reader of a text worked out and leaves for the next, who comes soon or not at all."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

V = TypeVar("V")


class OneShotCache(Generic[V]):
    """Holds the values of the last `most` texts that nobody took, none of a text longer than `longest` characters. Any
    thread may leave and take.
    """

    def __init__(self, most: int, longest: int) -> None:
        self._most = most
        self._longest = longest
        self._waiting: dict[str, V] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, text: str, value: V) -> None:
        """Leave a text's value for one reader."""
        if len(text) > self._longest:
            return
        with self._lock:
            self._waiting[text] = value
            while len(self._waiting) > self._most:
                del self._waiting[next(iter(self._waiting))]

    def take(self, text: str) -> V | None:
        """A text's value, once."""
        with self._lock:
            return self._waiting.pop(text, None)
