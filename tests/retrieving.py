"""Retrieval alone, as answering does it but for the plan: what the quality and the speed table measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agentic_rag.bootstrap import Container
from agentic_rag.kernel.errors import SnapshotOutdated
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.fusion import dense_trust_of
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.query import QueryVector, RetrievalQuery
from agentic_rag.retrieval.retrieve import RetrievalResult
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef


async def retrieved(
    container: Container,
    workspace: WorkspaceRef,
    text: str,
    vector: NDArray[np.float32],
    weights: FusionWeights,
    top_k: int,
) -> RetrievalResult:
    """The best passages for one text with these shares of the arms, on a snapshot of its own. It is opened as answers
    and searches open theirs: it may be deferred, and is begun again where it was outdated.
    """
    try:
        return await _retrieved(container, workspace, text, vector, weights, top_k, may_defer=True)
    except SnapshotOutdated:
        return await _retrieved(container, workspace, text, vector, weights, top_k, may_defer=False)


async def _retrieved(
    container: Container,
    workspace: WorkspaceRef,
    text: str,
    vector: NDArray[np.float32],
    weights: FusionWeights,
    top_k: int,
    *,
    may_defer: bool,
) -> RetrievalResult:
    async with container.database.snapshot(workspace, may_defer=may_defer) as snapshot:
        return await container.retrieve.run(
            snapshot,
            RetrievalQuery(
                workspace_id=workspace.workspace_id,
                text=text,
                vector=QueryVector(container.embedder.space, vector),
                scope=SearchScope((DEFAULT_ACCESS_ID,)),
                top_k=top_k,
                weights=weights,
                dense_trust=dense_trust_of(container.embedder.space),
            ),
        )
