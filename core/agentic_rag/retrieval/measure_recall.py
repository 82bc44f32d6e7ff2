"""Recall of a workspace's dense search against exact search, on questions made from its own passages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.database import CorpusSnapshot, Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.retrieval.candidates import ArmHit, SearchScope
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.query import ARM_LIMIT
from agentic_rag.retrieval.vector_index import REQUIRED_RECALL, recall_of
from agentic_rag.tenancy.access import UNRESTRICTED_READER
from agentic_rag.tenancy.principals import WorkspaceRef

SAMPLE = 40
"""Passages looked at; each asks twice, with its whole text and with a fragment."""

FRAGMENT_WORDS = 12
"""About the length of a question."""

KS = (10, ARM_LIMIT)
"""What a person sees, and what fusion gets."""


@dataclass(frozen=True, slots=True)
class RecallReport:
    """Mean recall against exact search; the least over whole texts and fragments, at 10 and at the arm's limit. Median
    milliseconds of one search, measured one after the other.
    """

    space: str
    passages: int
    questions: int
    recall: float
    recall_at_10: float
    exact_ms: float
    searched_ms: float

    @property
    def is_enough(self) -> bool:
        """Whether an index that finds so much may answer."""
        return self.recall >= REQUIRED_RECALL


class MeasureRecall:
    """Compares two ways of searching inside one snapshot."""

    def __init__(self, database: Database, embedders: EmbedderSource, sample: int = SAMPLE) -> None:
        self._database = database
        self._embedders = embedders
        self._sample = sample

    async def run(
        self,
        workspace: WorkspaceRef,
        search: VectorSearch = VectorSearch.SERVED,
        advance: Callable[[], object] = int,
        *,
        space_id: int | None = None,
    ) -> RecallReport:
        """Measure `search` of the newest version, in the space that answers unless another is named. Errors: `NotFound`
        (no workspace, or nothing to search), those of the embedder.
        """
        texts, passages = await self._texts(workspace)
        async with self._database.snapshot(workspace, space_id=space_id, readers=UNRESTRICTED_READER) as snapshot:
            space = snapshot.space
        if not texts or space is None:
            raise NotFound("The workspace holds no passages to measure with.", code="NOTHING_TO_ASK")
        embedder = (await self._embedders.of(workspace)).for_space(space.space)
        groups: list[list[tuple[Sequence[ArmHit], Sequence[ArmHit]]]] = []
        seconds: dict[VectorSearch, list[float]] = {VectorSearch.EXACT: [], search: []}
        for asked in (texts, [fragment(text) for text in texts]):
            pairs: list[tuple[Sequence[ArmHit], Sequence[ArmHit]]] = []
            for start in range(0, len(asked), embedder.batch_size):
                vectors = await embedder.embed(asked[start : start + embedder.batch_size])
                advance()
                async with self._database.snapshot(
                    workspace, space_id=space.space_id, readers=UNRESTRICTED_READER
                ) as snapshot:
                    for vector in vectors:
                        hits: dict[VectorSearch, Sequence[ArmHit]] = {}
                        for way in dict.fromkeys((VectorSearch.EXACT, search)):
                            began = time.perf_counter()
                            hits[way] = await snapshot.vectors.nearest(
                                vector, space.space_id, ARM_LIMIT, SearchScope(snapshot.access.access_ids), way
                            )
                            seconds[way].append(time.perf_counter() - began)
                        pairs.append((hits[search], hits[VectorSearch.EXACT]))
                advance()
            groups.append(pairs)
        at = {k: min(fmean(recall_of(found[:k], exact[:k]) for found, exact in pairs) for pairs in groups) for k in KS}
        return RecallReport(
            space=space.space.name,
            passages=passages,
            questions=sum(map(len, groups)),
            recall=round(min(at.values()), 4),
            recall_at_10=round(at[KS[0]], 4),
            exact_ms=1000 * median(seconds[VectorSearch.EXACT]),
            searched_ms=1000 * median(seconds[search]),
        )

    async def _texts(self, workspace: WorkspaceRef) -> tuple[list[str], int]:
        """Texts of passages spread evenly over the corpus, the same ones each time; and how many passages there are."""
        async with self._database.snapshot(workspace, readers=UNRESTRICTED_READER) as snapshot:
            ordinals = sorted(await _visible(snapshot))
            chosen = [ordinals[place * len(ordinals) // self._sample] for place in range(self._sample) if ordinals]
            chunks = await snapshot.documents.chunks(list(dict.fromkeys(chosen)), snapshot.access.access_ids)
        return [chunk.text for chunk in chunks], len(ordinals)


async def _visible(snapshot: CorpusSnapshot) -> frozenset[int]:
    return await snapshot.documents.ordinals_matching(DocumentFilter(), snapshot.access.access_ids)


def fragment(text: str) -> str:
    """Some words from the middle of a text, as many as a question has."""
    words = text.split()
    start = max(0, (len(words) - FRAGMENT_WORDS) // 2)
    return " ".join(words[start : start + FRAGMENT_WORDS]) or text
