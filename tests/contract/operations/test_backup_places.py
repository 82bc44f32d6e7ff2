"""Backups in folders of a bucket, as the commands name them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.s3_server import make_bucket, s3_server
from tests.unit.operations.test_backups import System, silent

from agentic_rag.kernel.errors import InvalidInput, Permanent
from agentic_rag.operations.backups.backup import BACKUP_MANIFEST, ERASURES_LIST, encode_line
from agentic_rag.operations.backups.verify_backup import verify_backup
from agentic_rag.web.proxies import Proxies
from agentic_rag_cli.commands.operations.backup_places import ERASURES_BESIDE, BucketPlace, open_place
from agentic_rag_migrations import HEAD as NEWEST

pytestmark = pytest.mark.network

SECRET = "wJalr/secret"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The address of a folder without objects; `{}` is its name."""
    with s3_server() as endpoint:
        make_bucket(endpoint, "backups")
        yield f"s3://access:{SECRET.replace('/', '%2F')}@backups/site/{{}}?endpoint={endpoint}"


async def test_a_backup_in_a_bucket_is_written_verified_and_its_damage_found(bucket: str, tmp_path: Path) -> None:
    (tmp_path / "place").write_text(f"{bucket.format('monday')}\n")
    place = open_place(f"@{tmp_path / 'place'}", Proxies())
    system = System(tmp_path)
    system.target = place.store
    await system.add_original()
    await system.back_up()

    assert (await verify_backup(place.store, NEWEST, silent)).problems == ()
    for name in ("tables/rag_chunks.copy.gz", "originals/documents/o/w/one", "originals.jsonl.gz", "erasures.jsonl"):
        whole = await place.store.read(name)
        changed = bytearray(whole)
        changed[len(changed) // 2] ^= 1
        for content in (bytes(changed), whole[:-1]):
            await place.store.put(name, content)
            assert len((await verify_backup(place.store, NEWEST, silent)).problems) == 1, name
        await place.store.delete(name)
        (problem,) = (await verify_backup(place.store, NEWEST, silent)).problems
        assert f"{name} is missing" in problem
        await place.store.put(name, whole)


async def test_erasures_of_the_backups_beside_it_and_of_the_list_there_are_applied(bucket: str, tmp_path: Path) -> None:
    systems = [System(tmp_path / name) for name in ("tuesday", "wednesday")]
    for system, name in zip(systems, ("tuesday", "wednesday"), strict=True):
        system.target = open_place(bucket.format(name), Proxies()).store
        await system.back_up()
    listed = System(tmp_path / "later").record
    above = BucketPlace(bucket.format("").replace("/?", "?"), Proxies())
    await above.store.put(ERASURES_BESIDE, encode_line(listed))

    found = await open_place(bucket.format("tuesday"), Proxies()).records_beside()

    assert {*found} >= {listed, *(one.record for one in systems)}


async def test_a_backup_beside_it_that_cannot_be_read_is_named(bucket: str, tmp_path: Path) -> None:
    newer = b'{"format": 99, "product": "9.9"}'
    for name in ("asked", "newer"):
        (tmp_path / name).mkdir()
    (tmp_path / "newer" / BACKUP_MANIFEST).write_bytes(newer)
    (tmp_path / "newer" / ERASURES_LIST).write_bytes(b"")
    far = bucket.replace("/site/", "/upgraded/")
    await open_place(far.format("newer"), Proxies()).store.put(BACKUP_MANIFEST, newer)

    for place in (str(tmp_path / "asked"), far.format("asked")):
        with pytest.raises(Permanent, match=r"newer: The backup has format 99") as refused:
            await open_place(place, Proxies()).records_beside()
        assert refused.value.code == "BACKUP_TOO_NEW"


@pytest.mark.parametrize(
    "text", ["s3://bucket/folder", "s3://access:hunter2@bucket", "s3://access:hunter2@bucket/../x"]
)
def test_an_address_that_is_none_is_told_without_its_secret(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        open_place(text, Proxies())

    assert "BUCKET/FOLDER" in refused.value.message or "expected" in refused.value.message
    assert "hunter2" not in refused.value.message


def test_a_place_is_shown_without_its_secret(bucket: str) -> None:
    shown = str(open_place(bucket.format("monday"), Proxies()))

    assert "backups/site/monday" in shown
    assert SECRET not in shown
    assert "secret" not in shown
