"""How often this process looks for cyclic garbage."""

from __future__ import annotations

import gc

COLLECT_AFTER = (50_000, 20, 50)
"""Python looks after every 700 new objects. Documents and answers in flight are tens of thousands, hardly one in a
cycle: looking through them took 9 % of the CPU time of ingestion (the throughput row of `make chaos`).
"""


def settle_collector() -> None:
    """Leave what was made so far out of every later look, and look less often. Call it once, when all is imported."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
