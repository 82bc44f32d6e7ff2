"""Asks a reranker within its time; when it fails, the order stays."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.documents.document import Chunk
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.retrieval.candidates import Candidate, Passage
from agentic_rag.retrieval.ports import Reranker
from agentic_rag.workspaces.rag_config import reranker_name

GOODBYE_SECONDS = 0.05
"""What a cancelled reranker may take to end; then it is left behind."""

Found = list[tuple[Chunk, Candidate]]


@dataclass(frozen=True, slots=True)
class RerankResult:
    """The passages in their new order, or in the old one with what was missing."""

    passages: Found
    degraded: tuple[Dependency, ...] = ()


class Rerank:
    """A reranker with the seconds it may take for one search."""

    def __init__(self, reranker: Reranker, seconds: float, telemetry: Telemetry, depth: int | None = None) -> None:
        self._reranker = reranker
        self._seconds = seconds
        self._telemetry = telemetry
        self._depth = depth

    def at(self, depth: int) -> Rerank:
        """The same for another number of passages."""
        return Rerank(self._reranker, self._seconds, self._telemetry, depth)

    @property
    def name(self) -> str:
        """What runs call it."""
        return self._reranker.name if self._depth is None else reranker_name(self._reranker.name, self._depth)

    @property
    def depth(self) -> int:
        """How many candidates it wants to see."""
        return self._reranker.depth if self._depth is None else self._depth

    async def order(self, question: str, found: Found) -> RerankResult:
        """The first `depth` passages by the reranker's figures, ties as they were.

        The scores keep their places: the new first passage has the highest fused score, and so on, so that what is
        decided by a score keeps its meaning.
        """
        asked = found[: self.depth]
        if len(asked) < 2:
            return RerankResult(found)
        figures = await self._figures(question, asked)
        if figures is None:
            return RerankResult(found, (Dependency.RERANKER,))
        order = sorted(range(len(asked)), key=lambda place: (-figures[place], place))
        moved = [
            (asked[place][0], replace(asked[place][1], score=asked[at][1].score)) for at, place in enumerate(order)
        ]
        return RerankResult([*moved, *found[len(asked) :]])

    async def _figures(self, question: str, asked: Found) -> Sequence[float] | None:
        passages = [Passage(chunk, candidate) for chunk, candidate in asked]
        task = asyncio.create_task(self._score(question, passages))
        try:
            await asyncio.wait([task], timeout=self._seconds)
            if not task.done():
                return self._report_failure("it took too long")
            if task.cancelled():
                return self._report_failure("it gave up")
            fault = task.exception()
            if fault is not None:
                return self._report_failure(repr(fault)[:200])
            figures = task.result()
            if len(figures) != len(passages) or not all(math.isfinite(one) for one in figures):
                return self._report_failure(
                    f"it gave {len(figures)} figures for {len(passages)} passages, or one is not finite"
                )
            return figures
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(_ignore_exception)
                await asyncio.wait([task], timeout=GOODBYE_SECONDS)

    async def _score(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        return await self._reranker.scores(question, passages)

    def _report_failure(self, why: str) -> None:
        self._telemetry.event("rag_reranker_failed", level="warning", reranker=self._reranker.name, reason=why)


def _ignore_exception(task: asyncio.Task[Sequence[float]]) -> None:
    """What a reranker raises that was left behind is of no interest any more."""
    if not task.cancelled():
        task.exception()
