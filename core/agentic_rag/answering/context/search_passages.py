"""Search: the passages for a text, best first, with their similarity to it. Nothing is answered or stored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.answer import SearchSettings
from agentic_rag.answering.ask import RUN_UNITS
from agentic_rag.answering.options import AnswerDefaults, effective, validate
from agentic_rag.answering.question import Question
from agentic_rag.answering.search_query import build_query
from agentic_rag.documents.document import Chunk, SpanRequest
from agentic_rag.kernel.concurrency import WaitingRoom, background_task
from agentic_rag.kernel.database import CorpusSnapshot, Database
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import (
    BudgetExceeded,
    DependencyUnavailable,
    Permanent,
    Retryable,
    SnapshotOutdated,
    SpaceMismatch,
    no_such_workspace,
)
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.language.programming import SOURCE_MEDIA_TYPE, first_symbol, language_of
from agentic_rag.language.prompt_injection import Suspicion, find_suspicions
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.models.embedding.space import EmbeddingSpace, similarity
from agentic_rag.retrieval.candidates import Candidate
from agentic_rag.retrieval.retrieve import Retrieve, cosines_of, scope_of
from agentic_rag.tenancy.access import ReadIdentity, read_identity
from agentic_rag.tenancy.principals import Principal
from agentic_rag.tenancy.record_audit import audit_passages
from agentic_rag.tenancy.shown_versions import find_version
from agentic_rag.workspaces.settings import RagConfig


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of a search."""

    chunk: Chunk
    candidate: Candidate
    similarity: float | None
    """To the text searched for, 0 to 1, on the scale of `RagConfig.similarity_threshold`; None without a vector."""
    cosine: float | None
    """What the similarity is made of."""
    flags: tuple[Suspicion, ...]
    """Signs that the passage was written to steer a model."""
    is_recognised: bool = False
    """Whether words of it were recognised in a picture of their page: they may be misread."""

    @property
    def language(self) -> str | None:
        """The programming language; None for what is no source code."""
        return language_of(self.chunk.source_path) if self._is_code else None

    @property
    def symbol(self) -> str | None:
        """What source code of the passage defines first."""
        return first_symbol(self.chunk.text) if self._is_code else None

    @property
    def _is_code(self) -> bool:
        return self.chunk.media_type == SOURCE_MEDIA_TYPE


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """The passages of a search, best first, and what was searched."""

    passages: tuple[FoundPassage, ...]
    corpus_version: int
    space: EmbeddingSpace | None
    degraded: tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A passage that is handed out, and its cosine to the text."""

    chunk: Chunk
    candidate: Candidate
    cosine: float | None
    is_recognised: bool


@dataclass(frozen=True, slots=True)
class _Read:
    """What a search reads of a snapshot."""

    kept: tuple[_Kept, ...]
    corpus_version: int
    space: EmbeddingSpace | None
    degraded: tuple[Dependency, ...]

    def passages(self, settings: SearchSettings) -> tuple[FoundPassage, ...]:
        """What is handed out, with what takes time to say of each text."""
        return tuple(
            FoundPassage(
                one.chunk,
                one.candidate,
                None
                if one.cosine is None or self.space is None
                else similarity(one.cosine, self.space, settings.similarity_exponent),
                one.cosine,
                find_suspicions(one.chunk.text),
                one.is_recognised,
            )
            for one in self.kept
        )


@dataclass(frozen=True, slots=True)
class _Query:
    """What a search looks for, in whose name, and at which version."""

    asked: Question
    settings: SearchSettings
    readers: ReadIdentity
    at: int | None
    """None: the newest."""
    space: EmbeddingSpace | None
    """Of the vector."""
    vector: NDArray[np.float32] | None


@dataclass(frozen=True, slots=True)
class SearchPassages:
    """The use case behind `searchPassages`, `POST /v1/search` and `rag search`."""

    database: Database
    embedders: EmbedderSource
    retrieve: Retrieve
    defaults: AnswerDefaults
    room: WaitingRoom
    telemetry: Telemetry

    async def run(
        self,
        principal: Principal,
        asked: Question,
        otherwise: RagConfig | None = None,
        alive_seconds: float | None = None,
    ) -> FoundPassages:
        """The passages for `asked.text` that the caller may read; the conversation, and options of synthesis, have no
        effect. `otherwise` holds for a workspace without search settings. A database that answers nobody for
        `alive_seconds` is not waited for; None: as long as it takes.

        Without an embedder the arms that need no vector remain; no similarity is known then, so that nothing passes a
        minimum. Whose passages were handed out to whom is in the audit log.

        Errors: `InvalidInput` (QUESTION_EMPTY, QUESTION_TOO_LONG, OPTION_OUT_OF_RANGE, AS_OF_UNAVAILABLE,
        EMBEDDING_MODEL_UNKNOWN), `MissingProviderKey`, `NotFound` code WORKSPACE_NOT_FOUND, `DependencyUnavailable`,
        `SpaceMismatch`, `Overloaded`.
        """
        validate(asked)
        readers = read_identity(principal)
        head = None
        if asked.workspace.org_id == principal.org_id:
            async with self._while_answering(alive_seconds):
                head = await self.database.head(asked.workspace, readers)
        if head is None:
            raise no_such_workspace()
        config, exponent = head.rag_config or otherwise, head.similarity_exponent
        settings = effective(asked.options, self.defaults, config=config, similarity_exponent=exponent).search
        with self.telemetry.span("rag.search"):
            vector = await self._embed(asked, settings, head.space)
            async with self._while_answering(alive_seconds):
                at = await find_version(self.database, asked.workspace, readers, asked.as_of, asked.as_of_time)
            query = _Query(asked, settings, readers, at, head.space, vector)
            async with self.room.enter(RUN_UNITS), self._while_answering(alive_seconds):
                try:
                    found = await self._read(query, may_defer=True)
                except SnapshotOutdated:
                    found = await self._read(query, may_defer=False)
            # Beside the entry, but behind the snapshot: nobody holds a connection while it waits for another.
            actor, documents = principal.subject_id, [one.chunk.document_id for one in found.kept]
            entry = audit_passages(self.database, self.telemetry, asked.workspace, actor, documents)
            async with self._while_answering(alive_seconds), background_task(entry) as recording:
                passages = found.passages(settings)
                await recording
            return FoundPassages(passages, found.corpus_version, found.space, found.degraded)

    def _while_answering(self, seconds: float | None) -> AbstractAsyncContextManager[None]:
        return nullcontext() if seconds is None else self.database.while_answering(seconds)

    async def _embed(
        self, asked: Question, settings: SearchSettings, space: EmbeddingSpace | None
    ) -> NDArray[np.float32] | None:
        """The vector of the text; None where no arm asks for it, and where the embedder fails."""
        if settings.weights.vector == 0 or space is None:
            return None
        try:
            embedder = (await self.embedders.of(asked.workspace)).for_space(space)
            return (await embedder.embed([space.as_question(strip_unstorable(asked.text))]))[0]
        except SpaceMismatch:
            raise
        except BudgetExceeded as error:
            self.telemetry.event("rag_budget_refused", task="embedding", code=error.code)
            return None
        except (Retryable, Permanent, DependencyUnavailable) as error:
            self.telemetry.event("rag_search_without_vector", level="warning", code=error.code)
            return None

    async def _read(self, wanted: _Query, *, may_defer: bool) -> _Read:
        """What a snapshot of its own holds. Errors: `SnapshotOutdated` where it `may_defer`."""
        workspace = wanted.asked.workspace
        async with self.database.snapshot(
            workspace, wanted.at, readers=wanted.readers, may_defer=may_defer
        ) as snapshot:
            vector = wanted.vector
            if snapshot.space is not None and snapshot.space.space != wanted.space:
                # The workspace was switched to another model meanwhile: its vectors are of no use here.
                vector = None
            return await self._found(snapshot, wanted.asked, wanted.settings, vector)

    async def _found(
        self, snapshot: CorpusSnapshot, asked: Question, settings: SearchSettings, vector: NDArray[np.float32] | None
    ) -> _Read:
        space = None if snapshot.space is None else snapshot.space.space
        scope = await scope_of(snapshot, settings.filter, snapshot.access.access_ids)
        query = build_query(asked.workspace.workspace_id, settings, strip_unstorable(asked.text), vector, scope, space)
        result = await self.retrieve.run(snapshot, query)
        cosines = result.cosines or await cosines_of(snapshot, query, result.chunks)
        recognised = await _recognised(snapshot, [chunk for chunk, _ in result.chunks])
        kept = tuple(
            _Kept(chunk, candidate, cosine, chunk.chunk_id in recognised)
            for chunk, candidate in result.chunks
            for cosine in [cosines.get(candidate.ordinal)]
            if settings.similarity_threshold <= 0 or cosine is not None
        )
        needs_vector = settings.weights.vector > 0 and space is not None
        degraded = (*((Dependency.EMBEDDER,) if needs_vector and vector is None else ()), *result.degraded)
        version = await snapshot.shown(snapshot.version)
        return _Read(kept, version, space, tuple(dict.fromkeys(degraded)))


async def _recognised(snapshot: CorpusSnapshot, chunks: Sequence[Chunk]) -> frozenset[UUID]:
    """The ids of chunks with words that were recognised in a picture. Only documents with such pages are looked at."""
    doubtful = [one for one in chunks if one.has_recognised_pages]
    if not doubtful:
        return frozenset()
    places = [SpanRequest(one.revision_id, one.start, one.end) for one in doubtful]
    found = zip(doubtful, await snapshot.documents.revision_spans(places), strict=True)
    return frozenset(one.chunk_id for one, span in found if span is not None and span.is_recognised)
