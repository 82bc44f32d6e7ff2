"""Sources that tests edit, one for each kind of connector, and a workspace in memory that follows one.

A connector of one's own needs an `Origin` here and a line in `ORIGINS`: `source_conformance.py` does the rest.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import formatdate
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID, uuid4
from xml.sax.saxutils import escape

from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.compute import InlineCompute
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry
from tests.web_world import Web, answer, opened_web

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.sources.connectors import open_directory
from agentic_rag.adapters.sources.git import open_git
from agentic_rag.adapters.sources.s3 import open_s3
from agentic_rag.adapters.sources.sitemap import open_sitemap
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.documents.document import Block, BlockKind, DocumentFilter, ParsedDocument
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.documents.unread_pages import Recognising
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.ports import Changes, SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.placed import PlacedSource
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.ingestion.sync import SyncOptions, SyncResult, SyncSource
from agentic_rag.jobs.job import JobKind, QueueName
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.secret import Secret
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind


class Origin(Protocol):
    """The far end of a source, as its users change it."""

    async def write(self, path: str, content: bytes) -> None: ...

    async def remove(self, path: str) -> None: ...

    async def rename(self, path: str, to: str) -> None: ...

    def item_path(self, path: str) -> str:
        """The path that the connector gives it."""
        ...

    async def set_away(self, *, is_away: bool) -> None:
        """Begin or end an outage."""
        ...

    def open(self) -> AbstractAsyncContextManager[SourceConnector]:
        """A new connector."""
        ...


@dataclass
class DirectoryOrigin:
    """A folder; in an outage it is not mounted."""

    root: Path

    async def write(self, path: str, content: bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(content)

    async def remove(self, path: str) -> None:
        (self.root / path).unlink()

    async def rename(self, path: str, to: str) -> None:
        (self.root / to).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / to)

    def item_path(self, path: str) -> str:
        return path

    async def set_away(self, *, is_away: bool) -> None:
        away = self.root.with_name(f"{self.root.name}-away")
        (self.root if is_away else away).rename(away if is_away else self.root)

    def open(self) -> AbstractAsyncContextManager[SourceConnector]:
        return open_directory(NewSource("s", SourceKind.DIRECTORY, str(self.root)), None)


@dataclass
class GitOrigin(DirectoryOrigin):
    """A repository with a commit for each edit."""

    address: str = ""
    """Empty: the folder itself; `file://…`: fetched as from a server."""

    async def start(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        await self.git("init", "-q", "-b", "main")

    async def git(self, *words: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
        process = await asyncio.create_subprocess_exec(
            "git", "-C", str(self.root), *who, *words, env={"PATH": "/usr/bin:/bin", "HOME": str(self.root)}
        )
        assert await process.wait() == 0, words

    async def write(self, path: str, content: bytes) -> None:
        await super().write(path, content)
        await self._commit()

    async def remove(self, path: str) -> None:
        await super().remove(path)
        await self._commit()

    async def rename(self, path: str, to: str) -> None:
        await super().rename(path, to)
        await self._commit()

    def open(self) -> AbstractAsyncContextManager[SourceConnector]:
        location = f"file://{self.root}" if self.address else str(self.root)
        return open_git(NewSource("s", SourceKind.GIT, location, is_internal=True), None)

    async def _commit(self) -> None:
        await self.git("add", "-A")
        await self.git("commit", "-q", "--allow-empty", "-m", "edit")


@dataclass
class S3Origin:
    """A store on loopback that speaks enough of the protocol: lists in pages of three, and objects."""

    secret: str = "key:secret"
    objects: dict[str, bytes] = field(default_factory=dict[str, bytes])
    refusal: str = ""
    """The S3 error code of every answer."""
    port: int = 0
    gets: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list[asyncio.StreamWriter])

    async def write(self, path: str, content: bytes) -> None:
        self.objects[f"docs/{path}"] = content

    async def remove(self, path: str) -> None:
        del self.objects[f"docs/{path}"]

    async def rename(self, path: str, to: str) -> None:
        self.objects[f"docs/{to}"] = self.objects.pop(f"docs/{path}")

    def item_path(self, path: str) -> str:
        return path

    async def set_away(self, *, is_away: bool) -> None:
        self.refusal = "InvalidRequest" if is_away else ""

    def open(self) -> AbstractAsyncContextManager[SourceConnector]:
        options = {"endpoint": f"http://127.0.0.1:{self.port}"}
        return open_s3(NewSource("s", SourceKind.S3, "bucket/docs", options=options), Secret(self.secret))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request by request."""
        self.writers.append(writer)
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                line, *fields = head.decode("latin-1").split("\r\n")
                sent = {name.lower(): value.strip() for name, _, value in (one.partition(":") for one in fields)}
                status, body, headers = self._answer(line.split(" ")[1], sent)
                lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
                writer.write("\r\n".join(lines).encode() + (b"" if line.startswith("HEAD") else body))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def _answer(self, target: str, sent: Mapping[str, str]) -> tuple[str, bytes, list[str]]:
        url = urlsplit(target)
        if self.refusal:
            return "400 Bad Request", f"<Error><Code>{self.refusal}</Code></Error>".encode(), []
        assert "Credential=key/" in sent.get("authorization", ""), "every request is signed"
        query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        if "list-type" in query:
            return "200 OK", self._page(query), ["Content-Type: application/xml"]
        key = unquote(url.path.removeprefix("/bucket/"))
        if key not in self.objects:
            return "404 Not Found", b"<Error><Code>NoSuchKey</Code></Error>", []
        self.gets += 1
        tag = _tag(self.objects[key])
        headers = [f"ETag: {tag}", f"Last-Modified: {formatdate(0, usegmt=True)}"]
        if sent.get("if-none-match") == tag:
            return "304 Not Modified", b"", headers
        return "200 OK", self.objects[key], headers

    def _page(self, query: Mapping[str, str]) -> bytes:
        after = query.get("continuation-token", "")
        keys = [key for key in sorted(self.objects) if key.startswith(query.get("prefix", "")) and key > after]
        page, more = keys[:3], len(keys) > 3
        contents = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-01T00:00:00.000Z</LastModified>"
            f"<ETag>{escape(_tag(self.objects[key]))}</ETag><Size>{len(self.objects[key])}</Size></Contents>"
            for key in page
        )
        token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if more else ""
        return (
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{contents}</ListBucketResult>"
        ).encode()


@dataclass
class SitemapOrigin:
    """A site. Pages in the folder `a` have a time of change in the sitemap; the others an entity tag."""

    web: Web
    held: dict[str, tuple[bytes, int]] = field(default_factory=dict[str, tuple[bytes, int]])
    edits: int = 0
    is_away: bool = False

    async def write(self, path: str, content: bytes) -> None:
        self.edits += 1
        self.held[path] = content, self.edits
        self._publish()

    async def remove(self, path: str) -> None:
        del self.held[path]
        self._publish()

    async def rename(self, path: str, to: str) -> None:
        self.edits += 1
        self.held[to] = self.held.pop(path)[0], self.edits
        self._publish()

    def item_path(self, path: str) -> str:
        suffix = "" if path.endswith((".md", ".txt")) else ".html"
        return f"public.test/{path}{suffix}"

    async def set_away(self, *, is_away: bool) -> None:
        self.is_away = is_away
        self._publish()

    def open(self) -> AbstractAsyncContextManager[SourceConnector]:
        def make(policy: FetchPolicy) -> object:
            return self.web.fetcher(policy)

        stated = NewSource("s", SourceKind.SITEMAP, "http://public.test/sitemap.xml")
        return open_sitemap(stated, None, make)  # type: ignore[arg-type]

    def _publish(self) -> None:
        entries = [
            f"<url><loc>http://public.test/{path}</loc>"
            + (f"<lastmod>2026-11-01T00:00:{edit:02d}Z</lastmod>" if path.startswith("a/") else "")
            + "</url>"
            for path, (_, edit) in self.held.items()
        ]
        listed = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{''.join(entries)}</urlset>".encode()
        self.web.pages = {
            "/sitemap.xml": answer(listed, media="application/xml"),
            **{f"/{path}": answer(content, f"ETag: {_tag(content)}") for path, (content, _) in self.held.items()},
        }
        if self.is_away:
            self.web.pages = {"/sitemap.xml": answer(b"", status="503 Service Unavailable")}


def _tag(content: bytes) -> str:
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


@asynccontextmanager
async def directory_origin(folder: Path) -> AsyncIterator[Origin]:
    """A folder."""
    (folder / "files").mkdir()
    yield DirectoryOrigin(folder / "files")


@asynccontextmanager
async def git_origin(folder: Path) -> AsyncIterator[Origin]:
    """A repository that git fetches."""
    origin = GitOrigin(folder / "repository", address="file")
    await origin.start()
    yield origin
    await asyncio.to_thread(shutil.rmtree, origin.root)


@asynccontextmanager
async def s3_origin(folder: Path) -> AsyncIterator[Origin]:
    """A bucket on loopback."""
    origin = S3Origin()
    server = await asyncio.start_server(origin.serve, "127.0.0.1", 0)
    origin.port = server.sockets[0].getsockname()[1]
    yield origin
    server.close()
    for writer in origin.writers:
        writer.close()
    await server.wait_closed()


@asynccontextmanager
async def sitemap_origin(folder: Path) -> AsyncIterator[Origin]:
    """A site behind a dialler that reaches loopback only."""
    async with opened_web() as made:
        yield SitemapOrigin(made)


ORIGINS: Mapping[SourceKind, Callable[[Path], AbstractAsyncContextManager[Origin]]] = {
    SourceKind.DIRECTORY: directory_origin,
    SourceKind.GIT: git_origin,
    SourceKind.S3: s3_origin,
    SourceKind.SITEMAP: sitemap_origin,
}


class PlainParser:
    """Text as it is. Markdown states its title; another suffix is another loader, which states none."""

    version = "plain-1"

    async def parse(
        self,
        content: bytes,
        file_name: str,
        media_type: str | None,
        *,
        is_web_page: bool = False,
        charset: str = "",
        recognising: Recognising | None = None,
    ) -> ParsedDocument:
        text = content.decode()
        title = text.partition("\n")[0].removeprefix("# ") if file_name.endswith(".md") and text[:2] == "# " else None
        kind = BlockKind.LIST_ITEM if file_name.endswith(".txt") else BlockKind.PARAGRAPH
        return ParsedDocument(text, (Block(kind, 0, len(text)),), (), title, "text/plain", "plain", "1")

    async def aclose(self) -> None:
        """Nothing to end."""


class Steps:
    """Nobody watches."""

    def advance(self) -> None:
        """One more step is done."""


@dataclass
class BreakingConnector:
    """A source that goes away in the middle: it was listed, and is read no further."""

    inner: SourceConnector
    reads: int
    """How many of them work."""

    @property
    def source_id(self) -> str:
        """Of the source behind it."""
        return self.inner.source_id

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes | None:
        """The listing."""
        return await self.inner.changes(known, cursor)

    async def read(self, item: SourceItem, known: str | None = None) -> SourceContent | None:
        """The content, while the source is there."""
        self.reads -= 1
        if self.reads < 0:
            raise DependencyUnavailable("It is away.", dependency="source", code="SOURCE_UNAVAILABLE")
        return await self.inner.read(item, known)


@dataclass
class FollowingWorkspace:
    """A workspace in memory, its use cases, and a worker that works when told."""

    store: MemoryStore = field(default_factory=lambda: MemoryStore(SystemClock()))
    blobs: MemoryBlobStore = field(default_factory=MemoryBlobStore)
    telemetry: RecordingTelemetry = field(default_factory=RecordingTelemetry)
    workspace: WorkspaceRef = field(default_factory=lambda: WorkspaceRef(uuid4(), uuid4()))
    grace: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        self.cache = MemoryAnswerCache(self.store.clock)
        self.database = MemoryDatabase(self.store, self.cache)
        parser, embedders = PlainParser(), only(DeterministicEmbedder())
        keys = OriginalKeys(self.store.clock, RandomIds())
        self.sync_source = SyncSource(
            self.database, self.blobs, keys, parser, self.telemetry, "small", embedders, self.grace
        )
        analysis = TextAnalysis(estimate_tokens, InlineCompute())
        publisher = GroupCommitPublisher(self.database)
        self.ingest = IngestDocument(
            self.database, self.blobs, parser, embedders, analysis, publisher, self.telemetry, "small"
        )
        self.delete = DeleteDocument(self.database, self.cache, self.blobs, self.telemetry)

    async def create(self) -> FollowingWorkspace:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            await transaction.workspaces.create(
                self.workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
            )
        return self

    async def follow(
        self, origin: Origin, options: SyncOptions | None = None, breaks_after: int | None = None
    ) -> SyncResult:
        """One synchronisation, and all work that is due after it; with `breaks_after` the source goes away once so
        many files were read. Errors: those of the source, after the work.
        """
        try:
            async with origin.open() as connector:
                reads = connector if breaks_after is None else BreakingConnector(connector, breaks_after)
                source = PlacedSource(reads, "source:tested", "kept/")
                return await self.sync_source.run(
                    self.workspace, source, "user:ada", options or SyncOptions(keeps_off=True)
                )
        finally:
            await self.work()

    async def work(self) -> None:
        """Run the jobs that are due."""
        board = MemoryJobBoard(self.store)
        while due := await board.due(QueueName.BULK, 10):
            for ref in due:
                async with self.database.transaction(ref.workspace.org_id) as transaction:
                    lease = await transaction.jobs.lease(ref, "worker", timedelta(minutes=1))
                assert lease is not None
                if lease.job.kind is JobKind.INGEST:
                    await self.ingest.run(lease, Steps())
                elif lease.job.kind is JobKind.DELETE:
                    await self.delete.run_job(lease, Steps())
                async with self.database.transaction(ref.workspace.org_id) as transaction:
                    await transaction.jobs.finish(ref, lease.fence)

    async def seen(self) -> list[tuple[str, int, str, str]]:
        """Every passage that everybody reads: path, place, title and text."""
        async with self.database.snapshot(self.workspace) as snapshot:
            ordinals = await snapshot.documents.ordinals_matching(DocumentFilter(), (0,))
            chunks = await snapshot.documents.chunks(sorted(ordinals), (0,))
        return sorted((one.source_path, one.index, one.document_title, one.text) for one in chunks)

    async def ids(self) -> dict[str, UUID]:
        """The documents that the source brought, by path."""
        async with self.database.transaction(self.workspace.org_id) as transaction:
            known = await transaction.documents.paths(self.workspace, "source:tested")
        return {path: document.document_id for path, document in known.items()}
