"""Every contract test runs once per adapter."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.backends import BACKENDS, Backend

IN_PROCESS = "memory"
PARAMETERS = [
    pytest.param(name, marks=() if name == IN_PROCESS else pytest.mark.integration, id=name) for name in BACKENDS
]


@pytest.fixture(params=PARAMETERS)
async def adapter(request: pytest.FixtureRequest) -> AsyncIterator[Backend]:
    """All stores of one adapter; state is told apart by organisation."""
    async with BACKENDS[request.param](request) as backend:
        yield backend
