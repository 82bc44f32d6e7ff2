"""Every connector keeps a workspace equal to its source; `make context` runs the same with 200 edits."""

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest
from tests.contract.ingestion.source_conformance import FOLDERS, measure
from tests.contract.ingestion.source_world import ORIGINS, FollowingWorkspace

from agentic_rag.ingestion.sources.source import SourceKind
from agentic_rag.kernel.errors import PolicyRefused

pytestmark = pytest.mark.network


@pytest.mark.parametrize("kind", ORIGINS)
async def test_a_followed_source_equals_a_fresh_ingest_after_random_edits(kind: SourceKind) -> None:
    result = await measure(kind, steps=12)

    assert result.is_met, result
    assert result.renames > 0
    assert result.outages > 0
    assert result.breaks > 0


@pytest.mark.parametrize("kind", ORIGINS)
async def test_a_file_that_moved_before_its_source_went_away_gets_its_new_title_later(
    kind: SourceKind, tmp_path: Path
) -> None:
    async with ORIGINS[kind](tmp_path) as origin:
        workspace = await FollowingWorkspace().create()
        for name in ("pump", "tank"):
            await origin.write(f"b/{name}.txt", f"The {name} stands in hall 4.".encode())
        await workspace.follow(origin)
        await origin.rename("b/pump.txt", "b/rotor.txt")
        # Readers are read first, then the move is found; what is left is to hand the file over.
        broken = await workspace.follow(origin, breaks_after=2)
        await workspace.follow(origin)

        moved = f"kept/{origin.item_path('b/rotor.txt')}"
        assert broken.moved == (moved,)
        assert moved in [one.path for one in broken.unreadable]
        assert (moved, 0, "rotor", "The pump stands in hall 4.") in await workspace.seen()


async def test_a_storm_of_renames_in_a_folder_that_is_followed_ends_as_a_fresh_ingest(tmp_path: Path) -> None:
    chance = random.Random(19)
    async with ORIGINS[SourceKind.DIRECTORY](tmp_path) as origin:
        paths = [f"a/{number}.md" for number in range(24)]
        for number, path in enumerate(paths):
            await origin.write(path, f"Pump {number} lifts {number} litres.".encode())
        workspace = await FollowingWorkspace().create()
        await workspace.follow(origin)
        followed = asyncio.Event()

        async def storm() -> None:
            while not followed.is_set():
                place = chance.randrange(len(paths))
                to = f"{chance.choice(FOLDERS)}/{chance.randrange(10**6)}{chance.choice(('.md', '.txt'))}"
                await origin.rename(paths[place], to)
                paths[place] = to
                await asyncio.sleep(0)

        renaming = asyncio.create_task(storm())
        for _ in range(8):
            try:
                await workspace.follow(origin)
            except PolicyRefused as refused:
                # Many files stood at no path when they were listed.
                if refused.code != "SOURCE_SHRANK":
                    raise
        followed.set()
        await renaming
        await workspace.follow(origin)
        fresh = await FollowingWorkspace().create()
        await fresh.follow(origin)

        assert Counter(await workspace.seen()) == Counter(await fresh.seen())
        assert len(await fresh.seen()) == len(paths)
