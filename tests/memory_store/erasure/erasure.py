"""Erasure in memory: every version of a document goes, and a tombstone stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from uuid import UUID

import numpy as np
from tests.memory_store.session.state import Entity, Tombstone, WorkspaceState
from tests.memory_store.session.store import Working

from agentic_rag.answering.runs.redaction import SOURCE_ERASED, collect_document_ids, redact_document
from agentic_rag.erasure.certificate import ranges_of
from agentic_rag.erasure.ports import Erasure
from agentic_rag.jobs.job import JobKind, JobState
from agentic_rag.kernel.errors import LeaseLost
from agentic_rag.retrieval.graph.entities import extract_entities
from agentic_rag.retrieval.lexical.postings import Segment, merge_segments
from agentic_rag.tenancy.principals import WorkspaceRef

_UNFINISHED = (JobState.QUEUED, JobState.RUNNING)


def erase(
    working: Working, workspace: WorkspaceRef, document_id: UUID, job_id: UUID | None, fence: int | None
) -> Erasure | None:
    """Remove a document as a new corpus version; None when there is none. Errors: `LeaseLost`."""
    known = working.read(workspace)
    if known is None or document_id not in known.documents:
        return None
    if job_id is not None:
        job = known.jobs.get(job_id)
        if job is None or job.job.state is not JobState.RUNNING or job.fence != fence:
            raise LeaseLost("Another worker erases this document now.")
    state = working.write(workspace)
    jobs = _cancel_jobs(working, state, document_id, job_id)
    version = state.next_version(touched=state.sets_of(document_id))
    passages = dict(state.passages_of(document_id))
    postings = _rewrite_segments(state, np.array(list(passages), np.int32))
    mentioned = {held.entity_id for passage in passages.values() for held in passage.mentions}
    for ordinal in passages:
        del state.passages[ordinal]
    entities = drop_mentions(state, mentioned, passages)
    revisions = [
        revision_id for revision_id, stored in state.revisions.items() if stored.revision.document_id == document_id
    ]
    staged = sum(len(state.staged.pop(revision_id, ())) for revision_id in revisions)
    for revision_id in revisions:
        del state.revisions[revision_id]
    access_id = state.documents.pop(document_id).access_id
    state.past_access.pop(document_id, None)
    state.found_metadata.pop(document_id, None)
    state.given_metadata.pop(document_id, None)
    erasure = Erasure(
        document_id=document_id,
        version=version,
        revisions=len(revisions),
        chunks=sum(len(passage.placements) for passage in passages.values()),
        vectors=sum(len(passage.vectors) for passage in passages.values()),
        postings=postings,
        mentions=sum(len(passage.mentions) for passage in passages.values()),
        entities=entities,
        staged=staged,
        runs_redacted=_redact_runs(state, document_id),
        cache_entries=0,
        jobs_redacted=jobs,
        ordinals=ranges_of(sorted(passages)),
    )
    state.tombstones[document_id] = Tombstone(version, working.now(), erasure.stores, erasure.ordinals, access_id)
    return erasure


def drop_mentions(state: WorkspaceState, entity_ids: Iterable[UUID], ordinals: Iterable[int]) -> int:
    """Take passages that are gone out of the index of entities; how many entities nobody mentions any more went. An
    entity whose first document is gone gets the one that mentioned it next.
    """
    gone = frozenset(ordinals)
    dropped = 0
    for entity_id in entity_ids:
        left = tuple(ordinal for ordinal in state.entity_ordinals[entity_id] if ordinal not in gone)
        if not left:
            del state.entity_ordinals[entity_id], state.entities[entity_id]
            dropped += 1
            continue
        state.entity_ordinals[entity_id] = left
        sources = [state.passages[ordinal].document_id for ordinal in left]
        if state.entities[entity_id].source_id not in sources:
            state.entities[entity_id] = _as_first_named(state, entity_id, left[0])
    return dropped


def _as_first_named(state: WorkspaceState, entity_id: UUID, ordinal: int) -> Entity:
    """The entity as the passage spells it: the spelling of a document that is gone is one of its words."""
    passage = state.passages[ordinal]
    draft = passage.placements[0].draft
    stored = state.revisions.get(passage.placements[0].revision_id)
    title = (stored and stored.revision.title) or state.documents[passage.document_id].title
    known = replace(state.entities[entity_id], source_id=passage.document_id)
    for found in extract_entities(state.workspace.ref.workspace_id, draft.text, draft.heading_path, title).entities:
        if found.entity_id == entity_id:
            return replace(known, name=found.name, kind=found.kind)
    return known


def _cancel_jobs(working: Working, state: WorkspaceState, document_id: UUID, erasing: UUID | None) -> int:
    """Unfinished ingestion stops and loses its fence; finished jobs keep no arguments and no error text. How many."""
    redacted_jobs = 0
    for job_id, stored in state.jobs.items():
        job = stored.job
        unfinished = job.state in _UNFINISHED
        if job.document_id != document_id or job_id == erasing or (unfinished and job.kind is not JobKind.INGEST):
            continue
        redacted_jobs += 1
        state.jobs[job_id] = replace(
            stored,
            job=replace(
                job,
                key=str(document_id),
                state=JobState.CANCELLED if unfinished else job.state,
                arguments={},
                error_message=None if job.error_message is None else SOURCE_ERASED,
                updated_at=working.now(),
            ),
            fence=stored.fence + 1,
            lease_until=None,
            attempts=tuple(replace(attempt, error_chain=()) for attempt in stored.attempts),
        )
    return redacted_jobs


def _rewrite_segments(state: WorkspaceState, ordinals: np.ndarray) -> int:
    """Take ordinals out of the segments; how many postings went."""
    kept: list[Segment] = []
    gone = 0
    for segment in state.segments:
        rewritten = segment
        if np.isin(segment.ordinals, ordinals).any():
            rewritten = merge_segments([segment], ordinals)
            gone += len(segment.posting_ordinals) - len(rewritten.posting_ordinals)
        if len(rewritten.ordinals):
            kept.append(rewritten)
    state.segments = tuple(kept)
    return gone


def _redact_runs(state: WorkspaceState, document_id: UUID) -> int:
    """Take the document's words out of every stored answer that used them."""
    citing = [run for run in state.runs.values() if document_id in collect_document_ids(run.answer)]
    for run in citing:
        state.runs[run.run_id] = replace(run, answer=redact_document(run.answer, document_id))
    return len(citing)
