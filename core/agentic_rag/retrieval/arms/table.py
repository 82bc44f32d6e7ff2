"""The table of retrieval arms. A new arm is a file beside this one, a row here and a name in `Retriever`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentic_rag.kernel.dependency import Dependency
from agentic_rag.retrieval.arms.arm import Arm, ExpandingArm, SeedArm
from agentic_rag.retrieval.arms.dense import search_dense
from agentic_rag.retrieval.arms.graph import expand_by_graph
from agentic_rag.retrieval.arms.lexical import search_lexical
from agentic_rag.retrieval.candidates import ArmHit, Retriever
from agentic_rag.retrieval.fusion import MODEL_TRUST, effective_lexical_share
from agentic_rag.retrieval.fusion_options import FusionWeights

SEED_ARMS: tuple[SeedArm, ...] = (
    SeedArm(Retriever.DENSE, lambda weights, lexical_share: weights.vector * (1.0 - lexical_share), search_dense),
    SeedArm(Retriever.LEXICAL, lambda weights, lexical_share: weights.vector * lexical_share, search_lexical),
)
"""The last one searches in this process while the database answers the others."""

EXPANDING_ARMS: tuple[ExpandingArm, ...] = (
    ExpandingArm(Retriever.GRAPH, lambda weights, _: weights.graph, expand_by_graph, Dependency.GRAPH),
)

ARMS: tuple[Arm, ...] = (*SEED_ARMS, *EXPANDING_ARMS)
"""In the order in which fusion adds their scores: another order could change the last bits of a sum."""


def arm_weights(
    arms: Mapping[Retriever, Sequence[ArmHit]], weights: FusionWeights, dense_trust: float = MODEL_TRUST
) -> dict[Retriever, float]:
    """The weight of each arm in fusion, in the order of the table."""
    share = effective_lexical_share(arms, weights, dense_trust)
    return {arm.name: arm.weight(weights, share) for arm in ARMS}
