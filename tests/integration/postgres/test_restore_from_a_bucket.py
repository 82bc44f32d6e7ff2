"""A backup in a bucket is restored, also where the bucket stopped answering in the middle of it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.bench.corpus import generated_corpus
from tests.bench.product import Servers, as_documents, create_workspace
from tests.operate.drill import answer, product_on
from tests.s3_server import make_bucket, s3_server
from tests.stack import Stack, copy_statement, database_at, execute

from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.operations.findings import Severity
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, SubjectKind
from agentic_rag_cli.commands.operations.backup_places import open_place

pytestmark = [pytest.mark.integration, pytest.mark.network, pytest.mark.nightly]

OPERATOR = Principal(org_id=DEFAULT_ORG_ID, subject="drill", role=Role.OPERATOR, kind=SubjectKind.SYSTEM)
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
    """Two migrated databases without rows, each with a home."""
    made: list[Servers] = []
    for place in ("before", "after"):
        name = f"test_{secrets.token_hex(6)}"
        await execute(postgres_url, copy_statement(name, session_stack.template()))
        (tmp_path / place).mkdir()
        made.append(Servers(database_at(postgres_url, name), fresh_redis, str(tmp_path / place)))
    yield made[0], made[1]
    for one in made:
        await execute(postgres_url, f'DROP DATABASE "{one.database_url.rpartition("/")[2]}" WITH (FORCE)')


@dataclass
class Line:
    """The way to a store, which may be cut."""

    port: int = 0
    is_cut: bool = False
    pipes: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    def cut(self) -> None:
        """Every connection ends, and so does each that comes."""
        self.is_cut = True
        for one in self.pipes:
            one.transport.abort()


@asynccontextmanager
async def line_to(endpoint: str) -> AsyncIterator[Line]:
    line = Line()

    async def pipe(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while piece := await source.read(64 * 1024):
                target.write(piece)
                await target.drain()
        target.close()

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if line.is_cut:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", urlsplit(endpoint).port)
        line.pipes |= {writer, back}
        await asyncio.gather(pipe(reader, back), pipe(there, writer))

    listener = await asyncio.start_server(forward, "127.0.0.1", 0)
    line.port = listener.sockets[0].getsockname()[1]
    try:
        yield line
    finally:
        line.cut()
        listener.close()


@pytest.mark.timeout(180)
async def test_a_restore_from_a_bucket_that_broke_off_leaves_nothing_and_the_next_one_brings_all(
    endpoint: str, places: tuple[Servers, Servers]
) -> None:
    before, after = places
    corpus = generated_corpus(60)
    address = "s3://access:secret@backups/site/monday?endpoint={}"
    store = open_place(address.format(endpoint)).store
    async with product_on(before) as system:
        await system.first_access.ensure_organisation()
        workspace = await create_workspace(system, "drill")
        await system.ingest_chunks.run(workspace, as_documents(corpus.chunks), "drill")
        for name, content in ORIGINALS.items():
            await system.upload.run(workspace, name, _pieces(content), UploadOptions(), OPERATOR)
        await system.create_backup.run(store, lambda *_: None)
        asked = [item.question for item in corpus.questions[:6]]
        expected = [await answer(system, workspace, question) for question in asked]

    async with product_on(after) as system, line_to(endpoint) as line:

        def cut_at_an_original(_: int, __: int, what: str) -> None:
            if what.startswith("documents/"):
                line.cut()

        far = open_place(address.format(f"http://127.0.0.1:{line.port}")).store
        with pytest.raises(DependencyUnavailable) as broken:
            await system.restore_backup.run(far, cut_at_an_original)
        async with system.backup_database.dump() as dump:
            left = sum(one.rows for one in dump.tables)

        manifest = await system.restore_backup.run(store, lambda *_: None)
        given = [await answer(system, workspace, question) for question in asked]
        report = await system.verify.run(workspace, full=True)
        originals = [await system.blobs.read(key) for key in sorted(await system.blobs.keys(""))]

    assert broken.value.dependency == "blobs"
    assert (line.is_cut, left) == (True, 0)
    assert (manifest.original_count, manifest.missing_originals) == (len(ORIGINALS), 0)
    assert given == expected
    assert sorted(originals) == sorted(ORIGINALS.values())
    assert [one for one in report.findings if one.severity is Severity.ERROR] == []


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
