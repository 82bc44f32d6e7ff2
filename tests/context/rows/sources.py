"""A workspace that follows a source holds what a fresh ingest of it holds, whatever was edited meanwhile."""

from __future__ import annotations

from agentic_rag.ingestion.sources.source import SourceKind
from tests.bench.reports import Row, exactly
from tests.context.ground import Ground
from tests.contract.ingestion.source_conformance import measure

EDITS = 200


async def sources(ground: Ground, short: bool) -> list[Row]:
    """Random edits, renames, deletes and outages of each kind of source; in memory."""
    rows: list[Row] = []
    for kind in [SourceKind.DIRECTORY] if short else list(SourceKind):
        steps = 12 if short else EDITS
        found = await measure(kind, steps)
        told = f"{kind.value}, {steps} edits, {found.renames} renames, {found.outages} outages, {found.breaks} breaks"
        rows += [
            exactly(f"{told}: passages that differ from a fresh ingest", found.differences, 0),
            exactly(f"{told}: passages twice", found.duplicates, 0),
            exactly(f"{told}: renamed documents that became others", found.lost_ids, 0),
            exactly(f"{told}: outages that changed what is read", found.half_syncs, 0),
        ]
    return rows


ROWS = {"sources": sources}
