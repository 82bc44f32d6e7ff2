"""Callers of every role, scope and relation to one document, and everything of it that an operation may name."""

from __future__ import annotations

import base64
import enum
import json
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import product
from uuid import UUID

import asyncpg
import httpx2

from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.bootstrap import Container
from agentic_rag.documents.document import chunk_id_for, content_hash
from agentic_rag.documents.document_access import parse_writers
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.embedded.loopback import free_port
from agentic_rag.ingestion.ingest_chunks import PlainTextDocument
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.ingestion.upload import Upload, UploadOptions
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_in_organisation, encode_workspace
from agentic_rag.models.embedding.calibration import CalibratedLine, CalibrationSource, SupportCalibration
from agentic_rag.models.embedding.similarity import SimilarityCalibration
from agentic_rag.operations.calibrate import CalibrationWish
from agentic_rag.operations.evaluation import EvalDataset, EvalQuestion
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.tenancy.principals import KeyScope, Principal, Role, SubjectKind, WorkspaceRef
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.context_template import ContextTemplate, add_template
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind
from agentic_rag_server.rest.openai.places import uploads_of
from agentic_rag_server.rest.openai.store_batches import batch_id_of
from tests.security.ground import Ground
from tests.security.tenants import opened_server, taken_snapshot

KILL = "UPDATE rag_jobs SET state = 'DEAD', error_code = 'PARSE_CORRUPT' WHERE org_id = $1 AND job_id = $2"
PUMP = "The pump lifts seven cubic metres of water. It is serviced in March."
RULES = ContextTemplate("rules", "## Rules")
QUESTION = "How much water does the pump lift?"


class Relation(enum.Enum):
    """What a caller is to the document: its subject has this name, and the document's rights name it."""

    OWNER = "owner"
    WRITER = "writer"
    READER = "reader"
    STRANGER = "stranger"
    ABSENT = "absent"
    """The owner of a document that an admin gave other readers."""
    FOREIGN = "foreign"
    """An owner by name, in another organisation."""


@dataclass(frozen=True)
class Caller:
    """A credential."""

    relation: Relation
    role: Role
    scopes: frozenset[KeyScope] | None
    token: str

    def __str__(self) -> str:
        scopes = "all" if self.scopes is None else "+".join(sorted(one.value for one in self.scopes))
        return f"{self.relation.value}/{self.role.value}/{scopes}"


@dataclass
class RightsWorld:
    """The server and what is in it. `ids` are the things by the names that requests use."""

    container: Container
    http: httpx2.AsyncClient
    project: WorkspaceRef
    agent: WorkspaceRef
    ids: dict[str, str] = field(default_factory=dict[str, str])
    callers: list[Caller] = field(default_factory=list[Caller])
    made: int = 0
    new_saved: UUID | None = None
    """The saved question that was made last; the next one takes its place, for a workspace has few."""

    async def prepare(self, needs: frozenset[str], relation: Relation = Relation.OWNER) -> Mapping[str, str]:
        """The ids, with new documents and names where a request uses them up. An absent owner has documents of its
        own, a new one for each request.
        """
        self.made += 1
        fresh = {"fresh": f"fresh-{self.made}"}
        is_absent, path = relation is Relation.ABSENT, f"zz-{self.made}.md"
        owner = relation if is_absent else Relation.OWNER
        if needs & {"new_document", "new_guideline"} or ("document" in needs and is_absent):
            upload = await upload_shared(self.container, self.project, path, owner)
            public_id = encode(NodeKind.DOCUMENT, self.project.workspace_id, upload.document_id)
            fresh |= {"new_document": public_id, "new_guideline": str(upload.document_id)}
            fresh |= {"document": public_id} if is_absent else {}
        if "new_workspace" in needs:
            made = await _workspace(self.container, self.project.org_id, NewWorkspace(f"w-{self.made}"))
            fresh["new_workspace"] = encode_workspace(made.ref.workspace_id)
        if "new_thread" in needs:
            asker = Principal(self.project.org_id, Relation.OWNER.value, Role.VIEWER, kind=SubjectKind.KEY)
            asked = Question(self.project, f"Which pump is number {self.made}?", begins_thread=True)
            run = await self.container.answer.ask(asker, asked)
            fresh["new_thread"] = encode(NodeKind.THREAD, self.project.workspace_id, run.run_id)
        if "new_run" in needs:
            # A copy of the run: the id says that it is old, so nobody waits for it to be stored.
            known = decode(self.ids["run"], NodeKind.RUN).key
            run = await self.container.runs.get(self.project, known)
            assert run is not None
            # It stands behind the run in lists, of which callers are shown the first page.
            copied = replace(
                run,
                run_id=UUID(int=known.int + self.made),
                created_at=run.created_at - timedelta(seconds=1),
                thread=None,
                idempotency_key=None,
            )
            await self.container.runs.record([copied])
            fresh["new_run"] = encode(NodeKind.RUN, self.project.workspace_id, copied.run_id)
        if "new_saved" in needs:
            asker = Principal(self.project.org_id, Relation.OWNER.value, Role.VIEWER, kind=SubjectKind.KEY)
            inside = AnswerOptions(allow_web=False)
            asked = Question(self.project, f"Which pump is number {self.made}?", options=inside, begins_thread=True)
            run = await self.container.answer.ask(asker, asked)
            async with self.container.database.transaction(self.project.org_id) as transaction:
                if self.new_saved is not None:
                    await transaction.saved.remove(self.project, self.new_saved, asker.subject_id)
            saved = await self.container.saved.save(asker, self.project, run.run_id)
            self.new_saved = saved.saved_id
            fresh["new_saved"] = encode(NodeKind.SAVED, self.project.workspace_id, saved.saved_id)
        if "new_source" in needs:
            fresh["new_source"] = await _follow(self.container, self.project, f"site-{self.made}")
        if "new_attached" in needs:
            upload = await upload_shared(self.container, self.agent, path, owner)
            fresh["new_attached"] = str(upload.document_id)
        if "template" in needs:
            fresh["template"] = RULES.name
            await self.container.administer.change_workspace(
                self.project, lambda one: replace(one, templates=add_template(one.templates, RULES)), "test"
            )
        return {**self.ids, **fresh}


@asynccontextmanager
async def rights_world(ground: Ground) -> AsyncIterator[RightsWorld]:
    """Opened on a database of its own."""
    providers = {
        "AGENTIC_RAG_MASTER_KEYS": f"m1:{base64.b64encode(secrets.token_bytes(32)).decode()}",
        "OPENAI_API_KEY": "sk-test",
        # A search engine that finds nothing and asks nobody.
        "AGENTIC_RAG_SEARCH": "file:/dev/null",
        "OPENAI_BASE_URL": f"http://127.0.0.1:{free_port()}/v1",
    }
    async with opened_server(ground, **providers) as (container, url, http):
        yield await _built(container, http, url)


async def _built(container: Container, http: httpx2.AsyncClient, url: str) -> RightsWorld:
    organisations = {name: UUID(int=number) for number, name in enumerate(("ours", "theirs"), 11)}
    for name, org_id in organisations.items():
        await PostgresOrganisationRegister(url).create(org_id, name, f"issuer-{name}")
        await container.administer.set_feature(org_id, FeatureFlag.RAG_GUIDELINES, on=True, actor="system:test")
        await container.administer.set_feature(org_id, FeatureFlag.WEB_ACCESS, on=True, actor="system:test")
        await container.attachments.open(uploads_of(org_id), "system:test")
    ours = organisations["ours"]
    project = await _workspace(container, ours, NewWorkspace("handbook", WorkspaceKind.PROJECT, "p-7"))
    agent = await _workspace(container, ours, NewWorkspace("helper", WorkspaceKind.AGENT, "a-7"))
    await container.administer.change_workspace(
        project.ref, lambda one: replace(one, web=WebAccess(allow=True)), "system:test"
    )
    world = RightsWorld(container, http, project.ref, agent.ref)
    world.ids["batch"] = batch_id_of(0, [UUID(int=1)])
    world.ids |= {"organisation": str(ours)} | await _things(container, project.ref, agent.ref, url)
    scopes = [None, *(frozenset({one}) for one in KeyScope)]
    for relation, role, scope in product(Relation, Role, scopes):
        is_foreign = relation is Relation.FOREIGN
        subject = Relation.OWNER.value if is_foreign else relation.value
        wish = KeyWish(f"{relation.value}-{world.made}", role, subject, scopes=scope)
        org_id = organisations["theirs"] if is_foreign else ours
        made = await container.api_keys.create(org_id, wish, "system:test")
        world.callers.append(Caller(relation, role, scope, made.token))
        world.made += 1
    return world


async def _workspace(container: Container, org_id: UUID, wish: NewWorkspace) -> Workspace:
    return await container.administer.create_workspace(org_id, wish, "system:test")


async def _things(container: Container, project: WorkspaceRef, agent: WorkspaceRef, url: str) -> dict[str, str]:
    shared = await upload_shared(container, project, "shared.md")
    attached = await upload_shared(container, agent, "attached.md")
    hidden = Principal(project.org_id, "nobody-else", Role.MEMBER, kind=SubjectKind.KEY)
    await container.upload.run(project, "hidden.md", _pieces(), UploadOptions(readable_by=(hidden.subject_id,)), hidden)
    dead = await upload_shared(container, project, "dead.md")
    cut = await container.ingest_chunks.cut(PlainTextDocument("pump.txt", "Pump", PUMP), "default")
    await container.ingest_chunks.run(project, [cut], "system:test", lambda _: None)
    async with container.database.transaction(project.org_id) as transaction:
        pump = (await resolve_ids(transaction.documents, project, ["pump.txt"]))["pump.txt"]
    asker = Principal(project.org_id, Relation.OWNER.value, Role.VIEWER, kind=SubjectKind.KEY)
    run = await container.answer.ask(asker, Question(project, QUESTION, begins_thread=True))
    asked = container.clock.now()
    saved = await container.saved.save(asker, project, run.run_id)
    questions = (EvalQuestion("1", QUESTION, (), ("pump.txt",), "single"),)
    evaluation = await container.evaluations.start(project, EvalDataset("own", questions), "system:test")
    line = CalibratedLine(0.25, 59, 1 / 60, 0, 0.0, 0.06)
    calibrated = SupportCalibration(0.05, CalibrationSource.GIVEN, line, 1, 1, container.clock.now())
    for is_trial in (False, True):
        await container.calibrate_support.keep(project, calibrated, CalibrationWish(is_trial=is_trial))
    scale = SimilarityCalibration(4.0, 20, (), container.clock.now())
    async with container.database.transaction(project.org_id) as transaction:
        active = await transaction.workspaces.active_space(project)
        assert active is not None
        record = await transaction.spaces.calibration(project, active.space_id)
        await transaction.spaces.set_calibration(project, active.space_id, replace(record, similarity=scale))
    source = await _follow(container, project, "site")
    erased = await _workspace(container, project.org_id, NewWorkspace("erased"))
    await container.request_erasure.workspace(erased.ref, "erased", "system:test")
    snapshot_id = await taken_snapshot(container, project)
    spare = await container.api_keys.create(
        project.org_id,
        KeyWish("spare", Role.VIEWER, expires_at=container.clock.now() + timedelta(hours=1)),
        "system:test",
    )
    server = await asyncpg.connect(url)
    await server.execute(KILL, project.org_id, dead.job_id)
    await server.close()
    assert shared.job_id is not None
    assert dead.job_id is not None
    in_project = {
        "document": (NodeKind.DOCUMENT, shared.document_id),
        "chunk": (NodeKind.CHUNK, chunk_id_for(pump, content_hash(cut.texts[0]), 0)),
        "job": (NodeKind.JOB, shared.job_id),
        "dead": (NodeKind.JOB, dead.job_id),
        "evaluation": (NodeKind.JOB, evaluation.job_id),
        "run": (NodeKind.RUN, run.run_id),
        "thread": (NodeKind.THREAD, run.run_id),
        "saved": (NodeKind.SAVED, saved.saved_id),
        "snapshot": (NodeKind.SNAPSHOT, snapshot_id),
    }
    return {
        "asked": asked.isoformat(),
        **{name: encode(kind, project.workspace_id, key) for name, (kind, key) in in_project.items()},
        "source": source,
        "workspace": encode_in_organisation(NodeKind.WORKSPACE, project.workspace_id),
        "key": encode_in_organisation(NodeKind.API_KEY, spare.key.key_id),
        "guideline": str(shared.document_id),
        "attached": str(attached.document_id),
        "erased": encode_in_organisation(NodeKind.WORKSPACE, erased.ref.workspace_id),
    }


async def _follow(container: Container, workspace: WorkspaceRef, name: str) -> str:
    """A source that nothing looks at."""
    new = NewSource(name, SourceKind.SITEMAP, "https://docs.example.com/sitemap.xml", every_seconds=0)
    added = await container.sources.add(workspace, new, None, "system:test")
    return encode(NodeKind.SOURCE, workspace.workspace_id, added.source_id)


async def upload_shared(
    container: Container, workspace: WorkspaceRef, path: str, relation: Relation = Relation.OWNER
) -> Upload:
    """A document with an owner, a writer and a reader; it waits for a worker."""
    owner = Principal(workspace.org_id, relation.value, Role.MEMBER, kind=SubjectKind.KEY)
    readers = tuple(sorted(f"key:{one.value}" for one in (Relation.OWNER, Relation.WRITER, Relation.READER)))
    upload = await container.upload.run(workspace, path, _pieces(), UploadOptions(readable_by=readers), owner)
    await container.document_access.set_writers(
        workspace=workspace,
        principal=owner,
        document_id=upload.document_id,
        writers=parse_writers([f"key:{Relation.WRITER.value}"]),
    )
    if relation is Relation.ABSENT:
        admin = Principal(workspace.org_id, "admin", Role.ADMIN, kind=SubjectKind.KEY)
        await container.document_access.change(admin, workspace, upload.document_id, readers)
    return upload


async def _pieces() -> AsyncIterator[bytes]:
    yield b"# Valve\n\nIt opens at 3 bar."


def in_short(callers: list[Caller]) -> Iterator[Caller]:
    """Every relation with every role, and every scope of the strongest."""
    for one in callers:
        if one.scopes is None or (one.role is Role.OPERATOR and one.relation is Relation.OWNER):
            yield one


def quoted(ids: Mapping[str, str]) -> Mapping[str, str]:
    """The ids as they stand in a GraphQL document."""
    return {name: json.dumps(value) for name, value in ids.items()}
