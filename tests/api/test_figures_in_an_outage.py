"""Who is shown figures while the database that knows their credential is away."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.errors import DependencyUnavailable, KeyUnknown, Unauthenticated
from agentic_rag.tenancy.principals import Principal, Role, SubjectKind
from agentic_rag_server.parts import ServerOptions
from agentic_rag_server.rest.health import RECENT_SECONDS, REMEMBERED_SECONDS
from tests.api.builders import ORG, TOKENS, Container, FakeIdentity, client


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
