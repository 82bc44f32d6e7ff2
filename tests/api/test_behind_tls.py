"""Behind a proxy that ends TLS, the addresses of this server that answers name are those that clients use."""

from __future__ import annotations

import pytest

from agentic_rag_server.mcp.resource_metadata import METADATA_PATH
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import Container, client


@pytest.mark.parametrize(("behind_tls", "scheme"), [(True, "https"), (False, "http")])
async def test_the_resource_that_a_host_signs_in_for_is_the_one_that_it_asked(behind_tls: bool, scheme: str) -> None:
    container = Container(options=ServerOptions(enabled=True, behind_tls=behind_tls))
    # What a client sends is not believed.
    claimed = {"host": "127.0.0.1", "x-forwarded-proto": "https", "x-forwarded-for": "10.0.0.1"}
    async with client(container) as http:
        told = await http.get(f"{METADATA_PATH}/mcp", headers=claimed)
        refused = await http.post("/mcp", headers={**claimed, "authorization": ""})

    assert told.json()["resource"] == f"{scheme}://127.0.0.1/mcp"
    assert f'resource_metadata="{scheme}://127.0.0.1{METADATA_PATH}/mcp"' in refused.headers["www-authenticate"]
