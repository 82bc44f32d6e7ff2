"""What every `BlobStore` promises."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.s3_server import make_bucket, open_uploads, s3_server

from agentic_rag.adapters.blobs.directory import DirectoryBlobStore
from agentic_rag.adapters.blobs.s3 import S3BlobStore, S3Options
from agentic_rag.documents.ports import BlobStore, StoredBlob
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, LeaseLost, NotFound

PIECE = 64 * 1024


pytestmark = pytest.mark.network


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """An S3 server."""
    with s3_server() as url:
        yield url


def s3_store(endpoint: str, bucket: str, **changes: object) -> S3BlobStore:
    return S3BlobStore(S3Options(bucket, "access", "secret", endpoint, **changes))  # type: ignore[arg-type]


@pytest.fixture(params=["memory", "directory", "s3", "s3 folder"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty store."""
    if request.param == "memory":
        return MemoryBlobStore()
    if request.param == "directory":
        return DirectoryBlobStore(tmp_path / "blobs")
    endpoint: str = request.getfixturevalue("endpoint")
    bucket = f"bucket-{uuid4()}"
    make_bucket(endpoint, bucket)
    return s3_store(endpoint, bucket, folder="backups/monday" if request.param == "s3 folder" else "")


class BrokenOff(Exception):
    """The source of a stream ended badly."""


async def pieces(*content: bytes, fail: bool = False) -> AsyncIterator[bytes]:
    for piece in content:
        yield piece
    if fail:
        raise BrokenOff


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


@pytest.mark.parametrize(
    "part", [range(1), range(PIECE - 1, PIECE + 1), range(3, 2 * PIECE + 3), range(2 * PIECE, 2 * PIECE + 4)], ids=str
)
async def test_a_part_of_a_blob_is_streamed_in_pieces(blobs: BlobStore, part: range) -> None:
    content = bytes(range(256)) * (2 * PIECE // 256) + b"rest"
    await blobs.put("large", content)

    pieces = [piece async for piece in blobs.stream("large", part)]

    assert b"".join(pieces) == content[part.start : part.stop]
    assert max(map(len, pieces)) <= PIECE


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


@pytest.mark.parametrize("count", [0, 1, 200])
async def test_a_stream_is_stored_whole_and_measured(blobs: BlobStore, count: int) -> None:
    content = [bytes([n % 256]) * PIECE for n in range(count)]

    stored = await blobs.put_stream("a/b", pieces(*content))

    whole = b"".join(content)
    assert stored == StoredBlob(len(whole), hashlib.sha256(whole).digest())
    assert await blobs.read("a/b") == whole


@pytest.mark.parametrize("count", [0, 1, 200])
async def test_a_stream_that_breaks_off_leaves_nothing(blobs: BlobStore, count: int) -> None:
    with pytest.raises(BrokenOff):
        await blobs.put_stream("a/b", pieces(*[b"x" * PIECE] * count, fail=True))

    assert await blobs.keys("") == []


async def test_a_stream_whose_writer_is_cancelled_leaves_nothing(blobs: BlobStore) -> None:
    begun = asyncio.Event()

    async def endless() -> AsyncIterator[bytes]:
        yield b"x" * PIECE
        begun.set()
        await asyncio.Event().wait()

    writing = asyncio.create_task(blobs.put_stream("a/b", endless()))
    await begun.wait()
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing

    assert await blobs.keys("") == []


async def test_a_writer_with_a_lower_fence_is_refused(blobs: BlobStore) -> None:
    await blobs.put("a/b", b"first", fence=3)
    await blobs.put("a/b", b"again", fence=3)
    await blobs.put("a/b", b"newer", fence=4)

    with pytest.raises(LeaseLost):
        await blobs.put("a/b", b"stale", fence=3)

    assert await blobs.read("a/b") == b"newer"
    assert await blobs.keys("") == ["a/b"]


async def test_of_writers_at_once_the_highest_fence_stays(blobs: BlobStore) -> None:
    async def write(fence: int) -> None:
        try:
            await blobs.put("a/b", b"%d" % fence, fence=fence)
        except LeaseLost:
            return

    await asyncio.gather(*(write(fence) for fence in (2, 5, 1, 4, 3)))

    assert await blobs.read("a/b") == b"5"


async def test_a_fence_goes_with_its_blob(blobs: BlobStore) -> None:
    await blobs.put("a/b", b"x", fence=9)
    await blobs.delete("a/b")

    await blobs.put("a/b", b"y", fence=1)

    assert await blobs.read("a/b") == b"y"


async def test_an_upload_that_breaks_off_leaves_no_parts_in_the_bucket(endpoint: str) -> None:
    make_bucket(endpoint, "parts")
    blobs = s3_store(endpoint, "parts")

    with pytest.raises(BrokenOff):
        await blobs.put_stream("a/b", pieces(*[b"x" * PIECE] * 200, fail=True))

    assert open_uploads(endpoint, "parts") == 0


async def test_a_store_that_does_not_answer_is_an_outage_without_secrets() -> None:
    blobs = s3_store("http://127.0.0.1:1", "bucket", timeout_seconds=2.0)

    with pytest.raises(DependencyUnavailable) as refused:
        await blobs.read("a/b")

    assert refused.value.dependency == "blobs"
    assert "secret" not in refused.value.message


async def test_a_bucket_that_is_not_there_is_no_missing_blob(endpoint: str) -> None:
    with pytest.raises(DependencyUnavailable):
        await s3_store(endpoint, "no-such-bucket").keys("readiness")
