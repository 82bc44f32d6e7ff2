"""Every contract test runs once per adapter."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from tests.contract.backends import BACKENDS, GRAPH_BACKENDS, Backend

IN_PROCESS = "memory"


def _parameters(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=() if name == IN_PROCESS else pytest.mark.integration, id=name) for name in names]


@pytest.fixture(params=_parameters(BACKENDS))
async def adapter(request: pytest.FixtureRequest) -> AsyncIterator[Backend]:
    """All stores of one adapter; state is told apart by organisation."""
    async with BACKENDS[request.param](request) as backend:
        yield backend


@pytest.fixture(params=_parameters(GRAPH_BACKENDS))
async def graph_adapter(request: pytest.FixtureRequest) -> AsyncIterator[Backend]:
    """The same, and the graph in a store of its own."""
    async with GRAPH_BACKENDS[request.param](request) as backend:
        yield backend
