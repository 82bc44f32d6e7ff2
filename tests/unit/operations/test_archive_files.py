"""The parts of an archive, written and read again."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.memory_store.documents.blobs import MemoryBlobStore

from agentic_rag.kernel.errors import Permanent
from agentic_rag.operations.snapshots.archive_files import ArchiveLocation, PartWriter

ROWS = ['{"id": 1}', '{"id": 2}']


@pytest.mark.parametrize("rows", [1, 3])
async def test_a_part_of_another_number_of_rows_than_listed_is_damaged(rows: int) -> None:
    place = ArchiveLocation(MemoryBlobStore(), "folder")
    writer = PartWriter(place, allow)
    await writer.table("rag_chunks", batches())
    [part] = writer.parts
    assert await place.lines(part) == ROWS

    with pytest.raises(Permanent) as refused:
        await place.lines(replace(part, rows=rows))

    assert refused.value.code == "SNAPSHOT_DAMAGED"


async def allow() -> None:
    """Nothing refuses."""


async def batches() -> AsyncIterator[list[str]]:
    yield ROWS
