"""What `rag doctor` says of the chat model, against a provider that misbehaves in each of the ways it can."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.provider_stub import Fault, ProviderStub, Shape
from tests.unit.cli.product import NO_DOTENV

from agentic_rag.settings import Settings, load_settings
from agentic_rag_cli.commands.operations.chat_check import check_chat
from agentic_rag_cli.commands.operations.doctor import DEGRADED, OK

pytestmark = pytest.mark.network


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as stub:
        stub.scribe = lambda _: json.dumps({"ready": True})
        yield stub


def settings(stub: ProviderStub, **changes: str) -> Settings:
    environ = {"AGENTIC_RAG_CHAT_MODEL": "scribe", "OPENAI_API_KEY": stub.key, "OPENAI_BASE_URL": stub.base_url}
    return load_settings({**environ, **changes}, dotenv=NO_DOTENV)


async def test_a_model_that_keeps_to_the_form_is_well_and_the_cost_is_named(stub: ProviderStub) -> None:
    priced = settings(stub, AGENTIC_RAG_MODEL_PRICES="platform:scribe=1000/1000")

    found = await check_chat(priced)

    assert (found.status, found.code) == (OK, None)
    assert "tokens, 0." in found.detail
    assert "USD" in found.detail
    assert len(stub.received) == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(status=401), "PROVIDER_KEY_REJECTED"),
        (Fault(status=429), "PROVIDER_RATE_LIMITED"),
        (Fault(status=500), "PROVIDER_UNAVAILABLE"),
        (Fault(reset=True), "PROVIDER_UNAVAILABLE"),
        (Fault(shape=Shape.TRUNCATED_JSON), "PROVIDER_BAD_RESPONSE"),
        (Fault(shape=Shape.REFUSAL), "CHAT_REFUSED"),
        (Fault(shape=Shape.EMPTY), "CHAT_EMPTY"),
    ],
)
async def test_each_fault_has_its_code_and_a_remedy(stub: ProviderStub, fault: Fault, code: str) -> None:
    stub.script.append(fault)

    found = await check_chat(settings(stub))

    assert (found.status, found.code) == (DEGRADED, code)
    assert found.remedy


async def test_a_model_without_structured_output_is_found_out(stub: ProviderStub) -> None:
    stub.scribe = lambda _: "Yes, I am ready!"

    found = await check_chat(settings(stub))

    assert (found.status, found.code) == (DEGRADED, "CHAT_REPLY_INVALID")
    assert "structured output" in (found.remedy or "")


@pytest.mark.slow
async def test_a_model_that_never_answers_is_not_waited_for(stub: ProviderStub) -> None:
    stub.script.append(Fault(hang=True))

    found = await check_chat(settings(stub, AGENTIC_RAG_PROVIDER_TIMEOUT_SECONDS="0.5"))

    assert found.status == DEGRADED
    assert found.code in ("CHAT_NO_TIME", "PROVIDER_UNAVAILABLE")
