"""The row on the matrix of rights."""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.reports import Row, exactly
from tests.security.ground import Ground
from tests.security.rights_matrix import declared_by, differing
from tests.security.rights_world import in_short, rights_world
from tests.security.table import Measure

LEAST_CELLS = 1500


async def rights(ground: Ground, short: bool) -> list[Row]:
    """Every cell asked once; those that differ from their rule are printed."""
    async with rights_world(ground) as world:
        declared = declared_by(world)
        cells, wrong = await differing(world, declared, list(in_short(world.callers)) if short else world.callers)
    for line in (*wrong[:40], *(f"nobody here knows how to ask it, or it is gone: {one}" for one in declared.unknown)):
        print(f"  {line}")
    return [
        exactly("cells of operations and callers that differ from their rule", len(wrong), 0),
        exactly("operations that the matrix does not know", len(declared.unknown), 0),
        Row("cells of the matrix of rights", str(cells), f"≥ {LEAST_CELLS}", cells >= LEAST_CELLS),
    ]


ROWS: Mapping[str, Measure] = {"rights-matrix": rights}
