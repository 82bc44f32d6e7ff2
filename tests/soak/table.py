"""The rows of `make soak`, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.bench.reports import Row, at_least, at_most, exactly
from tests.soak.soak import Soak

GROWTH = 1.0
"""MB a minute."""
GROUNDED_PERCENT = 25.0
"""Of the answers: fewer would judge too few. A fifth of the questions are about erased documents."""

TABLE: Mapping[str, Callable[[Soak], Row]] = {
    "foreign": lambda one: exactly(
        f"of {one.ledger.outcomes.total():,} answers ({one.ledger.outcomes['GROUNDED']:,} GROUNDED), with text of "
        "another workspace",
        one.ledger.foreign, 0,
    ),
    "stale": lambda one: exactly("answers with text that was erased before the question", one.ledger.stale, 0),
    "wrong": lambda one: exactly(
        "GROUNDED answers that state another unit's number, or none", one.ledger.wrong, 0
    ),
    "judged": lambda one: at_least(
        "answers that are GROUNDED, so that they are judged",
        100.0 * one.ledger.outcomes["GROUNDED"] / max(1, one.ledger.outcomes.total()), GROUNDED_PERCENT, " %",
        timed=False,
    ),
    "broken": lambda one: exactly(
        f"requests that failed without a reason ({one.ledger.refused.total():,} were refused with one)",
        one.ledger.broken.total(), 0,
    ),
    "lost": lambda one: exactly(
        f"of {len(one.ledger.kept):,} documents and the files of two folders, not READY with their content",
        one.lost, 0,
    ),
    "back": lambda one: exactly(f"of {len(one.ledger.erased):,} deleted documents, there", one.back, 0),
    "jobs": lambda one: exactly("jobs that did not end well", one.dead, 0),
    "verified": lambda one: exactly("errors that rag verify --full finds", one.findings, 0),
    "revoked": lambda one: exactly(
        f"of {one.ledger.rotations:,} revoked keys, served after 30 s", one.ledger.revoked, 0
    ),
    "memory": lambda one: at_most(
        f"growth of the server's memory over {one.minutes:g} minutes with {one.faults.total()} faults", one.slope,
        GROWTH, " MB/min",
    ),
    "connections": lambda one: exactly("connections to the database beyond those before", one.connections, 0),
}  # fmt: skip
