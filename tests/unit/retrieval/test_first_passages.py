"""Which passages the graph starts from."""

from __future__ import annotations

from agentic_rag.retrieval.candidates import ArmHit, Retriever
from agentic_rag.retrieval.graph.multi_hop import first_passages


def test_an_arm_without_a_share_of_the_text_neither_fails_nor_decides_the_first_passages() -> None:
    arms = {
        Retriever.DENSE: [ArmHit(1, 0.9, 0.9)],
        Retriever.LEXICAL: [ArmHit(2, 7.0, 0.5)],
        Retriever.GRAPH: [ArmHit(2, 1.0, 1.0), ArmHit(3, 1.0, 1.0)],
    }

    assert first_passages(arms, 0.5) == [1, 2, 3]
