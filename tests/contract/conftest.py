"""Every contract test runs once per adapter."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.backends import BACKENDS, Backend


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.integration) for name in BACKENDS])
async def adapter(request: pytest.FixtureRequest) -> AsyncIterator[Backend]:
    """All stores of one adapter; state is told apart by organisation."""
    async with BACKENDS[request.param](request) as backend:
        yield backend
