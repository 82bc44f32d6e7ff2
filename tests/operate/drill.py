"""A restore drill: a system with a corpus is backed up while it answers, and comes back in an empty database."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.runs.answer_codec import encode
from agentic_rag.bootstrap import Container, build_container, open_directory
from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.operations.backups.backup import TakenAway
from agentic_rag.operations.findings import Severity
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, SubjectKind, WorkspaceRef
from tests.bench.corpus import BenchCorpus
from tests.bench.product import Servers, as_documents, create_workspace, variables
from tests.stack import Stack, copy_statement, database_at, execute

OPERATOR = Principal(org_id=DEFAULT_ORG_ID, subject="drill", role=Role.OPERATOR, kind=SubjectKind.SYSTEM)
FILES = 8
"""Originals; the chunks of the corpus come without any."""


@dataclass(frozen=True, slots=True)
class Drill:
    """What came of it."""

    chunks: int
    questions: int
    seconds: float
    """Of the backup and the restore, the check of every file included."""
    rows: int
    answers_changed: int
    documents_back: int
    """Documents that were erased after the backup and are there after the restore."""
    findings: int
    """What `rag verify --full` calls wrong."""
    originals_changed: int


@asynccontextmanager
async def empty_places(
    postgres_url: str, stack: Stack, redis_url: str, folder: Path
) -> AsyncIterator[tuple[Servers, Servers]]:
    """Two migrated databases without rows, each with a home in the folder."""
    made: list[Servers] = []
    for place in ("before", "after"):
        name = f"test_{secrets.token_hex(6)}"
        await execute(postgres_url, copy_statement(name, stack.template()))
        (folder / place).mkdir()
        made.append(Servers(database_at(postgres_url, name), redis_url, str(folder / place)))
    yield made[0], made[1]
    for one in made:
        await execute(postgres_url, f'DROP DATABASE "{one.database_url.rpartition("/")[2]}" WITH (FORCE)')


async def drill(before: Servers, after: Servers, corpus: BenchCorpus, questions: int) -> Drill:
    """`before` and `after` are migrated databases without rows; `after` has an empty home."""
    asked = [item.question for item in corpus.questions[:questions]]
    target = open_directory(Path(after.home) / "backup")
    async with product_on(before) as system:
        await system.first_access.ensure_organisation()
        workspace = await create_workspace(system, "drill")
        await system.ingest_chunks.run(workspace, as_documents(corpus.chunks), "drill")
        kept = [await _upload(system, workspace, number) for number in range(FILES)]
        began = time.perf_counter()
        manifest = await system.create_backup.run(target, _silent)
        seconds = time.perf_counter() - began
        answers = [await answer(system, workspace, question) for question in asked]
        erased = await document_at(system, workspace, corpus.chunks[0].document)
        await system.delete.run(workspace, erased)
        records: list[TakenAway] = [one async for one in system.backup_database.erasures()]
    async with product_on(after) as system:
        began = time.perf_counter()
        await system.restore_backup.run(target, _silent)
        seconds += time.perf_counter() - began
        again = [await answer(system, workspace, question) for question in asked]
        await system.reapply_erasures.run(records)
        report = await system.verify.run(workspace, full=True)
        async with system.database.transaction(DEFAULT_ORG_ID) as transaction:
            is_back = await transaction.documents.get(workspace, erased) is not None
        originals = [await _original(system, key) for key, _ in kept]
    return Drill(
        chunks=len(corpus.chunks),
        questions=len(asked),
        seconds=seconds,
        rows=manifest.rows,
        answers_changed=sum(one != other for one, other in zip(answers, again, strict=True)),
        documents_back=int(is_back),
        findings=sum(one.severity is Severity.ERROR for one in report.findings),
        originals_changed=sum(found != content for found, (_, content) in zip(originals, kept, strict=True)),
    )


@asynccontextmanager
async def product_on(servers: Servers) -> AsyncIterator[Container]:
    """The product on these servers, with a cache of its own: no answer of the other system is taken from it."""
    own = variables(
        servers,
        RAG_EMBEDDER="deterministic",
        AGENTIC_RAG_LOG_LEVEL="error",
        AGENTIC_RAG_QUEUE_NAME=f"drill-{Path(servers.home).name}",
    )
    async with build_container(load_settings(own, dotenv=Path(servers.home) / "none")) as container:
        yield container


async def answer(system: Container, workspace: WorkspaceRef, question: str) -> bytes:
    run = await system.unrecorded_answer.ask(
        OPERATOR, Question(workspace, question, options=AnswerOptions(cache=CacheMode.BYPASS))
    )
    return encode(run.answer)


async def _upload(system: Container, workspace: WorkspaceRef, number: int) -> tuple[str, bytes]:
    """The blob key and the bytes of an original."""
    content = f"# File {number}\n\n{'Nothing else is here. ' * 50 * number}\n".encode()

    async def pieces() -> AsyncIterator[bytes]:
        yield content

    found = await system.upload.run(workspace, f"file-{number}.md", pieces(), UploadOptions(), OPERATOR)
    async with system.database.transaction(DEFAULT_ORG_ID) as transaction:
        (original,) = await transaction.originals.of(workspace, found.document_id)
    return original.key, content


async def _original(system: Container, key: str) -> bytes:
    """The bytes of a blob; none where it is missing."""
    return await system.blobs.read(key) if key in await system.blobs.keys("") else b""


async def document_at(system: Container, workspace: WorkspaceRef, path: str) -> UUID:
    async with system.database.transaction(DEFAULT_ORG_ID) as transaction:
        page = await transaction.documents.page(workspace, PageRequest(MAX_PAGE))
    return next(one.document_id for one in page.items if one.source_path == path)


def _silent(*_: object) -> None:
    """Nobody watches."""
