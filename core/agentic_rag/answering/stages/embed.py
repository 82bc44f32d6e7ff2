"""Embed: the vectors of what is searched for, before any snapshot is open."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.hyde.merge_vectors import merge_vectors
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.state_machine import Stage
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import BudgetExceeded, DependencyUnavailable, Permanent, Retryable, SpaceMismatch
from agentic_rag.models.embedding.ports import EmbedderSource


class EmbedStage:
    """One call for all parts and the whole question, whose vector a part uses that waits for another's findings."""

    stage = Stage.EMBED

    def __init__(self, embedders: EmbedderSource) -> None:
        self._embedders = embedders

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the vectors; an embedder that fails leaves the arms that need none."""
        return await embed_searches(self._embedders, state)


async def embed_searches(embedders: EmbedderSource, state: RunState) -> StageResult:
    """The state with the vectors of its searches in the state's space. Errors: `SpaceMismatch`."""
    if state.options.weights.vector == 0:
        return StageResult(state, outcome="skipped: the text arms have no weight")
    parts = state.plan.sub_questions if state.plan else ()
    waiting = [bool(part.depends_on) for part in parts] or [False]
    texts = [state.standalone if waits else text for waits, text in zip(waiting, state.searches, strict=True)]
    divided = len(parts) > 1
    distinct = list(dict.fromkeys((*texts, state.standalone) if divided else texts))
    written = [] if state.hyde_text is None else [state.hyde_text]
    try:
        matrix = (
            await (await embedders.of(state.question.workspace)).for_space(state.space).embed([*distinct, *written])
        )
    except SpaceMismatch:
        raise
    except (BudgetExceeded, Retryable, Permanent, DependencyUnavailable) as error:
        degraded = tuple(dict.fromkeys((*state.degraded, Dependency.EMBEDDER)))
        return StageResult(replace(state, vectors=(), degraded=degraded), outcome=f"degraded: {error.code}")
    found = dict(zip(distinct, matrix, strict=False))
    if written:
        asked = state.standalone if divided else texts[0]
        found[asked] = merge_vectors(found[asked], matrix[-1])
    vectors = tuple(found[text] for text in texts)
    whole = found[state.standalone] if divided else None
    return StageResult(replace(state, vectors=vectors, whole_vector=whole))
