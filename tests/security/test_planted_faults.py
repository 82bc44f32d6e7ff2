"""A matrix that misses nothing proves nothing: with one check of the product taken out each misses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentic_rag.documents import document_access
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Role
from agentic_rag_server.connections import ConnectionLimits
from tests.chaos.ground import Servers, new_ground, started_servers
from tests.security import table  # noqa: F401 - modules of rows are imported by it first
from tests.security.before_request import Kind, judged
from tests.security.credentials import credentials_of, undeclared
from tests.security.ground import Ground, ground_on
from tests.security.rights_matrix import declared_by, differing
from tests.security.rights_world import in_short, rights_world
from tests.security.rows.before_request import QUICK, SHORT, quick_server
from tests.stack import Stack

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def ground(session_stack: Stack) -> Iterator[Ground]:
    with ground_on(session_stack) as ground:
        yield ground


async def test_the_matrix_of_rights_misses_when_every_member_has_the_rights_of_owners(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with rights_world(ground) as world:
        callers = list(in_short(world.callers))
        asked = declared_by(world), callers, "Ownership"
        assert (await differing(world, *asked))[1] == []

        monkeypatch.setattr(document_access, "may_own", lambda *_: True)

        _, wrong = await differing(world, *asked)
    assert [line for line in wrong if "reader/member" in line]


@pytest.mark.parametrize(
    ("limits", "part", "kind"),
    [
        (replace(QUICK, head_seconds=60.0), "headers", Kind.TIME),
        (replace(QUICK, pipelined=1_000_000), "requests", Kind.SIZE),
    ],
    ids=["heads without end", "requests without end"],
)
async def test_the_matrix_before_a_request_misses_without_a_limit(
    limits: ConnectionLimits, part: str, kind: Kind
) -> None:
    scale = replace(SHORT, sent_bytes=1_500_000, trickle=0.5, seconds=1.0)
    async with quick_server(limits) as target:
        verdict = await judged(target, part, kind, scale)

    assert verdict.faults(scale)


async def test_the_matrix_of_credentials_misses_when_a_start_leaves_a_key_or_a_file_behind() -> None:
    # Servers of its own: other tests make logins on those of the session.
    with started_servers() as servers:
        await _leave_credentials_behind(servers)


async def _leave_credentials_behind(servers: Servers) -> None:
    async with new_ground(servers) as world:
        places = world.home, world.database_url, world.servers.stack.redis_url
        before = await credentials_of(*places)

        await world.container.api_keys.create(DEFAULT_ORG_ID, KeyWish("serve", Role.OPERATOR), "system:cli")
        (world.home / "operator-token").write_text("rag_...")
        (world.home / "operator-token").chmod(0o600)

        wrong = undeclared("worker", before, await credentials_of(*places))
    assert wrong == [
        "worker: API key serve, made by system:cli is not declared",
        "worker: file operator-token is not declared",
    ]
