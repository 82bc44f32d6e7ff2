"""What is remembered of access sets: bounded, and forgotten when the server was started anew."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from agentic_rag.adapters.postgres.tenancy.read_scopes import ReadScopes
from agentic_rag.tenancy.access import UNRESTRICTED_READER, ReadIdentity
from agentic_rag.tenancy.principals import WorkspaceRef

STARTED = datetime(2026, 3, 1, tzinfo=UTC)
READER = ReadIdentity(("user:dana",))


class Sets:
    """A server with `count` sets, all of which the caller reads; notes from where it was asked."""

    def __init__(self, count: int = 3) -> None:
        self.count = count
        self.asked: list[int] = []

    def head(self, started: datetime = STARTED) -> dict[str, Any]:
        return {"access_version": 4, "newest_set": self.count - 1, "started": started}

    @property
    def above(self) -> Callable[[int], Awaitable[dict[str, Any] | None]]:
        async def read(above: int) -> dict[str, Any]:
            self.asked.append(above)
            numbers = list(range(above + 1, self.count))
            return {"access_ids": numbers, "access_sets": len(numbers), "newest_set": self.count - 1}

        return read


async def test_only_what_is_newer_is_read_and_nothing_is_kept_of_a_server_that_was_started_anew() -> None:
    scopes, sets, workspace = ReadScopes(), Sets(), WorkspaceRef(uuid4(), uuid4())
    await scopes.of(workspace, READER, sets.head(), sets.above)
    sets.count = 5
    grown = await scopes.of(workspace, READER, sets.head(), sets.above)
    sets.count = 2
    restored = await scopes.of(workspace, READER, sets.head(STARTED + timedelta(hours=1)), sets.above)

    assert (grown.access_ids, grown.is_unrestricted, grown.version) == ((0, 1, 2, 3, 4), True, 4)
    assert restored.access_ids == (0, 1)
    assert sets.asked == [-1, 2, -1]


async def test_callers_that_read_no_set_of_their_own_are_forgotten_too() -> None:
    scopes, sets, workspace = ReadScopes(most_callers=2), Sets(0), WorkspaceRef(uuid4(), uuid4())
    for name in ("dana", "lee", "kim"):
        await scopes.of(workspace, ReadIdentity((f"user:{name}",)), sets.head(), sets.above)

    assert scopes.callers == 2


async def test_callers_and_workspaces_are_told_apart_and_the_last_ones_are_kept() -> None:
    scopes, sets = ReadScopes(most_numbers=8), Sets(4)
    ours, other = WorkspaceRef(uuid4(), uuid4()), WorkspaceRef(uuid4(), uuid4())
    for workspace, reader in ((ours, READER), (other, READER), (ours, UNRESTRICTED_READER)):
        await scopes.of(workspace, reader, sets.head(), sets.above)
    await scopes.of(other, READER, sets.head(), sets.above)
    assert sets.asked == [-1, -1, -1]

    await scopes.of(ours, READER, sets.head(), sets.above)

    assert sets.asked == [-1, -1, -1, -1]


async def test_hidden_versions_of_a_server_that_was_started_anew_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    scopes, sets, workspace = ReadScopes(), Sets(), WorkspaceRef(uuid4(), uuid4())
    forgotten: list[bool] = []
    monkeypatch.setattr(scopes.hidden, "forget", lambda: forgotten.append(True))

    for started in (STARTED, STARTED, STARTED + timedelta(hours=1)):
        await scopes.of(workspace, READER, sets.head(started), sets.above)

    assert forgotten == [True, True]


async def test_a_caller_who_reads_some_of_the_sets_is_restricted_to_them() -> None:
    async def read(above: int) -> dict[str, Any]:
        return {"access_ids": [0, 2], "access_sets": 3, "newest_set": 2}

    scope = await ReadScopes().of(WorkspaceRef(uuid4(), uuid4()), READER, Sets(3).head(), read)

    assert (scope.access_ids, scope.is_unrestricted) == ((0, 2), False)
