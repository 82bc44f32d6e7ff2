"""Near misses and their right twins: fifty questions over each of four folders of nearly equal things. Half of them ask
for what no document states though something very near is stated; the other half look just alike and are answered.

The other natural sets have few near misses and hide the worst defect: the value of something else, called GROUNDED.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.bench.reports import Row
from tests.quality.natural import Judgement, Verdict
from tests.quality.rows import at_least, at_most, share

MISS_SHARE = 8
"""Percent of the near misses of a half that may be called GROUNDED."""
TWINS_RIGHT = 60
TWINS_ABSTAINED = 6


def near_miss_rows(half: str, judged: Sequence[Judgement]) -> list[Row]:
    """The rows of a half: what becomes of near misses, and what keeping away from them costs their twins."""
    misses = [one for one in judged if one.question.outcome == "NOT_STATED"]
    twins = [one for one in judged if one.question.outcome != "NOT_STATED"]
    name = half.removeprefix("near-")
    of, of_twins = f"near misses, {name}", f"twins of near misses, {name}"
    right = [one.verdict is Verdict.RIGHT for one in twins]
    is_grounded = [one.outcome == "GROUNDED" for one in twins]
    return [
        at_most(f"{of}: answered GROUNDED", _became(misses, "GROUNDED"), MISS_SHARE),
        share(f"{of}: answered UNCERTAIN", _became(misses, "UNCERTAIN")),
        share(f"{of}: abstained", _became(misses, "ABSTAINED")),
        at_least(f"{of_twins}: right and complete", list(map(float, right)), TWINS_RIGHT),
        share(f"{of_twins}: right and GROUNDED", [float(all(both)) for both in zip(right, is_grounded, strict=True)]),
        share(f"{of_twins}: wrong but GROUNDED", [float(one.is_wrong_but_grounded) for one in twins]),
        at_most(f"{of_twins}: false abstention", _became(twins, "ABSTAINED"), TWINS_ABSTAINED),
    ]


def _became(judged: Sequence[Judgement], outcome: str) -> list[float]:
    return [float(one.outcome == outcome) for one in judged]
