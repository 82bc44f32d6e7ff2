"""Every connector keeps a workspace equal to its source; `make context` runs the same with 200 edits."""

import pytest
from tests.contract.ingestion.source_conformance import measure
from tests.contract.ingestion.source_world import ORIGINS

from agentic_rag.ingestion.sources.source import SourceKind

pytestmark = pytest.mark.network


@pytest.mark.parametrize("kind", ORIGINS)
async def test_a_followed_source_equals_a_fresh_ingest_after_random_edits(kind: SourceKind) -> None:
    result = await measure(kind, steps=12)

    assert result.is_met, result
    assert result.renames > 0
    assert result.outages > 0
