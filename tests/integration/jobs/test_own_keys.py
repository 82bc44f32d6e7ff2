"""Organisations that bring their own keys, as administrators see it: over HTTP, through a worker, to a provider."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.own_keys import ASK, UPDATE_MODELS, USAGE, Product, running, settings_for
from tests.provider_stub import ProviderStub

from agentic_rag.bootstrap import new_master_key
from agentic_rag.models.billing import enforce_budgets as budgets
from agentic_rag.models.providers import tenant_models as provider_access
from agentic_rag.settings import Settings
from agentic_rag.workspaces import enforce_rate_limits as admission

pytestmark = [pytest.mark.integration, pytest.mark.network]

KEY = "sk-tenant-0123456789abcdef"
TEXT = "# Valves\n\nThe relief valve opens at 3 bar. It is tested every May by the crew of the north station.\n"
QUESTION = "At which pressure does the relief valve open?"
SWITCH = """
mutation Switch($id: ID!, $to: String!) {
  switchEmbeddingSpace(input: { workspaceId: $id, to: $to }) { userErrors { code message } }
}
"""
REINGEST = "mutation($id: ID!) { reingest(documentId: $id, force: true) { new userErrors { code } } }"
LIMIT = "mutation Limit($day: Float) { setBudget(input: { dayUsd: $day }) { changed userErrors { code } } }"


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub(dimensions=1536, key=KEY) as running_stub:
        yield running_stub


@pytest.fixture
def settings(migrated_database: str, fresh_redis: str, tmp_path: Path, stub: ProviderStub) -> Settings:
    return settings_for(migrated_database, fresh_redis, tmp_path, stub)


async def test_with_its_own_key_an_organisation_uploads_asks_and_sees_what_it_used(
    settings: Settings, stub: ProviderStub
) -> None:
    async with running(settings) as product:
        tenant = await product.tenant()
        stored = await tenant.bring(KEY)
        workspace = await tenant.workspace()

        uploaded = await tenant.upload(workspace, TEXT)
        document = await tenant.ended(uploaded.json()["id"])
        answered = await tenant.ask(workspace, QUESTION)
        await until_used(product)
        today = datetime.now(UTC).date().isoformat()
        usage = await tenant.field(USAGE, **{"from": today, "to": today})

    assert stored["providerKey"]["hint"] == "cdef"
    assert document["status"] == "READY"
    assert "3 bar" in answered["answer"]
    assert {request.headers["authorization"] for request in stub.received} == {f"Bearer {KEY}"}
    [line] = usage["lines"]
    assert (line["kind"], line["provider"], line["ownKey"], line["calls"]) == ("embedding", "openai", True, 2)
    assert line["inputTokens"] > 0
    assert usage["costUsd"] == pytest.approx(line["inputTokens"] * 0.02 / 1e6)


async def test_an_answer_never_waits_for_a_second_connection_while_it_holds_one(
    settings: Settings, stub: ProviderStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (provider_access, budgets, admission):
        monkeypatch.setattr(module, "FRESH_SECONDS", 0.0)  # keys, ceilings and limits are looked up at every step
    async with running(settings.change(stores={"database_pool_size": 1})) as product:
        tenant = await product.tenant()
        await tenant.bring(KEY)
        await tenant.field(LIMIT, day=100.0)
        workspace = await tenant.workspace()
        await tenant.ended((await tenant.upload(workspace, TEXT)).json()["id"])

        answered = await asyncio.wait_for(tenant.ask(workspace, QUESTION), 8.0)

    assert "3 bar" in answered["answer"]
    assert answered["degraded"] == []


async def until_used(product: Product) -> None:
    """What the ledger noted is stored."""
    await product.container.usage_ledger.flush()


async def test_without_a_key_nothing_is_begun(settings: Settings, stub: ProviderStub) -> None:
    async with running(settings) as product:
        tenant = await product.tenant()
        workspace = await tenant.workspace()

        refused = await tenant.upload(workspace, TEXT)
        asked = await tenant.query(ASK, input={"question": QUESTION, "workspaceId": workspace})
        switched = await tenant.field(SWITCH, id=workspace, to="openai:text-embedding-3-small")

    assert refused.status_code == 402
    assert refused.json()["error"]["code"] == "PROVIDER_KEY_MISSING"
    assert "setProviderKey" in refused.json()["error"]["message"]
    assert [error["code"] for error in asked["data"]["ragAnswer"]["userErrors"]] == ["PROVIDER_KEY_MISSING"]
    assert [error["code"] for error in switched["userErrors"]] == ["PROVIDER_KEY_MISSING"]
    assert stub.received == []


PLATFORM_KEY = "sk-platform-0123456789abcdef"


async def test_tenants_bring_their_keys_where_the_platforms_embedder_costs_money(
    settings: Settings, stub: ProviderStub
) -> None:
    paid = settings.change(models={"embedder": "openai", "openai_api_key": PLATFORM_KEY})
    async with running(paid) as product:
        tenant = await product.tenant(must_bring_key=False)
        workspace = await tenant.workspace()

        refused = await tenant.upload(workspace, TEXT)
        calls = len(stub.received)
        await tenant.bring(KEY)
        document = await tenant.ended((await tenant.upload(workspace, TEXT)).json()["id"])

    assert (refused.status_code, refused.json()["error"]["code"], calls) == (402, "PROVIDER_KEY_MISSING", 0)
    assert "setProviderKey" in refused.json()["error"]["message"]
    assert document["status"] == "READY"
    assert {request.headers["authorization"] for request in stub.received} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("is_lent", [True, False])
async def test_what_failed_for_a_missing_key_goes_on_when_the_key_comes_or_the_operator_lends_the_platforms(
    settings: Settings, stub: ProviderStub, is_lent: bool
) -> None:
    stub.key = PLATFORM_KEY
    paid = settings.change(models={"embedder": "openai", "openai_api_key": PLATFORM_KEY, "tenants_bring_keys": False})
    async with running(paid) as product:
        tenant = await product.tenant(must_bring_key=False)
        workspace = await tenant.workspace()
        begun = (await tenant.upload(workspace, TEXT)).json()["id"]
        await tenant.ended(begun)
    async with running(paid.change(models={"tenants_bring_keys": True})) as product:
        again = replace(tenant, http=product.http)
        await again.field(REINGEST, id=begun)
        failed = await again.ended(begun)
        if is_lent:
            await again.field(UPDATE_MODELS, input={"mustBringKey": False})
        else:
            await again.bring(PLATFORM_KEY)
        mended = await again.ended(begun)

    assert failed["error"]["code"] == "PROVIDER_KEY_MISSING"
    assert (mended["status"], mended["error"]) == ("READY", None)


async def test_a_rejected_key_fails_the_document_at_once_and_a_valid_one_mends_it(
    settings: Settings, stub: ProviderStub
) -> None:
    async with running(settings) as product:
        tenant = await product.tenant()
        await tenant.bring("sk-wrong-0123456789abcdef")
        workspace = await tenant.workspace()

        first = (await tenant.upload(workspace, TEXT)).json()["id"]
        failed = await tenant.ended(first)
        calls = len(stub.received)
        await tenant.bring(KEY)
        again = (await tenant.upload(workspace, TEXT)).json()["id"]
        mended = await tenant.ended(again)

    assert (failed["status"], failed["error"]["code"]) == ("FAILED", "PROVIDER_KEY_REJECTED")
    assert calls == 1
    assert (again, mended["status"]) == (first, "READY")


async def test_a_spent_budget_refuses_uploads_with_amounts_and_answers_go_on_without_the_model(
    settings: Settings, stub: ProviderStub
) -> None:
    async with running(settings) as product:
        tenant = await product.tenant()
        await tenant.bring(KEY)
        workspace = await tenant.workspace()
        await tenant.ended((await tenant.upload(workspace, TEXT)).json()["id"])
        calls = len(stub.received)

        await tenant.field(LIMIT, day=0.000_000_001)
        refused = await tenant.upload(workspace, TEXT + "\nMore.", "more.md")
        answered = await tenant.ask(workspace, QUESTION)

    assert refused.status_code == 429
    assert refused.json()["error"]["code"] == "BUDGET_EXCEEDED"
    assert "begins anew" in refused.json()["error"]["message"]
    assert refused.headers["retry-after"].endswith(" 00:00:00 GMT")
    assert answered["degraded"] == ["EMBEDDER"]
    assert "3 bar" in answered["answer"]
    assert "degraded: BUDGET_EXCEEDED" in [timing["outcome"] for timing in answered["debug"]["timings"]]
    assert len(stub.received) == calls


async def test_the_master_key_is_rotated_while_organisations_ask(settings: Settings, stub: ProviderStub) -> None:
    async with running(settings) as product:
        tenant = await product.tenant()
        await tenant.bring(KEY)
        workspace = await tenant.workspace()
        await tenant.ended((await tenant.upload(workspace, TEXT)).json()["id"])

    second = new_master_key("second")
    both = settings.change(models={"master_keys": f"{second},{settings.models.master_keys}"})
    async with running(both) as product:
        again = replace(tenant, http=product.http)
        asked = [asyncio.create_task(again.ask(workspace, f"{QUESTION} {place}")) for place in range(8)]
        rotated = await product.container.provider_keys.rotate()
        answers = await asyncio.gather(*asked)
    async with running(settings.change(models={"master_keys": second})) as product:
        last = await replace(tenant, http=product.http).ask(workspace, QUESTION)
        kept = await product.container.provider_keys.look_into()
    async with running(settings) as product:
        lost = await product.container.provider_keys.look_into()

    assert (kept.opened, kept.refused) == (1, ())
    assert (lost.opened, [one.code for one in lost.refused]) == (0, ["MASTER_KEY_MISSING"])
    assert (rotated.rewrapped, rotated.unreadable) == (1, 0)
    assert [answer["degraded"] for answer in (*answers, last)] == [[]] * 9
