"""Tokens of an issuer: which are believed, whom they name, and which keys verify them."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from tests.forged_tokens import forged_tokens
from tests.memory_store.telemetry import RecordingTelemetry
from tests.token_issuer import AUDIENCE, ISSUER, Issuer, claims, ec_key, ed_key, rsa_key, serving, signed

from agentic_rag.adapters.identity_chain import IdentityChain
from agentic_rag.adapters.jwt.http import KeySetClient
from agentic_rag.adapters.jwt.identity import MAX_SECONDS, TokenIdentity
from agentic_rag.adapters.jwt.issuer import IssuerOptions, token_identity
from agentic_rag.adapters.jwt.key_sets import KeySetLifetimes, RemoteKeySet
from agentic_rag.adapters.jwt.verifier import TokenRules, TokenVerifier
from agentic_rag.kernel.errors import DependencyUnavailable, Unauthenticated
from agentic_rag.tenancy.principals import Principal, Role
from agentic_rag.tenancy.token_claims import LOCAL_AUDIENCE, LOCAL_ISSUER, ClaimNames

ORG, FOREIGN = uuid4(), uuid4()


@dataclass
class HandClock:
    """Stands still unless moved."""

    seconds: float = 0.0

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time() + self.seconds, UTC)

    def monotonic(self) -> float:
        return self.seconds


@dataclass
class Directory:
    """Two organisations; one has an id at the issuer."""

    asked: int = 0

    async def find(self, reference: str) -> UUID | None:
        self.asked += 1
        return {str(ORG): ORG, str(FOREIGN): FOREIGN, "org_abc": ORG}.get(reference)


@dataclass
class World:
    identity: TokenIdentity
    keys: RemoteKeySet
    issuer: Issuer
    clock: HandClock
    directory: Directory
    telemetry: RecordingTelemetry


@asynccontextmanager
async def world(names: ClaimNames | None = None) -> AsyncIterator[World]:
    with serving(rsa_key(), ec_key(), ed_key()) as issuer:
        clock, telemetry, directory = HandClock(), RecordingTelemetry(), Directory()
        client = KeySetClient(issuer.url, timeout_seconds=1.0)
        keys = RemoteKeySet(client.fetch, clock, telemetry, KeySetLifetimes(), client.aclose)
        verifier = TokenVerifier(keys, TokenRules(ISSUER, AUDIENCE))
        identity = TokenIdentity(verifier, directory, names or ClaimNames(), clock)
        yield World(identity, keys, issuer, clock, directory, telemetry)
        await keys.aclose()


@pytest.mark.parametrize("key", [rsa_key(), ec_key(), ed_key()], ids=lambda key: key.algorithm)
async def test_a_token_of_each_algorithm_is_believed(key: object) -> None:
    async with world() as it:
        principal = await it.identity.authenticate(signed(claims(ORG), key))  # type: ignore[arg-type]

    assert principal == Principal(ORG, "ada", Role.MEMBER, ("engineering",))


async def test_every_forged_token_is_refused_and_nobody_outside_is_asked() -> None:
    async with world() as it:
        forgeries = forged_tokens(ORG, FOREIGN, it.issuer.url.removesuffix("/keys"))
        chain, believed = IdentityChain(it.identity, it.identity), []
        for forgery in forgeries:
            try:
                believed.append((forgery.name, await chain.authenticate(forgery.token)))
            except Unauthenticated:
                continue
        control = await it.identity.authenticate(signed(claims(ORG), rsa_key()))

    oversized = [("oversized", Principal(ORG, "ada", Role.MEMBER, ("engineering",)))]
    # The length is the request's affair: see the row in tests/security.
    assert believed == oversized
    assert control.org_id == ORG
    assert it.issuer.others == []
    assert len(forgeries) >= 30


async def test_a_token_may_name_the_organisation_as_its_issuer_does() -> None:
    async with world() as it:
        principal = await it.identity.authenticate(signed(claims("org_abc"), rsa_key()))

    assert principal.org_id == ORG


async def test_claims_stand_where_the_operator_says() -> None:
    names = ClaimNames("https://id.test/org", "realm_access.roles", "teams", "email")
    said = claims(
        None,
        org_id=None,
        role=None,
        **{
            "https://id.test/org": str(ORG),
            "realm_access": {"roles": ["offline_access", "viewer", "admin"]},
            "teams": ["a", "b", "a"],
            "email": "ada@id.test",
        },
    )
    async with world(names) as it:
        principal = await it.identity.authenticate(signed(said, rsa_key()))

    assert principal == Principal(ORG, "ada@id.test", Role.ADMIN, ("a", "b"))


async def test_a_token_without_role_and_groups_is_a_viewers() -> None:
    async with world() as it:
        principal = await it.identity.authenticate(signed(claims(ORG, role=None, groups=None), rsa_key()))

    assert principal == Principal(ORG, "ada", Role.VIEWER)


async def test_the_issuers_clock_may_be_a_little_off() -> None:
    now = int(time.time())
    async with world() as it:
        late = await it.identity.authenticate(signed(claims(ORG, exp=now - 10), rsa_key()))
        early = await it.identity.authenticate(signed(claims(ORG, nbf=now + 10), rsa_key()))

    assert late == early


async def test_a_token_is_verified_once_a_minute_and_never_after_it_expired() -> None:
    token = signed(claims(ORG), rsa_key())
    brief = signed(claims(ORG, exp=int(time.time()) + 5), rsa_key())
    async with world() as it:
        for _ in range(3):
            await it.identity.authenticate(token)
        asked_for_one = it.directory.asked
        it.clock.seconds = MAX_SECONDS
        await it.identity.authenticate(token)
        asked_after_a_minute = it.directory.asked
        it.clock.seconds = 0
        await it.identity.authenticate(brief)
        it.clock.seconds = 6
        await it.identity.authenticate(brief)

    assert (asked_for_one, asked_after_a_minute, it.directory.asked) == (1, 2, 4)


async def test_keys_are_fetched_once_for_many_callers_at_once() -> None:
    async with world() as it:
        await asyncio.gather(*[it.keys.key(f"unknown-{number}") for number in range(50)])

    assert it.issuer.fetches == 1


async def test_a_rotated_key_is_believed_at_once_and_its_predecessor_no_more() -> None:
    fresh = rsa_key("rsa-2")
    async with world() as it:
        await it.identity.authenticate(signed(claims(ORG), rsa_key()))
        it.issuer.keys = [fresh.public]
        it.clock.seconds = 10
        principal = await it.identity.authenticate(signed(claims(ORG), fresh))
        with pytest.raises(Unauthenticated):
            await it.identity.authenticate(signed(claims(ORG, sub="eve"), rsa_key()))

    assert principal.org_id == ORG
    assert it.issuer.fetches == 2


async def test_tokens_that_name_unknown_keys_cannot_make_us_fetch_more_than_once_in_ten_seconds() -> None:
    async with world() as it:
        for number in range(40):
            it.clock.seconds = number / 2
            assert await it.keys.key(f"unknown-{number}") is None

    assert it.issuer.fetches == 2


@pytest.mark.tells("rag_jwks_fetch_failed")
async def test_an_issuer_that_is_away_leaves_its_keys_believed_for_a_day() -> None:
    async with world() as it:
        await it.identity.authenticate(signed(claims(ORG), rsa_key()))
        it.issuer.status = 503
        it.clock.seconds = 3600
        known = await it.keys.key(rsa_key().key_id)
        it.clock.seconds = 86_400
        with pytest.raises(DependencyUnavailable) as refused:
            await it.keys.key(rsa_key().key_id)

    assert known is not None
    assert refused.value.dependency == "jwks"
    assert it.telemetry.counters["rag_jwks_fetches_total", (("outcome", "failed"),)] >= 1


@pytest.mark.parametrize(
    ("status", "body"),
    [(302, b"{}"), (500, b""), (200, b"<html>"), (200, b"[]"), (200, b'{"keys": {}}'), (200, b"x" * (2 << 20))],
    ids=["redirect", "fault", "no JSON", "a list", "no list of keys", "too large"],
)
async def test_an_answer_that_is_no_key_set_is_no_answer(status: int, body: bytes) -> None:
    async with world() as it:
        it.issuer.status, it.issuer.body = status, body
        with pytest.raises(DependencyUnavailable):
            await it.identity.authenticate(signed(claims(ORG), rsa_key()))

    assert it.issuer.others == []


async def test_keys_that_are_secret_weak_or_for_another_use_are_not_taken() -> None:
    weak = rsa_key("weak", 1024)
    secret = {"kty": "oct", "kid": "oct", "k": "c2VjcmV0", "alg": "HS256"}
    encrypting = {**rsa_key().public, "kid": "encrypting", "use": "enc"}
    relabelled = {**rsa_key().public, "kid": "relabelled", "alg": "HS256"}
    async with world() as it:
        it.issuer.keys = [weak.public, secret, encrypting, relabelled, {"kty": "RSA"}, rsa_key().public]
        found = [await it.keys.key(one) for one in ("weak", "oct", "encrypting", "relabelled")]
        good = await it.keys.key(rsa_key().key_id)

    assert found == [None] * 4
    assert good is not None


async def test_a_local_secret_verifies_development_tokens_only() -> None:
    import jwt

    secret = "s" * 32
    identity, aclose = token_identity(
        IssuerOptions(secret=secret), ClaimNames(), Directory(), HandClock(), RecordingTelemetry()
    )
    said = claims(ORG, iss=LOCAL_ISSUER, aud=LOCAL_AUDIENCE)

    principal = await identity.authenticate(jwt.encode(said, secret, "HS256"))
    with pytest.raises(Unauthenticated):
        await identity.authenticate(signed(said, rsa_key()))
    with pytest.raises(Unauthenticated):
        await identity.authenticate(jwt.encode(said, "t" * 32, "HS256"))
    await aclose()

    assert principal == Principal(ORG, "ada", Role.MEMBER, ("engineering",))


async def test_a_server_without_an_issuer_takes_no_tokens() -> None:
    async with world() as it:
        with pytest.raises(Unauthenticated, match="API keys only"):
            await IdentityChain(it.identity, None).authenticate(signed(claims(ORG), rsa_key()))
