"""Rows on the GraphQL endpoint as hostile clients meet it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from graphql import GraphQLError

from agentic_rag_server.graphql.limits import LIMIT_CODE, Limits, parse_within
from tests.bench.reports import Row
from tests.security.ground import Ground
from tests.security.table import Measure

LEVELS = range(10, 61, 5)
REFUSED_MS = 50.0
ROUNDS = 5


def chained(levels: int) -> str:
    """A document whose every fragment spreads the next one twice: 2^levels fields when written out."""
    fragments = "".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }} " for n in range(levels))
    return f"{{ ...F0 }} {fragments}fragment F{levels} on Query {{ __typename }}"


def refusal_ms(document: str, limits: Limits) -> tuple[float, str]:
    """The quickest of a few refusals, in ms, and their code."""
    best, code = float("inf"), ""
    for _ in range(ROUNDS):
        began = time.perf_counter()
        try:
            parse_within(document, limits)
            code = "passed"
        except GraphQLError as refused:
            code = str((refused.extensions or {}).get("code"))
        best = min(best, (time.perf_counter() - began) * 1000)
    return best, code


async def chained_fragments(ground: Ground, short: bool) -> list[Row]:
    """As served, and with the cap on fragments lifted so that the measuring itself is what takes the time."""
    lifted = Limits(tokens=100_000, fragments=1_000)
    served = [refusal_ms(chained(levels), Limits()) for levels in LEVELS]
    walked = [refusal_ms(chained(levels), lifted) for levels in LEVELS]
    refused = sum(code == LIMIT_CODE for _, code in served)
    slowest = max(ms for ms, _ in (*served, *walked))
    growth = walked[-1][0] / walked[0][0]
    return [
        Row("chained fragments of 10 to 60 levels refused", f"{refused}/{len(served)}", "all", refused == len(served)),
        Row("slowest of these refusals", f"{slowest:.1f} ms", f"≤ {REFUSED_MS:g} ms", slowest <= REFUSED_MS),
        Row("time of 60 levels over that of 10", f"{growth:.1f}×", "≤ 12× (linear: 6×)", growth <= 12, timed=True),
    ]


ROWS: Mapping[str, Measure] = {"chained-fragments": chained_fragments}
