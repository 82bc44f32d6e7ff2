"""The rows of `make operate`, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.bench.reports import Row, at_most, exactly
from tests.operate.drill import Drill

RESTORE_SECONDS = 60.0
"""For 20,000 chunks."""

TABLE: Mapping[str, Callable[[Drill], Row]] = {
    "seconds": lambda one: at_most(
        f"backup and restore of {one.chunks:,} chunks ({one.rows:,} rows), every file checked", one.seconds,
        RESTORE_SECONDS, " s",
    ),
    "answers": lambda one: exactly(f"of {one.questions} answers, bytes that changed by it", one.answers_changed, 0),
    "erased": lambda one: exactly("documents erased since that came back", one.documents_back, 0),
    "verified": lambda one: exactly("errors that rag verify --full finds after it", one.findings, 0),
    "originals": lambda one: exactly("originals that it lost or changed", one.originals_changed, 0),
}  # fmt: skip
