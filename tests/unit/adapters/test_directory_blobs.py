"""Blobs in a directory: whole or absent, and nowhere but below the root."""

import asyncio
import errno
import os
import resource
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from agentic_rag.adapters.blobs import directory
from agentic_rag.adapters.blobs.directory import PIECE, DirectoryBlobStore
from agentic_rag.adapters.blobs.marker import MARKER
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound

REAL_SCANDIR = os.scandir


async def test_what_was_put_is_read_back_and_replaced(tmp_path: Path) -> None:
    blobs = DirectoryBlobStore(tmp_path)
    await blobs.put("a/b", b"one")
    await blobs.put("a/b", b"two")

    assert await blobs.read("a/b") == b"two"
    assert await blobs.keys("") == ["a/b"]


async def test_a_large_blob_streams_in_bounded_pieces(tmp_path: Path) -> None:
    blobs, content = DirectoryBlobStore(tmp_path), bytes(range(256)) * 1024
    await blobs.put("big", content)

    pieces = [piece async for piece in blobs.stream("big")]

    assert b"".join(pieces) == content
    assert max(map(len, pieces)) <= PIECE
    assert len(pieces) > 1


@pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", "..", "a/../b", ".hidden", "a\\b", "a/\x00", "é", "a b"])
async def test_a_key_cannot_lead_elsewhere(tmp_path: Path, key: str) -> None:
    with pytest.raises(InvalidInput):
        await DirectoryBlobStore(tmp_path).put(key, b"")


async def test_missing_blobs_are_said_to_be_missing(tmp_path: Path) -> None:
    blobs = DirectoryBlobStore(tmp_path / "not yet")

    with pytest.raises(NotFound):
        await blobs.read("a")
    with pytest.raises(NotFound):
        [piece async for piece in blobs.stream("a")]
    assert not await blobs.delete("a")
    assert await blobs.keys("a") == []


@pytest.mark.parametrize("key", ["a/b", "documents/org/owner/name"])
async def test_a_deletion_is_no_success_where_the_directory_is_not_there(tmp_path: Path, key: str) -> None:
    """A volume that is not mounted leaves nothing, a file, or an empty folder in its place."""
    root, away = tmp_path / "blobs", tmp_path / "away"
    blobs = DirectoryBlobStore(root)
    await blobs.put(key, b"x")
    root.rename(away)

    with pytest.raises(DependencyUnavailable, match="mount"):
        await blobs.delete(key)
    root.write_bytes(b"")
    with pytest.raises(DependencyUnavailable, match="mount"):
        await blobs.delete(key)
    root.unlink()
    root.mkdir()
    if key.count("/") > 1:
        with pytest.raises(DependencyUnavailable, match="mount"):
            await blobs.delete(key)
    root.rmdir()
    away.rename(root)

    assert await blobs.delete(key)
    assert not await blobs.delete(key)


async def test_only_keys_below_the_prefix_are_listed_sorted(tmp_path: Path) -> None:
    blobs = DirectoryBlobStore(tmp_path)
    for key in ("a/2", "a/1", "ab/1", "b"):
        await blobs.put(key, b"")

    assert await blobs.keys("a") == ["a/1", "a/2"]


async def test_deleting_leaves_no_empty_folder_and_no_half_written_file(tmp_path: Path) -> None:
    blobs = DirectoryBlobStore(tmp_path)
    await blobs.put("a/b", b"x")

    assert await blobs.delete("a/b")
    assert list(tmp_path.iterdir()) == []


async def test_puts_and_deletes_at_once_never_fail_for_each_other(tmp_path: Path) -> None:
    blobs = DirectoryBlobStore(tmp_path)

    async def churn(name: str) -> None:
        for _ in range(40):
            await blobs.put(f"a/{name}", b"x")
            await blobs.delete(f"a/{name}")

    await asyncio.gather(churn("one"), churn("two"))

    assert await blobs.keys("") == []


async def test_a_full_disk_is_an_error_that_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b"x" * 3_000

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, hard))
    try:
        with pytest.raises(DependencyUnavailable) as refused:
            await DirectoryBlobStore(tmp_path).put_stream("a/b", pieces())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert refused.value.code == "STORAGE_FULL"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def _refused(folder: str, number: int) -> Callable[..., object]:
    """`os.scandir` or `Path.stat` of a mount that refuses one folder."""

    def refuse(place: object, **_: object) -> object:
        if Path(str(place)).name == folder:
            raise OSError(number, os.strerror(number))
        return REAL_SCANDIR(str(place))

    return refuse


@pytest.mark.parametrize("number", [errno.EACCES, errno.ESTALE, errno.EIO])
async def test_a_folder_that_cannot_be_read_is_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    blobs = DirectoryBlobStore(tmp_path)
    await blobs.put("documents/org/owner/name", b"x")
    monkeypatch.setattr(os, "scandir", _refused("owner", number))

    with pytest.raises(DependencyUnavailable, match="permissions"):
        await blobs.keys("documents/org")
    assert await blobs.keys("snapshots/org") == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.ESTALE, errno.EIO])
async def test_a_dead_mount_does_not_tell_whether_a_folder_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    blobs = DirectoryBlobStore(tmp_path)
    await blobs.put("documents/org/owner/name", b"x")
    await blobs.delete("documents/org/owner/name")
    assert await blobs.has_folder("documents/org")
    monkeypatch.setattr(Path, "stat", _refused("org", number))

    with pytest.raises(DependencyUnavailable, match="permissions"):
        await blobs.has_folder("documents/org")
    with pytest.raises(DependencyUnavailable, match="permissions"):
        await blobs.delete("documents/org/owner/name")


async def used() -> bool:
    return True


async def unused() -> bool:
    return False


async def write(blobs: DirectoryBlobStore) -> None:
    await blobs.put("documents/org/owner/name", b"x")


async def write_stream(blobs: DirectoryBlobStore) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"x"

    await blobs.put_stream("documents/org/owner/name", pieces())


async def list_keys(blobs: DirectoryBlobStore) -> None:
    await blobs.keys("snapshots/org")


async def read(blobs: DirectoryBlobStore) -> None:
    await blobs.read("documents/org/owner/name")


async def stream(blobs: DirectoryBlobStore) -> None:
    [piece async for piece in blobs.stream("documents/org/owner/name")]


@pytest.mark.parametrize("do", [write, write_stream, list_keys, read, stream])
@pytest.mark.parametrize("place", ["missing", "empty", "another's"])
async def test_the_place_of_a_volume_that_is_not_mounted_is_not_used(
    tmp_path: Path, place: str, do: Callable[[DirectoryBlobStore], Awaitable[None]]
) -> None:
    root = tmp_path / "blobs"
    if place != "missing":
        (root / "lost+found" if place == "another's" else root).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))

    with pytest.raises(DependencyUnavailable, match="mount its volume") as refused:
        await do(DirectoryBlobStore(root, used))

    assert refused.value.code == "BLOBS_NOT_THERE"
    assert sorted(tmp_path.rglob("*")) == before


async def test_the_first_use_marks_the_directory_which_is_known_from_then_on(tmp_path: Path) -> None:
    await write(DirectoryBlobStore(tmp_path / "blobs", unused))

    again = DirectoryBlobStore(tmp_path / "blobs", used)
    await write_stream(again)
    assert await again.keys("") == ["documents/org/owner/name"]


@pytest.mark.parametrize(
    "key",
    ["documents/org/owner/name", "snapshots/org/workspace/id/rows", "5b1f6c1e-0c51-4c0a-9d7e-0d8d1a2b3c4d/w/d/hash"],
)
async def test_a_directory_of_before_there_were_marks_is_adopted(tmp_path: Path, key: str) -> None:
    await DirectoryBlobStore(tmp_path).put(key, b"of before")
    blobs = DirectoryBlobStore(tmp_path, used)

    await write(blobs)
    for folder in tmp_path.iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)

    assert await blobs.keys("") == []
    await write(blobs)


async def test_who_makes_the_mark_by_hand_has_an_empty_place_taken(tmp_path: Path) -> None:
    with pytest.raises(DependencyUnavailable) as refused:
        await write(DirectoryBlobStore(tmp_path, used))
    assert MARKER in refused.value.message
    (tmp_path / MARKER).touch()

    await write(DirectoryBlobStore(tmp_path, used))


@pytest.mark.parametrize("key", ["name", "folder/name"])
async def test_a_place_without_a_mark_certifies_no_deletion(tmp_path: Path, key: str) -> None:
    with pytest.raises(DependencyUnavailable, match="mount its volume") as refused:
        await DirectoryBlobStore(tmp_path, used).delete(key)

    assert refused.value.code == "BLOBS_NOT_THERE"
    (tmp_path / MARKER).touch()
    assert not await DirectoryBlobStore(tmp_path, used).delete(key)


async def test_what_lies_on_a_mount_for_reading_of_before_there_were_marks_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    await write(DirectoryBlobStore(tmp_path))
    monkeypatch.setattr(directory, "mark", refuse)
    blobs = DirectoryBlobStore(tmp_path, used)

    assert await blobs.keys("") == ["documents/org/owner/name"]
    await read(blobs)
    await stream(blobs)
    with pytest.raises(NotFound):
        await blobs.read("documents/org/owner/other")
    with pytest.raises(DependencyUnavailable, match="permissions"):
        await write(blobs)
