"""What tests of commands leave as they found it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def library_logs() -> Iterator[None]:
    """Programs that log route the lines of libraries to the standard error of their test, which ends with it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
