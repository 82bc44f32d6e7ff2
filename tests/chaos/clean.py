"""The run that nothing disturbs: what every disturbed run has to end like."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.bench.reports import Row
from tests.chaos.children import crew
from tests.chaos.ground import Ground, Servers, new_ground
from tests.chaos.picture import Picture, differences, leftovers, take


async def clean_run(servers: Servers, folder: Path) -> tuple[Picture, Counter[str]]:
    """The stores after one worker ingested a folder in peace, and what that paid for."""
    async with new_ground(servers) as ground, crew(ground) as workers:
        await ground.sync(folder)
        workers.start()
        await ground.until_idle()
        return await take(ground), ground.paid()


async def end_state(name: str, ground: Ground, wanted: Picture) -> Row:
    """Whether the stores hold what the clean run left, and nothing is left over."""
    found = await take(ground)
    wrong = differences(found, wanted) + [line for line in leftovers(found) if line not in leftovers(wanted)]
    for line in wrong:
        print(f"    {name}: {line}")
    ready = sum(count for key, count in found["documents"].items() if key[1] == "READY")
    chunks = found["chunks"].total()
    doubles = chunks - len(found["chunks"])
    return Row(
        f"{name}: stores as after a clean run",
        f"{ready} READY, {chunks} chunks, {doubles} double, {len(wrong)} differences",
        "0 differences",
        not wrong and not doubles,
    )


def paid_twice(ground: Ground, wanted: Counter[str]) -> int:
    """Texts paid for beyond the clean run."""
    return (ground.paid() - wanted).total()
