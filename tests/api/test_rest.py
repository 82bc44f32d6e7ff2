"""Originals, health and metrics over plain HTTP."""

import asyncio
from collections.abc import Mapping
from email.message import Message
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.documents.ports import Original
from agentic_rag.kernel.errors import DependencyUnavailable, KeyUnknown, Misconfigured, Unauthenticated
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import KeyScope, Principal, Role, SubjectKind
from agentic_rag_server.app import build_app
from agentic_rag_server.parts import ServerOptions
from agentic_rag_server.rest.documents.source import content_disposition
from agentic_rag_server.rest.health import RECENT_SECONDS, REMEMBERED_SECONDS
from tests.api.builders import (
    NOW,
    ORG,
    TOKENS,
    WORKSPACE_ID,
    Container,
    FakeBlobs,
    FakeIdentity,
    FakeStores,
    a_document,
    client,
    document_id,
    numbered,
)

KEY = "documents/org/workspace/20260101T000000000000Z-0123456789ab-valves.pdf"


def holding(**changes: object) -> Container:
    """A container with one document and its original."""
    held = Original(bytes(32), KEY, 22, NOW)
    stores = FakeStores(documents={numbered(1): a_document(1, **changes)}, originals={numbered(1): [held]})
    return Container(database=stores, blobs=FakeBlobs({KEY: b"%PDF-1.7 whole content"}))


async def test_the_original_comes_back_byte_by_byte_under_a_strict_policy() -> None:
    async with client(holding(file_name="Safety valves.pdf")) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert response.content == b"%PDF-1.7 whole content"
    assert response.headers["content-type"] == "application/pdf"
    assert response.headers["content-disposition"] == 'inline; filename="Safety valves.pdf"'
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in response.headers["content-security-policy"]


@pytest.mark.parametrize("media_type", ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml"])
async def test_originals_that_could_run_are_saved_not_shown(media_type: str) -> None:
    async with client(holding(media_type=media_type)) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert response.headers["content-disposition"].startswith("attachment")
    assert response.headers["content-type"] == media_type


async def test_an_odd_media_type_is_not_repeated() -> None:
    async with client(holding(media_type="text/html\r\nset-cookie: a=b")) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert response.headers["content-type"] == "application/octet-stream"
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain.pdf", 'attachment; filename="plain.pdf"'),
        ('a"b.pdf', "attachment; filename=\"a_b.pdf\"; filename*=UTF-8''a%22b.pdf"),
        ("../../etc/passwd", 'attachment; filename="passwd"'),
        ("C:\\Users\\ada\\x.docx", 'attachment; filename="x.docx"'),
        ("a\r\nSet: x", "attachment; filename=\"aSet_ x\"; filename*=UTF-8''aSet%3A%20x"),
        ("é.pdf", "attachment; filename=\"_.pdf\"; filename*=UTF-8''%C3%A9.pdf"),
        ("", 'attachment; filename="document"'),
        ("...", 'attachment; filename="document"'),
        ("a/", 'attachment; filename="document"'),
        ("pdf\u202egnp.exe", 'attachment; filename="pdfgnp.exe"'),
    ],
)
def test_file_names_are_made_safe(name: str, expected: str) -> None:
    assert content_disposition(name, inline=False) == expected


@given(st.text(max_size=400))
def test_any_file_name_gives_one_header_line_of_ascii(name: str) -> None:
    header = content_disposition(name, inline=True)

    message = Message()
    message["Content-Disposition"] = header
    assert header.isascii()
    assert header.isprintable()
    shown = header.partition('filename="')[2].partition('"')[0]
    assert shown
    assert not set(shown) & set('/\\"')
    assert "/" not in unquote(header.partition("UTF-8''")[2])


@pytest.mark.parametrize(
    ("path_id", "status", "code"),
    [
        ("nonsense", 400, "INVALID_ID"),
        (WORKSPACE_ID, 400, "INVALID_ID"),
        (document_id(99), 404, "DOCUMENT_NOT_FOUND"),
        (encode(NodeKind.DOCUMENT, numbered(3), numbered(1)), 404, "DOCUMENT_NOT_FOUND"),
    ],
)
async def test_a_document_that_is_not_there_has_no_source(path_id: str, status: int, code: str) -> None:
    async with client(holding()) as http:
        response = await http.get(f"/v1/documents/{path_id}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (status, code)
    assert len(response.json()["error"]["traceId"]) == 32


async def test_a_source_asks_for_a_token_and_the_right_organisation() -> None:
    async with client(holding(), token=None) as http:
        nobody = await http.get(f"/v1/documents/{document_id(1)}/source")
    async with client(holding(), token="other-token") as http:
        stranger = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (nobody.status_code, nobody.json()["error"]["code"]) == (401, "UNAUTHENTICATED")
    assert nobody.headers["www-authenticate"].startswith("Bearer")
    assert stranger.status_code == 404


async def test_a_missing_original_is_404_before_any_byte() -> None:
    container = holding()
    container.blobs.content.clear()
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (404, "ORIGINAL_MISSING")


async def test_a_document_that_failed_at_once_still_has_its_original() -> None:
    container = holding(content_hash=None)
    async with client(container) as http:
        found = await http.get(f"/v1/documents/{document_id(1)}/source")
        container.database.originals.clear()
        missing = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert found.content == b"%PDF-1.7 whole content"
    assert missing.json()["error"]["code"] == "ORIGINAL_MISSING"


async def test_sources_are_refused_while_the_product_is_off() -> None:
    container = holding()
    container.options = ServerOptions(enabled=False)
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (403, "FEATURE_DISABLED")


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


class LaterClock(SystemClock):
    """Runs ahead by `seconds`."""

    seconds = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.seconds


class IdentityInAnOutage(FakeIdentity):
    """Knows its tokens while the database answers."""

    is_away = False
    known_without: Mapping[str, Principal] = {}
    """Those for which it asks no database."""

    async def authenticate(self, token: str) -> Principal:
        if self.is_away:
            if token in self.known_without:
                return self.known_without[token]
            if token.count(".") == 2:
                raise Unauthenticated("No issuer of tokens is configured.")
            raise DependencyUnavailable("Postgres does not answer.", dependency="postgres")
        if token not in self.tokens:
            raise KeyUnknown("The API key is unknown.")
        return await super().authenticate(token)


async def test_figures_are_shown_in_an_outage_of_the_database_to_those_who_were_shown_them_before() -> None:
    tokens = {**TOKENS, **{one: Principal(ORG, one, Role.OPERATOR) for one in ("prometheus", "revoked", "late")}}
    identity = IdentityInAnOutage(tokens)
    clock = LaterClock()
    options = ServerOptions(enabled=True, figures_take_a_token=True)
    container = Container(options=options, identity=identity, clock=clock)

    async def asked() -> dict[str, int]:
        told: dict[str, int] = {}
        for token in ("prometheus", "revoked", "late", "admin-token"):
            http.headers["authorization"] = f"Bearer {token}"
            told[token] = (await http.get("/metrics")).status_code
        return told

    async with client(container) as http:
        for token in ("prometheus", "revoked", "admin-token"):
            http.headers["authorization"] = f"Bearer {token}"
            await http.get("/metrics")
        del tokens["revoked"]
        http.headers["authorization"] = "Bearer revoked"
        assert (await http.get("/metrics")).status_code == 401
        identity.is_away = True
        during = await asked()
        clock.seconds = REMEMBERED_SECONDS + 1
        long_after = await asked()

    assert during == {"prometheus": 200, "revoked": 503, "late": 503, "admin-token": 503}
    assert set(long_after.values()) == {503}


async def test_a_key_that_nobody_used_before_the_outage_sees_no_figures_in_it() -> None:
    """It may have been revoked meanwhile, which is known to the database alone."""
    tokens = {one: Principal(ORG, one, Role.OPERATOR) for one in ("prometheus", "revoked")}
    identity, clock = IdentityInAnOutage(tokens), LaterClock()
    options = ServerOptions(enabled=True, figures_take_a_token=True)

    async def asked(http: Any, *names: str) -> list[int]:
        asking = [{"authorization": f"Bearer {one}"} for one in names]
        return [(await http.get("/metrics", headers=headers)).status_code for headers in asking]

    async with client(Container(options=options, identity=identity, clock=clock), token=None) as http:
        before = await asked(http, "prometheus", "revoked")
        clock.seconds += RECENT_SECONDS + 1
        await asked(http, "prometheus")
        identity.is_away = True
        during = await asked(http, "revoked", "prometheus")
        clock.seconds += RECENT_SECONDS + 1
        later = await asked(http, "revoked", "prometheus")

    assert (before, during, later) == ([200, 200], [503, 200], [503, 200])


async def figures(http: Any, *tokens: str) -> list[int]:
    asking = [{"authorization": f"Bearer {one}"} for one in tokens]
    return [(await http.get("/metrics", headers=headers)).status_code for headers in asking]


async def test_a_refusal_by_the_database_ends_an_outage_too() -> None:
    """Of the next one, a key that was revoked before it is none of those that were just shown figures."""
    tokens = {"revoked": Principal(ORG, "revoked", Role.OPERATOR, kind=SubjectKind.KEY)}
    identity, clock = IdentityInAnOutage(tokens), LaterClock()
    options = ServerOptions(enabled=True, figures_take_a_token=True)

    async with client(Container(options=options, identity=identity, clock=clock), token=None) as http:
        shown = await figures(http, "revoked")
        identity.is_away = True
        shown += await figures(http, "revoked")
        identity.is_away = False
        clock.seconds += RECENT_SECONDS
        tokens.clear()
        await figures(http, "wrong")
        identity.is_away = True
        clock.seconds += RECENT_SECONDS
        shown += await figures(http, "revoked")

    assert shown == [200, 200, 503]


@pytest.mark.parametrize("kind", [SubjectKind.USER, SubjectKind.SYSTEM])
async def test_a_credential_that_no_database_checks_ends_no_outage(kind: SubjectKind) -> None:
    key = Principal(ORG, "prometheus", Role.OPERATOR, kind=SubjectKind.KEY)
    identity, clock = IdentityInAnOutage({"prometheus": key}), LaterClock()
    identity.known_without = {"beside": Principal(ORG, "beside", Role.OPERATOR, kind=kind)}
    options = ServerOptions(enabled=True, figures_take_a_token=True)

    async with client(Container(options=options, identity=identity, clock=clock), token=None) as http:
        await figures(http, "prometheus")
        identity.is_away = True
        shown = list[int]()
        while clock.seconds < 3 * RECENT_SECONDS:
            shown += await figures(http, "prometheus", "beside", "not.a.token")
            clock.seconds += 30

    assert shown == [200, 200, 401] * (len(shown) // 3)


async def test_a_token_that_the_database_must_have_checked_since_ends_an_outage() -> None:
    key = Principal(ORG, "revoked", Role.OPERATOR, kind=SubjectKind.KEY)
    tokens = {"revoked": key, "token": Principal(ORG, "ada", Role.OPERATOR)}
    identity, clock = IdentityInAnOutage(tokens), LaterClock()
    options = ServerOptions(enabled=True, figures_take_a_token=True)

    async with client(Container(options=options, identity=identity, clock=clock), token=None) as http:
        await figures(http, "revoked")
        identity.is_away = True
        await figures(http, "revoked")
        identity.is_away = False
        clock.seconds += RECENT_SECONDS + 1
        await figures(http, "token")
        identity.is_away = True
        shown = await figures(http, "revoked", "token")

    assert shown == [503, 200]


class SilentIdentity(FakeIdentity):
    """Once `away` is named, says after a moment that it does not answer."""

    away = ""

    async def authenticate(self, token: str) -> Principal:
        if self.away:
            await asyncio.sleep(0)
            raise DependencyUnavailable("No answer.", dependency=self.away)
        return await super().authenticate(token)


@pytest.mark.parametrize(("away", "shown"), [("postgres", [200, 200]), ("jwks", [503, 503])])
async def test_in_an_outage_figures_go_to_all_scrapes_of_a_key_and_to_no_token_of_an_issuer_that_is_away(
    away: str, shown: list[int]
) -> None:
    """Two Prometheus servers share a key; whether a token of an issuer has expired is known only with its keys."""
    identity = SilentIdentity({"prometheus": Principal(ORG, "prometheus", Role.OPERATOR)})
    options = ServerOptions(enabled=True, figures_take_a_token=True)
    async with client(Container(options=options, identity=identity)) as http:
        http.headers["authorization"] = "Bearer prometheus"
        before = await http.get("/metrics")
        identity.away = away
        during = await asyncio.gather(http.get("/metrics"), http.get("/metrics"))

    assert before.status_code == 200
    assert [one.status_code for one in during] == shown


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


async def test_an_unknown_path_is_a_coded_404() -> None:
    async with client(Container()) as http:
        response = await http.get("/nothing")

    assert (response.status_code, response.json()["error"]["code"]) == (404, "NOT_FOUND")
    assert "/openapi.json" in response.json()["error"]["message"]


async def test_a_fault_of_the_program_is_a_masked_500() -> None:
    container = holding()
    container.database.failure = RuntimeError("hunter2")
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")

    assert (response.status_code, response.json()["error"]["code"]) == (500, "INTERNAL")
    assert "hunter2" not in response.text
    assert response.json()["error"]["traceId"] == container.telemetry.events[-1].trace_id


async def test_a_server_that_does_not_answer_is_logged_with_what_it_said_and_never_shown() -> None:
    container = holding()
    container.database.failure = DependencyUnavailable("Postgres does not answer.", dependency="postgres")
    container.database.failure.__cause__ = OSError("db-3.internal refused")
    async with client(container) as http:
        response = await http.get(f"/v1/documents/{document_id(1)}/source")
    logged = container.telemetry.events[-1]

    assert (response.status_code, response.json()["error"]["code"]) == (503, "DEPENDENCY_UNAVAILABLE")
    assert "db-3" not in response.text
    assert logged.fields["reason"] == "db-3.internal refused"
    assert response.json()["error"]["traceId"] == logged.trace_id


async def test_the_container_is_closed_when_the_application_stops() -> None:
    container = Container()
    app = build_app(container)

    async with app.router.lifespan_context(app):
        assert not container.closed

    assert container.closed
    assert container.telemetry.stopped
