"""Health over plain HTTP, and what of it a stranger is shown."""

import asyncio
from typing import Any

import pytest

from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured
from agentic_rag.tenancy.principals import KeyScope, Principal, Role
from agentic_rag_server.parts import ServerOptions
from tests.api.builders import ORG, TOKENS, Container, FakeIdentity, client


async def fine() -> None:
    return None


async def down() -> None:
    raise DependencyUnavailable("Redis does not answer: start it or set REDIS_URL.", dependency="redis")


async def wrong() -> None:
    raise Misconfigured("pgvector is missing: install the extension.", code="PGVECTOR_MISSING")


async def hanging() -> None:
    await asyncio.Event().wait()


async def broken() -> None:
    raise RuntimeError("password=hunter2")


async def test_healthz_needs_nothing() -> None:
    async with client(Container(checks={"redis": down}), token=None) as http:
        response = await http.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_readyz_is_ready_when_every_dependency_answers() -> None:
    async with client(Container(checks={"postgres": fine, "redis": fine}), token=None) as http:
        response = await http.get("/readyz")

    assert response.status_code == 200
    assert response.json()["status"] == "ready"
    assert [(check["name"], check["status"]) for check in response.json()["checks"]] == [
        ("postgres", "ok"),
        ("redis", "ok"),
    ]


async def test_readyz_names_each_failing_dependency_with_code_and_remedy() -> None:
    options = ServerOptions(enabled=True, check_timeout_seconds=0.01)
    checks = {"postgres": wrong, "redis": down, "graph": hanging, "blobs": broken, "queue": fine}
    async with client(Container(options=options, checks=checks), token=None) as http:
        response = await http.get("/readyz")

    found = {check["name"]: check for check in response.json()["checks"]}
    assert response.status_code == 503
    assert found["postgres"]["code"] == "PGVECTOR_MISSING"
    assert "REDIS_URL" in found["redis"]["remedy"]
    assert found["graph"]["code"] == "DEPENDENCY_UNAVAILABLE"
    assert found["blobs"]["code"] == "INTERNAL"
    assert found["queue"]["status"] == "ok"
    assert "hunter2" not in response.text


@pytest.mark.parametrize("name", ["neo4j", "replica", "redis", "blobs"])
async def test_readyz_shows_what_is_down_and_is_ready_where_questions_are_answered_without_it(name: str) -> None:
    async with client(Container(checks={"postgres": fine, name: down}), token=None) as http:
        response = await http.get("/readyz")

    assert response.status_code == 200
    assert [(check["name"], check["status"]) for check in response.json()["checks"]] == [
        ("postgres", "ok"),
        (name, "degraded"),
    ]


async def test_readiness_is_computed_once_a_second_whoever_asks() -> None:
    looked = 0

    async def look() -> None:
        nonlocal looked
        looked += 1
        await asyncio.sleep(0.01)

    async with client(Container(checks={"postgres": look}), token=None) as http:
        answers = await asyncio.gather(*(http.get("/readyz") for _ in range(50)))
        answers.append(await http.get("/readyz"))

    assert {one.status_code for one in answers} == {200}
    assert looked == 1


async def test_in_production_a_stranger_learns_only_whether_the_server_is_ready() -> None:
    operator = Principal(ORG, "otis", Role.OPERATOR, scopes=frozenset({KeyScope.READ}))
    container = Container(
        options=ServerOptions(enabled=True, figures_take_a_token=True),
        checks={"postgres": down, "redis": fine},
        identity=FakeIdentity({**TOKENS, "operator-token": operator}),
    )
    told: dict[str | None, list[Any]] = {}
    for token in (None, "wrong-token", "admin-token", "operator-token"):
        async with client(container, token=token) as http:
            ready, figures, alive = [await http.get(path) for path in ("/readyz", "/metrics", "/healthz")]
        names = [one["name"] for one in ready.json().get("checks", ())]
        told[token] = [ready.status_code, names, figures.status_code, alive.status_code]

    assert told == {
        None: [503, [], 401, 200],
        "wrong-token": [401, [], 401, 200],
        "admin-token": [503, [], 403, 200],
        "operator-token": [503, ["postgres", "redis"], 200, 200],
    }


async def test_readyz_says_when_the_product_is_switched_off() -> None:
    async with client(Container(options=ServerOptions(enabled=False)), token=None) as http:
        response = await http.get("/readyz")

    (check,) = response.json()["checks"]
    assert (response.status_code, check["code"]) == (503, "FEATURE_DISABLED")
    assert "AGENTIC_RAG_ENABLED" in check["remedy"]
