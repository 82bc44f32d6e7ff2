"""What every `BlobStore` promises."""

from pathlib import Path

import pytest

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.adapters.memory.blobs import MemoryBlobStore
from agentic_rag.domain.errors import InvalidInput, NotFound
from agentic_rag.ports.blob_store import BlobStore

PIECE = 64 * 1024


@pytest.fixture(params=["memory", "directory"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty store."""
    return MemoryBlobStore() if request.param == "memory" else DirectoryBlobStore(tmp_path / "blobs")


async def test_what_was_put_is_read_back(blobs: BlobStore) -> None:
    await blobs.put("org/workspace/document", b"\x00\xff")

    assert await blobs.read("org/workspace/document") == b"\x00\xff"


async def test_an_empty_blob_is_a_blob(blobs: BlobStore) -> None:
    await blobs.put("empty", b"")

    assert await blobs.read("empty") == b""
    assert [piece async for piece in blobs.stream("empty")] == []
    assert await blobs.keys("") == ["empty"]


async def test_putting_again_replaces(blobs: BlobStore) -> None:
    await blobs.put("a/b", b"a longer old content")

    await blobs.put("a/b", b"new")

    assert await blobs.read("a/b") == b"new"
    assert await blobs.keys("a") == ["a/b"]


async def test_a_large_blob_is_streamed_in_pieces(blobs: BlobStore) -> None:
    content = bytes(range(256)) * (2 * PIECE // 256) + b"rest"
    await blobs.put("large", content)

    pieces = [piece async for piece in blobs.stream("large")]

    assert [len(piece) for piece in pieces] == [PIECE, PIECE, 4]
    assert b"".join(pieces) == content


async def test_a_missing_blob_is_not_found(blobs: BlobStore) -> None:
    with pytest.raises(NotFound):
        await blobs.read("missing")
    with pytest.raises(NotFound):
        [piece async for piece in blobs.stream("missing")]
    assert await blobs.keys("missing") == []


async def test_a_folder_of_blobs_is_no_blob(blobs: BlobStore) -> None:
    await blobs.put("a/b", b"x")

    with pytest.raises(NotFound):
        await blobs.read("a")


async def test_deleting_says_whether_there_was_something(blobs: BlobStore) -> None:
    await blobs.put("a/b", b"x")

    assert await blobs.delete("a/b")
    assert not await blobs.delete("a/b")
    assert await blobs.keys("") == []


async def test_keys_are_those_below_a_prefix_sorted_and_not_those_that_merely_begin_like_it(blobs: BlobStore) -> None:
    for key in ("org/two", "org/one/b", "org/one/a", "organisation/x"):
        await blobs.put(key, b"x")

    assert await blobs.keys("org") == ["org/one/a", "org/one/b", "org/two"]
    assert await blobs.keys("org/one") == ["org/one/a", "org/one/b"]
    assert await blobs.keys("org/two") == ["org/two"]


@pytest.mark.parametrize("key", ["", "/etc/passwd", "../up", "a/../b", "a//b", ".hidden", "a/", "a b", "a\\b", "ä"])
async def test_a_key_that_could_leave_the_store_is_refused(blobs: BlobStore, key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await blobs.put(key, b"x")

    assert refused.value.code == "BLOB_KEY_INVALID"
