"""Embed: the vectors of the searches, before any snapshot is open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.hyde.merge_vectors import merge_vectors
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.stage import note_degraded
from agentic_rag.kernel.dependency import DATABASE_CHECK, Dependency
from agentic_rag.kernel.errors import BudgetExceeded, DependencyUnavailable, Permanent, Retryable, SpaceMismatch
from agentic_rag.models.embedding.ports import Embedder, EmbedderSource

Vectors = Mapping[str, NDArray[np.float32]]
"""Vectors by text."""


class EmbedStage:
    """Embeds all searches and the undivided question in one call."""

    def __init__(self, embedders: EmbedderSource) -> None:
        self._embedders = embedders

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the vectors. Without an embedder the arms that need no vector remain."""
        return await embed_searches(self._embedders, state)


async def embed_searches(embedders: EmbedderSource, state: RunState) -> StageResult:
    """The state with the vectors of its searches in the state's space. Errors: `SpaceMismatch`, and
    `DependencyUnavailable` of our database, which holds the keys and models of an organisation.
    """
    if state.options.search.weights.vector == 0:
        return StageResult(state, outcome="skipped: the text arms have no weight")
    question = state.question
    parts = question.sub_questions
    texts = [
        question.text if part.depends_on else search for part, search in zip(parts, question.searches, strict=True)
    ]
    is_divided = len(parts) > 1
    whole = question.text if is_divided else texts[0]
    try:
        embedder = (await embedders.of(question.asked.workspace)).for_space(state.space)
        _, found = await embed_with_passage(embedder, (*texts, whole), whole, question.hyde_text)
    except SpaceMismatch:
        raise
    except (BudgetExceeded, Retryable, Permanent, DependencyUnavailable) as error:
        if isinstance(error, DependencyUnavailable) and error.dependency == DATABASE_CHECK:
            raise
        without = replace(state, question=replace(question, vectors=()))
        return StageResult(note_degraded(without, Dependency.EMBEDDER), outcome=f"degraded: {error.code}")
    embedded = replace(
        question,
        vectors=tuple(found[text] for text in texts),
        whole_vector=found[question.text] if is_divided else None,
    )
    return StageResult(replace(state, question=embedded))


async def embed_with_passage(
    embedder: Embedder, texts: Iterable[str], whole: str, passage: str | None
) -> tuple[Vectors, Vectors]:
    """The vectors of the texts, each embedded once, in one call: as they are; and as they are searched with, where that
    of `whole` leans towards the hypothetical passage. The same object twice without a passage.
    """
    distinct = list(dict.fromkeys(texts))
    passages = () if passage is None else (embedder.space.as_passage(passage),)
    matrix = await embedder.embed([*map(embedder.space.as_question, distinct), *passages])
    alone = dict(zip(distinct, matrix, strict=False))
    if passage is None or whole not in alone:
        return alone, alone
    return alone, {**alone, whole: merge_vectors(alone[whole], matrix[-1])}
