"""What is remembered of hidden versions: only newer ones are counted, and nothing outlives a restored server."""

from typing import Any, cast
from uuid import uuid4

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.tenancy.restricted_versions import MOST_VERSIONS, HiddenVersions
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef

WORKSPACE = WorkspaceRef(uuid4(), uuid4())
SCOPE = ReadScope((0, 3), is_unrestricted=False)


class Server:
    """A server whose every third version is hidden; notes what is counted."""

    def __init__(self) -> None:
        self.counted: list[tuple[int, int]] = []

    @property
    def connection(self) -> PostgresConnection:
        return cast(PostgresConnection, self)

    async def fetchval(self, _: str, *given: Any) -> int:
        above, upto = given[-2:]
        self.counted.append((above, upto))
        return upto // 3 - above // 3


async def test_only_versions_above_one_that_is_known_are_counted() -> None:
    server, hidden = Server(), HiddenVersions()

    shown = [await hidden.shown(server.connection, WORKSPACE, SCOPE, one) for one in (9_000, 9_000, 9_001, 9_006)]

    assert shown == [6_000, 6_000, 6_001, 6_004]
    assert server.counted == [(0, 9_000), (9_000, 9_001), (9_001, 9_006)]


async def test_an_older_version_is_never_counted_from_a_newer_one() -> None:
    server, hidden = Server(), HiddenVersions()

    for version in (60, 30, 45):
        await hidden.shown(server.connection, WORKSPACE, SCOPE, version)

    assert server.counted == [(0, 60), (0, 30), (30, 45)]


async def test_callers_who_read_other_sets_are_told_apart_and_nothing_is_kept_without_end() -> None:
    server, hidden = Server(), HiddenVersions(most_callers=1)
    other = ReadScope((0, 4), is_unrestricted=False)
    for scope in (SCOPE, other, SCOPE):
        await hidden.shown(server.connection, WORKSPACE, scope, 3)
    assert server.counted == [(0, 3)] * 3

    for version in (*range(3, 5 + MOST_VERSIONS), 3):
        await hidden.shown(server.connection, WORKSPACE, SCOPE, version)

    assert server.counted[-1] == (0, 3)


async def test_who_reads_everything_is_shown_what_is_stored_without_a_statement() -> None:
    server = Server()

    assert await HiddenVersions().shown(server.connection, WORKSPACE, ReadScope(), 7) == 7
    assert server.counted == []


async def test_a_server_that_may_hold_another_past_is_asked_again() -> None:
    server, hidden = Server(), HiddenVersions()
    await hidden.shown(server.connection, WORKSPACE, SCOPE, 3)

    hidden.forget()
    await hidden.shown(server.connection, WORKSPACE, SCOPE, 3)

    assert server.counted == [(0, 3)] * 2
