"""The order in which the workers of a parallel run take tests: those that wait for servers first, those that only
compute last, so that at the end no processor waits for a long test.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Protocol, TypeVar

FIRST = ("acceptance", "chaos", "plants", "security", "console", "gate", "documents", "integration", "contract", "api")
"""Folders of `tests`, those whose tests wait longest first; all others come after them."""


class Test(Protocol):
    """As pytest collects it."""

    @property
    def nodeid(self) -> str:
        """Its file, then its name."""
        ...


T = TypeVar("T", bound=Test)


def deal(tests: Sequence[T], workers: int) -> list[T]:
    """The same tests: the first part is for the first worker, and so on, in parts of about one size. The tests of a
    file stay together, since they share what is made for a module.
    """
    hands: list[list[T]] = [[] for _ in range(workers)]
    files = [list(group) for _, group in groupby(tests, key=_file)]
    for _, folder in groupby(sorted(files, key=lambda file: _rank(file[0])), key=lambda file: _rank(file[0])):
        dealt = [0] * workers
        for file in sorted(folder, key=len, reverse=True):
            # Of one folder each gets as many; what is left of the difference is made up for by the last folder.
            to = min(range(workers), key=lambda worker: (dealt[worker], len(hands[worker])))
            hands[to] += file
            dealt[to] += len(file)
    return [test for hand in hands for test in hand]


def _file(test: Test) -> str:
    return test.nodeid.partition("::")[0]


def _rank(test: Test) -> int:
    folder = _file(test).split("/")[1]
    return FIRST.index(folder) if folder in FIRST else len(FIRST)
