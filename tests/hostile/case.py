"""One hostile file: how it is made, and how reading it must end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hostile:
    """A file by name. It ends READY with `phrase` in its text, or FAILED with one of `codes`; one of both is given."""

    name: str
    build: Callable[[], bytes]
    phrase: str | None
    codes: frozenset[str]

    def ended_well(self, text: str | None, code: str | None) -> bool:
        """Whether this outcome (the text, or the failure's code) is the expected one."""
        if self.phrase is None:
            return code in self.codes
        return text is not None and self.phrase in text


def ready(name: str, phrase: str, build: Callable[[], bytes]) -> Hostile:
    """A file that must be read."""
    return Hostile(name, build, phrase, frozenset())


def failed(name: str, codes: str, build: Callable[[], bytes]) -> Hostile:
    """A file that must fail with one of `codes` (parted by spaces, without their prefix PARSE_)."""
    return Hostile(name, build, None, frozenset(f"PARSE_{code}" for code in codes.split()))
