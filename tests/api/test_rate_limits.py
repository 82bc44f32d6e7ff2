"""What a caller sees of the limits on requests, by GraphQL and by REST."""

from dataclasses import replace
from typing import Any

import httpx2
import pytest

from agentic_rag.adapters.system.rate_buckets import MemoryRateBuckets
from agentic_rag.kernel.errors import Overloaded
from agentic_rag.tenancy.principals import Principal, Role
from agentic_rag.workspaces.enforce_rate_limits import Admission
from agentic_rag.workspaces.rate_limits import RateLimits
from tests.api.builders import ORG, TOKENS, WORKSPACE_ID, FakeIdentity, client, query
from tests.api.rest_product import RestProduct, rest_product

ASK = "mutation ($input: RagAnswerInput!) { ragAnswer(input: $input) { answer } }"
QUESTION = {"input": {"question": "When?", "workspaceId": WORKSPACE_ID}}
UPLOADS = f"/v1/workspaces/{WORKSPACE_ID}/documents"
FILE = {"file": ("a.md", b"# A\n\nText.")}
OPERATOR = FakeIdentity({**TOKENS, "operator-token": Principal(ORG, "olga", Role.OPERATOR)})


async def limited(asks: int = 0, writes: int = 0, reads: int = 0) -> RestProduct:
    product = await rest_product()
    product.identity = OPERATOR
    product.admission = Admission(
        product.database,
        MemoryRateBuckets(product.clock),
        MemoryRateBuckets(product.clock),
        RateLimits(asks, writes, reads),
        product.clock,
        product.telemetry,
    )
    return product


async def ask(product: Any, token: str = "admin-token") -> httpx2.Response:
    async with client(product, token) as http:
        return await http.post("/graphql", json={"query": ASK, "variables": QUESTION})


async def test_a_question_too_many_is_refused_with_the_time_to_wait() -> None:
    product = await limited(asks=2)
    for _ in range(2):
        assert "errors" not in (await ask(product)).json()

    refused = await ask(product)

    (error,) = refused.json()["errors"]
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "30"
    assert error["extensions"]["code"] == "RATE_LIMITED"
    assert error["extensions"]["retryAfterSeconds"] == 30
    assert error["extensions"]["traceId"]
    assert len(product.answer.asked) == 2


async def test_another_organisation_is_not_held_up() -> None:
    product = await limited(asks=1)
    await ask(product)

    assert (await ask(product)).status_code == 429
    assert (await ask(product, "other-token")).status_code == 200


async def test_an_upload_too_many_is_refused_with_the_error_body_of_its_path() -> None:
    product = await limited(writes=1)
    async with client(product) as http:
        accepted = await http.post(UPLOADS, files=FILE)
        refused = await http.post(UPLOADS, files=FILE)
        enveloped = await http.post(f"/organization/{ORG}/agents/7/documents", files=FILE)
        reading = await http.get(f"/organization/{ORG}/agents/7/documents")

    assert accepted.status_code == 202
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "60"
    assert refused.json()["error"]["code"] == "RATE_LIMITED"
    assert enveloped.status_code == 429
    assert enveloped.json()["status"] == "error"
    assert enveloped.json()["error"]["code"] == "RATE_LIMITED"
    assert reading.status_code != 429


async def test_changes_by_graphql_and_by_rest_are_counted_together() -> None:
    product = await limited(writes=1)
    assert "errors" not in await query(
        product, "mutation { setFeature(flag: RAG_GUIDELINES, on: true) { organisation { name } } }"
    )

    async with client(product) as http:
        assert (await http.post(UPLOADS, files=FILE)).status_code == 429


async def test_reads_are_counted_once_a_request_and_a_document_that_is_refused_counts_nothing() -> None:
    product = await limited(reads=1)
    invalid = await query(product, "{ nothing }")

    first = await query(product, "{ organisation { name } again: organisation { name } }")
    second = await query(product, "{ organisation { name } }")

    assert invalid["errors"][0]["extensions"]["code"] == "GRAPHQL_INVALID"
    assert "errors" not in first
    assert second["errors"][0]["extensions"]["code"] == "RATE_LIMITED"


async def test_who_has_no_valid_token_is_told_that_and_not_counted() -> None:
    product = await limited(writes=1)
    async with client(product, "forged") as http:
        answers = [(await http.post(UPLOADS, files=FILE)).status_code for _ in range(3)]

    assert answers == [401, 401, 401]


async def test_an_operator_gives_the_organisation_limits_of_its_own() -> None:
    product = await limited(asks=1)
    change = "mutation { setRateLimits(input: {asks: 3, writes: 0}) { rateLimits { asks writes reads } } }"

    changed = await query(product, change, token="operator-token")

    assert changed["data"]["setRateLimits"]["rateLimits"] == {"asks": 3, "writes": None, "reads": None}
    assert [(await ask(product)).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert (await query(product, "{ rateLimits { asks } }", token="viewer-token"))["data"]["rateLimits"]["asks"] == 3


@pytest.mark.parametrize("token", ["admin-token", "member-token"])
async def test_nobody_below_an_operator_changes_them(token: str) -> None:
    product = await limited()

    refused = await query(product, "mutation { setRateLimits(input: {asks: 0}) { rateLimits { asks } } }", token=token)

    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_a_limit_that_is_none_comes_back_as_a_user_error() -> None:
    product = await limited()
    change = "mutation { setRateLimits(input: {asks: -1}) { userErrors { code path } } }"

    refused = await query(product, change, token="operator-token")

    assert refused["data"]["setRateLimits"]["userErrors"] == [{"code": "INVALID_INPUT", "path": ["asks"]}]


async def test_a_question_that_finds_no_room_is_503_and_says_when_to_ask_again() -> None:
    product = await limited()
    product.answer.result = Overloaded("There are too many questions.", retry_after_seconds=5.0)

    refused = await ask(product)

    (error,) = refused.json()["errors"]
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
    assert (error["extensions"]["code"], error["extensions"]["retryAfterSeconds"]) == ("OVERLOADED", 5.0)


SET = "mutation ($mb: Int) { setRateLimits(input: {storedMegabytes: $mb}) { rateLimits { storedMegabytes } } }"


async def test_uploads_beyond_what_an_organisation_may_store_are_refused_and_leave_nothing() -> None:
    product = await limited()
    product.options = replace(product.options, max_upload_bytes=2_000_000)
    product.upload = replace(product.upload, max_bytes=2_000_000)
    text = b"# Report\n\n" + b"The crane lifts forty tonnes. " * 22_000

    async def send(name: str) -> httpx2.Response:
        async with client(product, "operator-token") as http:
            return await http.post(UPLOADS, files={"file": (name, text + name.encode())})

    shown = await query(product, SET, {"mb": 1}, "operator-token")
    first = await send("a.md")
    blobs = await product.blobs.keys("")
    second = await send("b.md")
    left = await product.blobs.keys("")
    await query(product, SET, {"mb": 2}, "operator-token")
    third = await send("b.md")

    assert shown["data"]["setRateLimits"] == {"rateLimits": {"storedMegabytes": 1}}
    assert (first.status_code, second.status_code, third.status_code) == (202, 400, 202)
    assert second.json()["error"]["code"] == "STORAGE_QUOTA_EXCEEDED"
    assert left == blobs
