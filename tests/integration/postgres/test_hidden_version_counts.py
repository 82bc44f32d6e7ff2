"""How many versions a caller is not shown is what looking at each of them says, and is known without doing so."""

import json
import random
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.contract.backends import Backend
from tests.stack import execute

from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.tenancy.restricted_versions import HIDDEN, STORED, HiddenVersions
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = pytest.mark.integration

ADD_SETS = (
    "INSERT INTO rag_access_sets SELECT $1, $2, of, ARRAY ['user:' || of] FROM generate_series(1, $3::integer) of"
)
ADD_VERSIONS = """
INSERT INTO rag_restricted_versions (org_id, workspace_id, version, access_id)
SELECT $1, $2, * FROM unnest($3::integer[], $4::integer[])
"""


@dataclass
class History:
    """A workspace whose restricted versions are those that are added."""

    pool: PostgresPool
    workspace: WorkspaceRef

    async def add(self, touched: list[tuple[int, int]], sets: int) -> None:
        """Versions with the set that each touched, in order, and that many sets."""
        async with self.pool.transaction(self.workspace.org_id) as connection:
            await connection.execute(ADD_SETS, *self.workspace.key, sets)
            await connection.execute(ADD_VERSIONS, *self.workspace.key, *map(list, zip(*touched, strict=True)))

    async def keep(self, newest: int, oldest: int) -> None:
        """Say which versions the workspace keeps."""
        async with self.pool.transaction(self.workspace.org_id) as connection:
            await connection.execute(
                "UPDATE rag_workspaces SET corpus_version = $3, oldest_version = $4"
                " WHERE org_id = $1 AND workspace_id = $2",
                *self.workspace.key,
                newest,
                oldest,
            )

    async def stored(self, known: HiddenVersions, read: list[int], shown: int) -> int:
        async with self.pool.transaction(self.workspace.org_id) as connection:
            return await known.stored(connection, self.workspace, ReadScope(tuple(read), is_unrestricted=False), shown)

    async def ask(self, statement: str, read: list[int], above: int, upto: int) -> Any:
        async with self.pool.transaction(self.workspace.org_id) as connection:
            return await connection.fetchval(statement, *self.workspace.key, read, above, upto)


@pytest.fixture
async def history(stores: Backend, migrated_url: str) -> AsyncIterator[History]:
    pool = PostgresPool(migrated_url)
    yield History(pool, await stores.workspace())
    await pool.aclose()


async def test_the_count_is_that_of_looking_at_each_version(history: History) -> None:
    chance = random.Random(1)
    sets, newest = 30, 400
    touched = [
        (version, one)
        for version in range(1, newest)
        for one in sorted(chance.sample(range(1, sets + 1), chance.choice([0, 1, 1, 2, 5])))
    ]
    await history.add(touched, sets)
    by_version: dict[int, set[int]] = defaultdict(set)
    for version, one in touched:
        by_version[version].add(one)

    for read in (
        [0],
        [0, 3],
        list(range(16)),
        list(range(25)),
        [*range(9), *range(10, sets + 1)],
        list(range(sets + 1)),
    ):
        for _ in range(20):
            above, upto = sorted(chance.sample(range(newest + 5), 2))
            hidden = sum(not of.intersection(read) and above < version <= upto for version, of in by_version.items())
            assert await history.ask(HIDDEN, read, above, upto) == hidden, (read, above, upto)


async def test_it_is_known_without_reading_every_version(history: History, migrated_url: str) -> None:
    sets, newest = 500, 20_000
    await history.add([(version, 1 + version % sets) for version in range(1, newest)], sets)
    await execute(migrated_url, "ANALYZE rag_restricted_versions, rag_access_sets")

    blocks: list[int] = []
    for read in ([0], [0, 7], [one for one in range(sets + 1) if one != 7]):
        told = await history.ask(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {HIDDEN}", read, 0, newest)
        plan = json.loads(told)[0]["Plan"]
        blocks.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

    assert max(blocks) < 300, f"{blocks}: 40 versions are looked at, of 20,000"


async def test_a_number_as_shown_is_found_like_by_looking_at_each_version(history: History) -> None:
    chance = random.Random(2)
    sets, newest, oldest = 12, 200, 60
    touched = [
        (version, one)
        for version in range(1, newest)
        for one in sorted(chance.sample(range(1, sets + 1), chance.choice([0, 1, 1, 2])))
    ]
    await history.add(touched, sets)
    await history.keep(newest, oldest)

    for read in ([0], [0, 3], list(range(7)), list(range(sets))):
        hidden = [False, *(_is_hidden(version, touched, read) for version in range(1, newest + 1))]
        shown = [version - sum(hidden[: version + 1]) for version in range(newest + 1)]
        asked = list(range(shown[-1] + 1))
        chance.shuffle(asked)
        known = HiddenVersions()
        for number in asked:
            first = shown.index(number)
            kept = max(first, min(oldest, first + shown.count(number) - 1))
            found = await history.stored(known, read, number)
            assert found == kept or found < kept < oldest, (read, number)
        assert await history.stored(known, read, shown[-1] + 1) > newest


def _is_hidden(version: int, touched: list[tuple[int, int]], read: list[int]) -> bool:
    of = {one for at, one in touched if at == version}
    return bool(of) and not of.intersection(read)


async def test_a_number_as_shown_is_found_without_reading_every_version(history: History, migrated_url: str) -> None:
    sets, newest = 500, 20_000
    await history.add([(version, 1 + version % sets) for version in range(1, newest)], sets)
    await history.keep(newest, 0)
    await execute(migrated_url, "ANALYZE rag_restricted_versions, rag_access_sets")

    blocks: list[int] = []
    for read in ([0], [0, 7], [one for one in range(sets + 1) if one != 7]):
        async with history.pool.transaction(history.workspace.org_id) as connection:
            told = await connection.fetchval(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {STORED}", *history.workspace.key, read, 20, -1, 0, None
            )
        plan = json.loads(told)[0]["Plan"]
        blocks.append(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])

    assert max(blocks) < 1_000, f"{blocks}: 40 versions are looked at in fifteen halves, of 20,000"
