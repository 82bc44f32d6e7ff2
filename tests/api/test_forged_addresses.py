"""A caller's address is its connection's, whatever its headers say."""

from __future__ import annotations

import httpx2
import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag_server.auth.failed_credentials import FREE_FAILURES
from tests.api.builders import ORG, Container
from tests.api.test_audit_log import CREATE, entries
from tests.api.test_connections import Door, opened
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.workspaces.organisations import MemoryOrganisations

pytestmark = pytest.mark.network


async def asked(door: Door, token: str, forged: str) -> int:
    """The status of an answer to a caller who claims an address."""
    headers = {"authorization": f"Bearer {token}", "x-forwarded-for": forged, "x-forwarded-proto": "https"}
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{door.port}", headers=headers) as http:
        return (await http.post("/graphql", json={"query": CREATE})).status_code


async def test_the_audit_log_has_the_address_of_the_connection() -> None:
    store = MemoryStore(SystemClock())
    await MemoryOrganisations(store).ensure_organisation(ORG, "ours")
    container = Container(database=MemoryDatabase(store))
    async with opened(container=container) as door:
        assert await asked(door, "admin-token", "9.9.9.9") == 200

    (entry,) = await entries(container)
    assert entry["caller"]["address"] == "127.0.0.1"


async def test_another_claimed_address_each_time_does_not_escape_the_slowing_of_wrong_credentials() -> None:
    async with opened() as door:
        for number in range(FREE_FAILURES + 2):
            assert await asked(door, "wrong", f"9.9.9.{number}") == 401
        counters = door.container.telemetry.counters

    assert counters[("rag_credentials_refused_total", (("slowed", "true"),))] >= 1
