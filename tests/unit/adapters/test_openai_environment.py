"""What the platform's environment says of its own provider goes to no provider of a tenant."""

from __future__ import annotations

import pytest
from tests.provider_stub import ProviderStub
from tests.unit.adapters.test_openai_chat import REQUEST

from agentic_rag.adapters.openai.tenants import TenantClients
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.ports import Credentials
from agentic_rag.models.providers.provider_keys import Provider

PLATFORM = {
    "OPENAI_ORG_ID": "org-of-the-platform",
    "OPENAI_PROJECT_ID": "project-of-the-platform",
    "OPENAI_ADMIN_KEY": "admin-of-the-platform",
    "OPENAI_CUSTOM_HEADERS": "X-Gateway: key-of-the-platform\nAuthorization: Bearer token-of-the-platform",
}

pytestmark = pytest.mark.network


async def test_no_header_of_the_platform_goes_to_a_tenant_s_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLATFORM.items():
        monkeypatch.setenv(name, value)
    clients = TenantClients({}, seconds=5.0, temperature=None)
    with ProviderStub() as stub:
        own = Credentials(Provider.COMPATIBLE, Secret(stub.key), stub.base_url)
        await clients.chat(own, "stub-chat").complete(REQUEST)
        await clients.embedder(own, EmbeddingSpace("compatible", "stub-model", stub.dimensions)).embed(["bird"])
        await clients.aclose()

    assert len(stub.received) == 2
    assert [one for one in stub.received if "of-the-platform" in str(one.headers)] == []
