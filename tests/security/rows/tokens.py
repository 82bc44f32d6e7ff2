"""Rows on who is calling."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import httpx2

from agentic_rag_server.app import build_app
from agentic_rag_server.main import server_parts
from tests.bench.reports import Row, exactly
from tests.forged_tokens import forged_tokens
from tests.security.ground import Ground
from tests.security.table import Measure
from tests.security.tenants import two_tenants
from tests.token_issuer import AUDIENCE, ISSUER, claims, ec_key, ed_key, rsa_key, serving, signed

QUESTION = {"query": "{ organisation { id } workspaces { name } }"}


async def forged(ground: Ground, short: bool) -> list[Row]:
    """Each against the server as it is wired, with an issuer on loopback; genuine tokens before and after."""
    with serving(rsa_key(), ec_key(), ed_key()) as issuer:
        settings = {
            "AGENTIC_RAG_JWKS_URL": issuer.url,
            "AGENTIC_RAG_JWT_ISSUER": ISSUER,
            "AGENTIC_RAG_JWT_AUDIENCE": AUDIENCE,
        }
        async with two_tenants(ground, **settings) as world:
            outside = issuer.url.removesuffix("/keys")

            app, addresses = build_app(server_parts(world.container)), count(1)

            async def status(token: str) -> int:
                # Each from an address of its own: many wrong ones of one address are answered slowly.
                transport = httpx2.ASGITransport(app=app, client=(f"127.0.1.{next(addresses)}", 9))
                async with httpx2.AsyncClient(transport=transport, base_url="http://server", timeout=60) as http:
                    headers = {"authorization": f"Bearer {token}".encode()}
                    return (await http.post("/graphql", json=QUESTION, headers=headers)).status_code

            genuine = [signed(claims(world.ours.org_id), key) for key in (rsa_key(), ec_key(), ed_key())]
            believed = [await status(token) for token in genuine]
            answers = {
                it.name: await status(it.token) for it in forged_tokens(world.ours.org_id, world.theirs.org_id, outside)
            }
            believed += [await status(token) for token in genuine]
    passed = [name for name, answer in answers.items() if answer != 401]
    return [
        Row(
            "forged tokens refused with 401" + (f" (not: {', '.join(passed)})" if passed else ""),
            f"{len(answers) - len(passed)}/{len(answers)}",
            "all of ≥ 30",
            not passed and len(answers) >= 30,
        ),
        exactly("genuine tokens of the same issuer believed", believed.count(200), len(believed)),
        exactly("addresses asked that a token named", len(issuer.others), 0),
        exactly("fetches of the issuer's keys in all", issuer.fetches, 1),
    ]


ROWS: Mapping[str, Measure] = {"forged-tokens": forged}
