"""What the database holds, as values: records are immutable, and a workspace that is committed is never changed again.

A transaction clones the workspaces it writes; since records are shared, a clone costs the copies of a few dictionaries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tests.memory_store.documents.metadata import merge_json

from agentic_rag.answering.run import Run
from agentic_rag.answering.saved.saved_question import SavedQuestion
from agentic_rag.documents.document import ChunkDraft, Document, Revision, StagedChunk
from agentic_rag.documents.metadata import metadata_from
from agentic_rag.documents.ports import Original, UploadRecord
from agentic_rag.erasure.certificate import StoreErasure
from agentic_rag.ingestion.sources.source import Source
from agentic_rag.ingestion.web.frontier import FrontierPage
from agentic_rag.jobs.job import Job, JobAttempt
from agentic_rag.models.embedding.calibration import CalibrationRecord
from agentic_rag.models.embedding.recall_gate import RecallComparison, RecallGate
from agentic_rag.models.embedding.space import RegisteredSpace, SpaceState
from agentic_rag.operations.evaluation import EvalRun, EvalScore
from agentic_rag.operations.snapshots.snapshot import RestoreRecord, SnapshotRecord
from agentic_rag.retrieval.lexical.postings import Segment
from agentic_rag.retrieval.vector_index import IndexRecord
from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS, ListScope, ReadIdentity, ReadScope
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace


def is_visible(version: int, visible_from: int, visible_to: int | None) -> bool:
    """Whether a reader at `version` sees what appeared at `visible_from` and went at `visible_to`."""
    return visible_from <= version and (visible_to is None or version < visible_to)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a passage stood from one version to another; text that merely moved gets a new one."""

    draft: ChunkDraft
    revision_id: UUID
    access_id: int
    visible_from: int
    visible_to: int | None = None


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity in a passage; `related` are the entities it shares a sentence with there, and how often."""

    entity_id: UUID
    count: int
    related: tuple[tuple[UUID, int], ...]


@dataclass(frozen=True, slots=True)
class PassageRow:
    """All that belongs to an ordinal. Vector, mentions and postings stay while the text only moves."""

    document_id: UUID
    access_id: int
    vectors: Mapping[int, bytes]
    """By number of the space; never changed in place."""
    mentions: tuple[EntityMention, ...]
    placements: tuple[Placement, ...]
    visible_from: int
    visible_to: int | None = None

    def placement_at(self, version: int) -> Placement | None:
        """The placement a reader at `version` sees."""
        for placement in reversed(self.placements):
            if is_visible(version, placement.visible_from, placement.visible_to):
                return placement
        return None

    def shown_to(self, access_id: int) -> PassageRow:
        """The passage and all its places for the readers of another set."""
        placements = tuple(replace(placement, access_id=access_id) for placement in self.placements)
        return replace(self, access_id=access_id, placements=placements)

    def closed(self, version: int) -> PassageRow:
        """The passage without what is open, from `version` on."""
        return replace(self, placements=self._ended(version), visible_to=version)

    def moved(self, placement: Placement) -> PassageRow:
        """The passage at a new place, from the placement's version on."""
        return replace(self, placements=(*self._ended(placement.visible_from), placement))

    def _ended(self, version: int) -> tuple[Placement, ...]:
        return tuple(
            placement if placement.visible_to is not None else replace(placement, visible_to=version)
            for placement in self.placements
        )


@dataclass(frozen=True, slots=True)
class StoredRevision:
    """A revision and when it was the published one; `published_from` is None while it is staged."""

    revision: Revision
    created_at: datetime
    published_from: int | None = None
    published_to: int | None = None
    superseded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A known entity; `source_id` is the document that mentioned it first."""

    key: str
    name: str
    kind: str
    source_id: UUID


@dataclass(frozen=True, slots=True)
class Tombstone:
    """An erasure: the version it made, and what its certificate counts."""

    version: int
    erased_at: datetime
    stores: tuple[StoreErasure, ...]
    ordinals: tuple[tuple[int, int], ...]
    access_id: int
    """Who could read it."""


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job with its fence, its lease and its attempts."""

    job: Job
    number: int
    """Counts the workspace's jobs as they were enqueued."""
    fence: int = 0
    lease_until: datetime | None = None
    attempts: tuple[JobAttempt, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredEval:
    """An evaluation, and by position what came out of its questions."""

    run: EvalRun
    scores: Mapping[int, EvalScore]


@dataclass(frozen=True, slots=True)
class StoredSpace:
    """A space with its state."""

    registered: RegisteredSpace
    state: SpaceState
    since: datetime
    drop_after: datetime | None = None
    gate: RecallGate | None = None
    verdict: RecallComparison | None = None
    calibration: CalibrationRecord = CalibrationRecord()


@dataclass(slots=True)
class WorkspaceState:
    """Everything of one workspace. Written only by the transaction that cloned it."""

    workspace: Workspace
    oldest_version: int = 0
    access_version: int = 0
    version_times: dict[int, datetime] = field(default_factory=dict[int, datetime])
    """Since when each version is the newest one."""
    restricted: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """The access sets that a version touched, where none is everybody's."""
    """The version that last changed a document's readers."""
    access_sets: dict[int, tuple[str, ...]] = field(default_factory=lambda: {DEFAULT_ACCESS_ID: PUBLIC_PRINCIPALS})
    """Principals by number."""
    next_ordinal: int = 0
    spaces: tuple[StoredSpace, ...] = ()
    """Oldest first."""
    indexes: tuple[IndexRecord, ...] = ()
    last_space: int = 0
    """The highest number ever given to a space."""
    segments: tuple[Segment, ...] = ()
    documents: dict[UUID, Document] = field(default_factory=dict[UUID, Document])
    past_access: dict[UUID, int] = field(default_factory=dict[UUID, int])
    """By document: the set of who could read its past text, where it is not that of its newest."""
    found_metadata: dict[UUID, dict[str, Any]] = field(default_factory=dict[UUID, dict[str, Any]])
    """What the text of a document says of it, in the stored form."""
    given_metadata: dict[UUID, dict[str, Any]] = field(default_factory=dict[UUID, dict[str, Any]])
    """What callers say of a document, in the stored form."""
    revisions: dict[UUID, StoredRevision] = field(default_factory=dict[UUID, StoredRevision])
    staged: dict[UUID, tuple[StagedChunk, ...]] = field(default_factory=dict[UUID, tuple[StagedChunk, ...]])
    """By revision; sorted by index."""
    passages: dict[int, PassageRow] = field(default_factory=dict[int, PassageRow])
    """By ordinal, ascending."""
    entities: dict[UUID, Entity] = field(default_factory=dict[UUID, Entity])
    entity_ordinals: dict[UUID, tuple[int, ...]] = field(default_factory=dict[UUID, tuple[int, ...]])
    """The passages that mention an entity, visible or not."""
    tombstones: dict[UUID, Tombstone] = field(default_factory=dict[UUID, Tombstone])
    """By erased document."""
    past_erasures: dict[UUID, tuple[Tombstone, ...]] = field(default_factory=dict[UUID, tuple[Tombstone, ...]])
    """By document that came back, oldest first."""
    jobs: dict[UUID, StoredJob] = field(default_factory=dict[UUID, StoredJob])
    """In the order they were enqueued."""
    runs: dict[UUID, Run] = field(default_factory=dict[UUID, Run])
    thread_titles: dict[UUID, str] = field(default_factory=dict[UUID, str])
    saved: dict[UUID, SavedQuestion] = field(default_factory=dict[UUID, SavedQuestion])
    """In the order they were recorded."""
    evals: dict[UUID, StoredEval] = field(default_factory=dict[UUID, StoredEval])
    """By job."""
    sources: dict[UUID, Source] = field(default_factory=dict[UUID, Source])
    crawls: dict[UUID, dict[str, FrontierPage]] = field(default_factory=dict[UUID, dict[str, FrontierPage]])
    """By job, the pages by address in the order in which they were added."""
    snapshots: dict[UUID, SnapshotRecord] = field(default_factory=dict[UUID, SnapshotRecord])
    """In the order they were begun."""
    restores: dict[UUID, RestoreRecord] = field(default_factory=dict[UUID, RestoreRecord])
    originals: dict[tuple[UUID, bytes], Original] = field(default_factory=dict[tuple[UUID, bytes], Original])
    """By document and content."""
    doomed_blobs: dict[str, UUID] = field(default_factory=dict[str, UUID])
    """Keys of blobs nothing needs any more, with their document."""
    uploads: dict[str, UploadRecord] = field(default_factory=dict[str, UploadRecord])
    """By idempotency key."""

    def clone(self) -> WorkspaceState:
        """A state to be written to that shares every record with this one."""
        return replace(
            self,
            access_sets=dict(self.access_sets),
            restricted=dict(self.restricted),
            version_times=dict(self.version_times),
            documents=dict(self.documents),
            past_access=dict(self.past_access),
            found_metadata=dict(self.found_metadata),
            given_metadata=dict(self.given_metadata),
            revisions=dict(self.revisions),
            staged=dict(self.staged),
            passages=dict(self.passages),
            entities=dict(self.entities),
            entity_ordinals=dict(self.entity_ordinals),
            tombstones=dict(self.tombstones),
            past_erasures=dict(self.past_erasures),
            jobs=dict(self.jobs),
            runs=dict(self.runs),
            thread_titles=dict(self.thread_titles),
            saved=dict(self.saved),
            evals=dict(self.evals),
            sources=dict(self.sources),
            crawls={job: dict(pages) for job, pages in self.crawls.items()},
            snapshots=dict(self.snapshots),
            restores=dict(self.restores),
            originals=dict(self.originals),
            doomed_blobs=dict(self.doomed_blobs),
            uploads=dict(self.uploads),
        )

    def active_space(self) -> RegisteredSpace | None:
        """The space that answers questions."""
        number = self.workspace.active_space
        return None if number is None else self.registered_space(number)

    def registered_space(self, number: int) -> RegisteredSpace | None:
        """The space of that number."""
        return next((one.registered for one in self.spaces if one.registered.space_id == number), None)

    def next_version(self, active_space: int | None = None, touched: Collection[int] = (DEFAULT_ACCESS_ID,)) -> int:
        """Begin the next corpus version, which touches some access sets; the graph is written with it, so its watermark
        is the same.
        """
        version = self.workspace.corpus_version + 1
        space = self.workspace.active_space
        self.workspace = replace(
            self.workspace,
            corpus_version=version,
            graph_version=version,
            active_space=active_space if space is None else space,
        )
        if touched and DEFAULT_ACCESS_ID not in touched:
            self.restricted[version] = frozenset(touched)
        return version

    def hidden_versions(self, scope: ReadScope) -> list[int]:
        """The versions that changed nothing of the scope."""
        return [one for one, touched in self.restricted.items() if touched.isdisjoint(scope.access_ids)]

    def sets_of(self, document_id: UUID) -> set[int]:
        """The access sets of a document and of its passages."""
        return {self.documents[document_id].access_id, *(one.access_id for _, one in self.passages_of(document_id))}

    def described(self, document_id: UUID) -> Document:
        """A document with the metadata in force."""
        found, given = self.found_metadata.get(document_id, {}), self.given_metadata.get(document_id, {})
        return replace(self.documents[document_id], metadata=metadata_from(merge_json(found, given)))

    def readable(self, readers: ReadIdentity) -> ReadScope:
        """What the readers may read."""
        ids = tuple(sorted(one for one, principals in self.access_sets.items() if readers.may_read(principals)))
        return ReadScope(ids, len(ids) == len(self.access_sets), self.access_version)

    def lists(self, held: Document | Tombstone, scope: ListScope | None) -> bool:
        """Whether a list shows what the workspace holds or held."""
        if scope is None or held.access_id in scope.access_ids:
            return True
        if not isinstance(held, Document) or {held.uploaded_by, *held.writers}.isdisjoint(scope.principals):
            return False
        return not set(scope.if_restored).isdisjoint(self.access_sets[held.access_id])

    def passages_of(self, document_id: UUID) -> Iterator[tuple[int, PassageRow]]:
        """Every passage a document has or had, by ordinal."""
        return ((ordinal, passage) for ordinal, passage in self.passages.items() if passage.document_id == document_id)


DEFAULT_RUNS_DAYS = 30
"""How long a run is kept."""


def expired_runs(state: WorkspaceState, now: datetime) -> list[UUID]:
    """The runs that are past their keeping."""
    oldest = now - timedelta(days=state.workspace.settings.runs_days or DEFAULT_RUNS_DAYS)
    return [run_id for run_id, run in state.runs.items() if run.created_at <= oldest]


Committed = Mapping[WorkspaceRef, WorkspaceState]
"""All workspaces as the last commit left them."""
