"""Stores on the session's migrated database."""

from collections.abc import AsyncIterator

import pytest
from tests.contract.backends import Backend, postgres_backend


@pytest.fixture
async def stores(request: pytest.FixtureRequest, migrated_url: str) -> AsyncIterator[Backend]:
    """Every store on Postgres."""
    async with postgres_backend(request) as backend:
        yield backend
