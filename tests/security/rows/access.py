"""Rows on document-level access: many readers with random rights that change while they ask, and small corners of large
corpora.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import numpy as np

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.postgres.answering.cache_entries import PostgresAnswerCache
from agentic_rag.adapters.postgres.answering.runs import PostgresRunStore
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.answer import Answer
from agentic_rag.answering.ask import AnswerPorts, AnswerQuestion
from agentic_rag.answering.build import answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import Question
from agentic_rag.answering.runs.answer_codec import encode
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.tenancy.access import ListScope, ReadIdentity, read_identity
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from agentic_rag_migrations import HEAD
from tests.bench.reports import Row, exactly
from tests.builders import DIMENSIONS, SPACE, drafts_of, half, new_chunk, new_document, publication, revision_of
from tests.memory_store.compute import InlineCompute
from tests.memory_store.telemetry import RecordingTelemetry
from tests.security.ground import Ground
from tests.security.table import Measure

GROUPS = [f"group:g{number}" for number in range(8)]
TOPICS = [
    "the harbour",
    "the boiler",
    "the archive",
    "the orchard",
    "the ferry",
    "the mill",
    "the quarry",
    "the bridge",
]
SECRET = re.compile(r"zebra(\d+)x")
AT_ONCE = 8


@dataclass
class Stores:
    """The product's stores on a database of their own."""

    pool: PostgresPool
    database: PostgresDatabase

    async def workspace(self) -> WorkspaceRef:
        """A workspace of an organisation of its own."""
        ref = WorkspaceRef(uuid4(), uuid4())
        await PostgresOrganisations(self.pool).ensure_organisation(ref.org_id, f"org {ref.org_id}")
        async with self.database.transaction(ref.org_id) as transaction:
            await transaction.workspaces.create(ref.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings())
        return ref


@asynccontextmanager
async def opened_stores(ground: Ground) -> AsyncIterator[Stores]:
    servers = ground.servers()
    url = await servers.new_database()
    pool = PostgresPool(url)
    database = PostgresDatabase(pool, HEAD)
    try:
        yield Stores(pool, database)
    finally:
        await database.aclose()
        await servers.drop_database(url)


@dataclass
class Rights:
    """What ought to be: the principals of each document, and both of old and new while a change is under way."""

    states: list[list[tuple[str, ...]]]
    changes: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Every state that a document ever left or entered, in order."""

    def at(self) -> tuple[list[list[tuple[str, ...]]], int]:
        """What holds now, and where in the changes that is."""
        return [list(states) for states in self.states], len(self.changes)

    def might_read(self, reading: ReadIdentity, document: int, then: tuple[list[list[tuple[str, ...]]], int]) -> bool:
        """Whether the readers might read a document at any moment since."""
        states, place = then
        later = [principals for number, principals in self.changes[place:] if number == document]
        return any(reading.may_read(principals) for principals in (*states[document], *later))


class Village:
    """Documents with random readers, and the users who ask about them."""

    def __init__(self, stores: Stores, workspace: WorkspaceRef, users: int, documents: int) -> None:
        self.stores, self.workspace = stores, workspace
        self.random = random.Random(8)
        self.users = [
            Principal(
                workspace.org_id,
                f"u{number}",
                Role.MEMBER,
                tuple(one.removeprefix("group:") for one in self.random.sample(GROUPS, self.random.randint(1, 3))),
            )
            for number in range(users)
        ]
        self.rights = Rights([[()] for _ in range(documents)])
        self.leaks: list[str] = []
        self.seen = 0

    def some_principals(self) -> tuple[str, ...]:
        """Nobody in particular for a fifth, else up to three groups and users."""
        if self.random.random() < 0.2:
            return ()
        among = [*GROUPS, *(f"user:{user.subject}" for user in self.users)]
        return tuple(sorted(self.random.sample(among, self.random.randint(1, 3))))

    def path(self, number: int) -> str:
        return f"zebra{number}x.md"

    def documents(self) -> list[ChunkedDocument]:
        return [
            ChunkedDocument(
                self.path(number),
                f"Dossier zebra{number}x",
                (f"The dossier zebra{number}x says that Captain Zebra{number}x keeps {TOPICS[number % len(TOPICS)]}.",),
            )
            for number in range(len(self.rights.states))
        ]

    async def give(self, number: int, principals: tuple[str, ...]) -> None:
        """Change who reads a document; until it is done either may hold."""
        self.rights.states[number].append(principals)
        self.rights.changes.append((number, principals))
        workspace = self.workspace
        async with self.stores.database.transaction(workspace.org_id) as transaction:
            access_id = await transaction.access.intern(workspace, principals)
            path = self.path(number)
            document_id = (await resolve_ids(transaction.documents, workspace, [path]))[path]
            await transaction.access.change(workspace, document_id, access_id)
        self.rights.states[number] = [principals]

    async def ask(self, answer: AnswerQuestion, user: Principal) -> None:
        """One question, and everything of its run compared with what the user might read."""
        then = self.rights.at()
        number = self.random.randrange(len(self.rights.states))
        text = self.random.choice(
            [f"Who keeps {TOPICS[number % len(TOPICS)]}?", f"What does the dossier zebra{number}x say?"]
        )
        run = await answer.ask(user, Question(self.workspace, text))
        echoed = {int(found) for found in SECRET.findall(text)}
        kept = encode(run.answer).decode() + repr(run.stages)
        said = {int(found) for found in SECRET.findall(kept.casefold())}
        named = _shown(run.answer) | (said - echoed)
        self.seen += len(named)
        self.leaks += [
            f"{user.subject}: {one}" for one in named if not self.rights.might_read(read_identity(user), one, then)
        ]


def _shown(answer: Answer) -> set[int]:
    """The documents that an answer shows, whatever the question said."""
    nearest = answer.abstention.nearest if answer.abstention else ()
    results = [call.result for call in answer.debug.tool_calls]
    shown = repr((answer.text, answer.citations, nearest, answer.debug.candidates, results)).casefold()
    return {int(found) for found in SECRET.findall(shown)}


async def _counts_off(village: Village) -> int:
    """Users whose list, count, statistics or dense search differ from what they may read, at rest."""
    off = 0
    query = np.ones(DeterministicEmbedder().space.dimensions, np.float32)
    for user in village.users:
        reading = read_identity(user)
        wanted = sum(reading.may_read(states[-1]) for states in village.rights.states)
        async with village.stores.database.transaction(village.workspace.org_id) as transaction:
            access = await transaction.access.readable(village.workspace, reading)
            shown = ListScope(access.access_ids, reading.principals)
            counted = sum((await transaction.documents.count(village.workspace, shown)).values())
            page = await transaction.documents.page(village.workspace, PageRequest(100), (), shown)
        async with village.stores.database.snapshot(village.workspace, readers=reading) as snapshot:
            scope = SearchScope(snapshot.access.access_ids)
            passages = await snapshot.lexical.passages(scope)
            assert snapshot.space is not None
            near = await snapshot.vectors.nearest(query, snapshot.space.space_id, 10_000, scope)
        listed = all(
            reading.may_read(village.rights.states[int(SECRET.findall(one.source_path)[0])][-1]) for one in page.items
        )
        off += not (counted == passages == len(near) == wanted and listed)
    return off


async def random_rights(ground: Ground, short: bool) -> list[Row]:
    """Answers through the real use case with cache and single flight; rights change all the while."""
    users, documents, questions = (10, 60, 120) if short else (50, 2_000, 5_000)
    async with opened_stores(ground) as stores:
        workspace = await stores.workspace()
        village = Village(stores, workspace, users, documents)
        embedders, telemetry = only(DeterministicEmbedder()), RecordingTelemetry()
        ingest = IngestChunks(stores.database, embedders, TextAnalysis(estimate_tokens, InlineCompute()))
        await ingest.run(workspace, village.documents(), "upload")
        for number in range(documents):
            await village.give(number, village.some_principals())
        runs, cache = PostgresRunStore(stores.pool), PostgresAnswerCache(stores.pool)
        recorder = RunRecorder(stores.database, runs, cache, telemetry)
        ports = AnswerPorts(stores.database, cache, runs, embedders, telemetry, SystemClock(), RandomIds())
        answer = answer_question(ports, recorder, AnswerDefaults())
        left = iter(range(questions))
        done = asyncio.Event()

        async def ask() -> None:
            for _ in left:
                await village.ask(answer, village.random.choice(village.users))

        async def change() -> int:
            changed = 0
            while not done.is_set():
                await village.give(village.random.randrange(documents), village.some_principals())
                changed += 1
            return changed

        changing = asyncio.create_task(change())
        try:
            await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        finally:
            done.set()
        changed = await changing
        await recorder.aclose()
        off = await _counts_off(village)
    name = f"{users} users in {len(GROUPS)} groups, {documents} documents, {questions} questions, {changed} changes"
    return [
        exactly(f"{name}: unreadable documents named", len(village.leaks), 0),
        Row("documents named in these answers", str(village.seen), "> 0", village.seen > 0),
        exactly("users whose lists, counts or statistics are off", off, 0),
    ]


@dataclass(frozen=True)
class Corner:
    """A few passages that somebody may read, among many of others."""

    workspace: WorkspaceRef
    reading: ReadIdentity
    ordinals: np.ndarray
    vectors: np.ndarray


async def _fill(stores: Stores, workspace: WorkspaceRef, passages: int, access_id: int | None, seed: int) -> np.ndarray:
    """Publish passages with random vectors of unit length, as embedders make them; the vectors as they are stored."""
    drawn = np.random.default_rng(seed).standard_normal((passages, DIMENSIONS))
    made = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float32)
    for start in range(0, passages, 2_000):
        part = made[start : start + 2_000]
        path = f"{seed}-{start}.md"
        texts = [f"passage {start + place} of {seed}" for place in range(len(part))]
        new = new_document(workspace, path, access_id=access_id)
        revision = revision_of(new.document_id, texts)
        chunks = [
            new_chunk(draft, vector=half(row)) for draft, row in zip(drafts_of(revision, texts), part, strict=True)
        ]
        async with stores.database.transaction(workspace.org_id) as transaction:
            await transaction.documents.register(workspace, new)
            await transaction.publisher.publish(workspace, 1, [publication(new.document_id, revision, chunks)])
    return made.astype(np.float16).astype(np.float64)


async def _recall(stores: Stores, corner: Corner, questions: int) -> tuple[int, float]:
    """The fewest rows that a question got, and the share of the true ten nearest among them."""
    fewest, found = 10, 0
    norms = np.linalg.norm(corner.vectors, axis=1)
    for seed in range(questions):
        query = np.random.default_rng(10_000 + seed).standard_normal(DIMENSIONS).astype(np.float32)
        cosines = (corner.vectors @ query.astype(np.float64)) / (norms * np.linalg.norm(query))
        truth = set(corner.ordinals[np.argsort(-cosines)[:10]].tolist())
        async with stores.database.snapshot(corner.workspace, readers=corner.reading) as snapshot:
            hits = await snapshot.vectors.nearest(query, 1, 10, SearchScope(snapshot.access.access_ids))
        fewest = min(fewest, len(hits))
        found += len(truth & {hit.ordinal for hit in hits})
    return fewest, found / (10 * questions)


async def small_corner(ground: Ground, short: bool) -> list[Row]:
    """A tenant, and a group, with 0.5 % of 100,000 passages."""
    many, questions = (4_000, 10) if short else (100_000, 100)
    few = many // 200
    async with opened_stores(ground) as stores:
        tenant, large = await stores.workspace(), await stores.workspace()
        for ref in (tenant, large):
            async with stores.database.transaction(ref.org_id) as transaction:
                await transaction.workspaces.register_space(ref, SPACE)
        async with stores.database.transaction(large.org_id) as transaction:
            others = await transaction.access.intern(large, ("group:others",))
            mine = await transaction.access.intern(large, ("group:few",))
        await _fill(stores, large, many, others, seed=1)
        in_group = await _fill(stores, large, few, mine, seed=2)
        of_tenant = await _fill(stores, tenant, few, None, seed=3)
        corners = {
            "tenant": Corner(tenant, ReadIdentity(("user:a",)), np.arange(few), of_tenant),
            "group": Corner(large, ReadIdentity(("group:few",)), np.arange(many, many + few), in_group),
        }
        rows: list[Row] = []
        for name, corner in corners.items():
            fewest, recall = await _recall(stores, corner, questions)
            what = f"small {name}: {few} of {many} passages"
            rows.append(exactly(f"{what}, rows of 10", fewest, 10))
            rows.append(Row(f"{what}, recall@10", f"{recall:.3f}", "1.000", recall == 1.0))
    return rows


ROWS: Mapping[str, Measure] = {"random-rights": random_rights, "small-corner": small_corner}
"""The rows of this module."""
