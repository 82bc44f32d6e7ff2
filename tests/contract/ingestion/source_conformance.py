"""What every connector keeps: after any edits, renames, deletes and outages the workspace holds what a fresh one would.

`measure` is the row of a kind in the table of `make context`.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.contract.ingestion.source_world import ORIGINS, FollowingWorkspace, Origin

from agentic_rag.ingestion.sources.source import SourceKind
from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable

FOLDERS = ("a", "b", "b/deep")
NAMES = ("pump", "valve", "tank", "pipe", "rotor", "seal")
FEWEST_FILES = 8


@dataclass
class Conformance:
    """What a run of random edits came to."""

    kind: SourceKind
    steps: int
    outages: int = 0
    breaks: int = 0
    """Synchronisations in whose middle the source went away."""
    renames: int = 0
    lost_ids: int = 0
    """Renames after which a document was another one."""
    half_syncs: int = 0
    """Outages that changed what readers see."""
    duplicates: int = 0
    """Passages that are there more than once."""
    differences: int = 0
    """Passages that a fresh ingest has and the workspace has not, or the other way round."""

    @property
    def is_met(self) -> bool:
        return not (self.lost_ids or self.half_syncs or self.duplicates or self.differences)


async def measure(
    kind: SourceKind, steps: int = 200, seed: int = 19, follower: type[FollowingWorkspace] = FollowingWorkspace
) -> Conformance:
    """Edit a source of the kind at random, follow it, and compare with a fresh ingest."""
    with tempfile.TemporaryDirectory() as folder:
        async with ORIGINS[kind](Path(folder)) as origin:
            workspace = await follower().create()
            return await _Run(origin, workspace, random.Random(seed), Conformance(kind, steps)).go()


class _Run:
    def __init__(
        self, origin: Origin, workspace: FollowingWorkspace, chance: random.Random, result: Conformance
    ) -> None:
        self._origin = origin
        self._workspace = workspace
        self._chance = chance
        self._result = result
        self._files: dict[str, bytes] = {}
        self._written = 0

    async def go(self) -> Conformance:
        while len(self._files) < FEWEST_FILES:
            await self._write(self._path())
        await self._workspace.follow(self._origin)
        for _ in range(self._result.steps):
            await self._step()
        await self._workspace.follow(self._origin)
        fresh = await FollowingWorkspace().create()
        await fresh.follow(self._origin)
        held, wanted = Counter(await self._workspace.seen()), Counter(await fresh.seen())
        self._result.duplicates = sum(count - 1 for count in held.values())
        self._result.differences = (held - wanted).total() + (wanted - held).total()
        assert len({path for path, *_ in wanted}) == len(self._files), "the fresh ingest holds every file"
        return self._result

    async def _step(self) -> None:
        match self._chance.choice(("write", "write", "edit", "rename", "rename", "remove", "outage")):
            case "write":
                await self._write(self._path())
            case "edit":
                await self._write(self._chance.choice(sorted(self._files)))
            case "remove" if len(self._files) > FEWEST_FILES:
                path = self._chance.choice(sorted(self._files))
                del self._files[path]
                await self._origin.remove(path)
            case "rename":
                await self._rename()
            case "outage":
                await self._outage()
            case _:
                pass
        if self._chance.random() < 0.5:
            await self._break(self._chance.randrange(5))
        if self._chance.random() < 0.5:
            await self._workspace.follow(self._origin)

    async def _rename(self) -> None:
        """Alone between two synchronisations, so that the document must stay the same one. At a path whose file went
        within the grace, that file is back, and its document with it.
        """
        await self._workspace.follow(self._origin)
        path, to = self._chance.choice(sorted(self._files)), self._path()
        ids = await self._workspace.ids()
        stands = f"kept/{self._origin.item_path(to)}" in ids
        if stands or to in self._files or list(self._files.values()).count(self._files[path]) > 1:
            return
        before = ids[f"kept/{self._origin.item_path(path)}"]
        self._files[to] = self._files.pop(path)
        await self._origin.rename(path, to)
        # The first read is that of readers; the second one finds the move, and the third one hands the file over.
        await self._break(self._chance.choice((1, 2)))
        await self._workspace.follow(self._origin)
        after = (await self._workspace.ids()).get(f"kept/{self._origin.item_path(to)}")
        self._result.renames += 1
        self._result.lost_ids += before != after

    async def _outage(self) -> None:
        before = await self._workspace.seen()
        await self._origin.set_away(is_away=True)
        try:
            await self._workspace.follow(self._origin)
        except AgenticRagError:
            self._result.outages += 1
        else:
            self._result.half_syncs += 1
        await self._origin.set_away(is_away=False)
        self._result.half_syncs += before != await self._workspace.seen()

    async def _break(self, reads: int) -> None:
        """What was not read stays as it is, and nobody else notices."""
        self._result.breaks += 1
        try:
            await self._workspace.follow(self._origin, breaks_after=reads)
        except DependencyUnavailable as error:
            if error.code != "SOURCE_UNAVAILABLE":
                raise

    async def _write(self, path: str) -> None:
        self._written += 1
        # Some files have the same bytes, some state a title, some none.
        number = self._written if self._chance.random() < 0.9 else 0
        title = f"# Report {number}\n\n" if number % 3 else ""
        content = f"{title}Unit {number} was inspected and found to lift {number * 7} litres a minute.".encode()
        self._files[path] = content
        await self._origin.write(path, content)

    def _path(self) -> str:
        suffix = self._chance.choice((".md", ".txt"))
        return f"{self._chance.choice(FOLDERS)}/{self._chance.choice(NAMES)}{suffix}"
