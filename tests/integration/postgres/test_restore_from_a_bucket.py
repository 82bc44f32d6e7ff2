"""A backup in a bucket is restored, also where the bucket stopped answering in the middle of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.bench.corpus import generated_corpus
from tests.bench.product import Servers, as_documents, create_workspace
from tests.line import Line
from tests.operate.drill import OPERATOR, answer, empty_places, product_on
from tests.s3_server import make_bucket, s3_server
from tests.stack import Stack

from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.operations.findings import Severity
from agentic_rag.web.proxies import Proxies
from agentic_rag_cli.commands.operations.backup_places import open_place

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.nightly]

ORIGINALS = {
    f"file-{number}.md": f"# File {number}\n\n{'Nothing else is here. ' * 5000}\n".encode() for number in (1, 2)
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """A store with an empty bucket `backups`."""
    with s3_server() as url:
        make_bucket(url, "backups")
        yield url


@pytest.fixture
async def places(
    postgres_url: str, session_stack: Stack, fresh_redis: str, tmp_path: Path
) -> AsyncIterator[tuple[Servers, Servers]]:
    """As of `empty_places`."""
    async with empty_places(postgres_url, session_stack, fresh_redis, tmp_path) as made:
        yield made


@pytest.mark.timeout(180)
async def test_a_restore_from_a_bucket_that_broke_off_leaves_nothing_and_the_next_one_brings_all(
    endpoint: str, places: tuple[Servers, Servers]
) -> None:
    before, after = places
    corpus = generated_corpus(60)
    address = "s3://access:secret@backups/site/monday?endpoint={}"
    store = open_place(address.format(endpoint), Proxies()).store
    async with product_on(before) as system:
        await system.first_access.ensure_organisation()
        workspace = await create_workspace(system, "drill")
        await system.ingest_chunks.run(workspace, as_documents(corpus.chunks), "drill")
        for name, content in ORIGINALS.items():
            await system.upload.run(workspace, name, _pieces(content), UploadOptions(), OPERATOR)
        await system.create_backup.run(store, lambda *_: None)
        asked = [item.question for item in corpus.questions[:6]]
        expected = [await answer(system, workspace, question) for question in asked]

    line, cuts = Line(endpoint), list[asyncio.Task[None]]()
    await line.mend()

    def cut_at_an_original(_: int, __: int, what: str) -> None:
        if what.startswith("documents/"):
            cuts.append(asyncio.create_task(line.cut()))

    async with product_on(after) as system:
        far = open_place(address.format(line.url), Proxies()).store
        with pytest.raises(DependencyUnavailable) as broken:
            await system.restore_backup.run(far, cut_at_an_original)
        await asyncio.gather(*cuts)
        async with system.backup_database.dump() as dump:
            left = sum(one.rows for one in dump.tables)

        manifest = await system.restore_backup.run(store, lambda *_: None)
        given = [await answer(system, workspace, question) for question in asked]
        report = await system.verify.run(workspace, full=True)
        originals = [await system.blobs.read(key) for key in sorted(await system.blobs.keys(""))]

    assert broken.value.dependency == "blobs"
    assert (bool(cuts), left) == (True, 0)
    assert (manifest.original_count, manifest.missing_originals) == (len(ORIGINALS), 0)
    assert given == expected
    assert sorted(originals) == sorted(ORIGINALS.values())
    assert [one for one in report.findings if one.severity is Severity.ERROR] == []


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
