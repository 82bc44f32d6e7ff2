"""The contribution of each retrieval arm: the same questions with one arm off, paired with all arms on."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag_eval.comparison import Comparison, compare, read_figures
from agentic_rag_eval.comparison import as_json as comparison_json
from agentic_rag_eval.harness import EvalReport, as_json
from agentic_rag_eval.resampling import format_change

SHOWN = ("recall@5", "recall@10", "all_gold@5", "ndcg@10", "mrr", "span@5", "answer_contained", "f1")
"""Figures of the table; the JSON report contains all."""


class Arm(enum.Enum):
    """A retrieval arm that can be switched off."""

    DENSE = "dense"
    LEXICAL = "lexical"
    GRAPH = "graph"


def without(arm: Arm, weights: FusionWeights) -> FusionWeights:
    """The weights with one arm at zero."""
    match arm:
        case Arm.DENSE:
            return replace(weights, lexical_share=1.0)
        case Arm.LEXICAL:
            return replace(weights, lexical_share=0.0)
        case Arm.GRAPH:
            return replace(weights, graph=0.0)


def compare_arms(whole: EvalReport, reports: Mapping[Arm, EvalReport]) -> dict[Arm, Comparison]:
    """Compare all arms with all but one; a positive difference is the contribution of that arm."""
    everything = read_figures(as_json(whole))
    return {arm: compare(read_figures(as_json(report)), everything) for arm, report in reports.items()}


def as_json_values(added: Mapping[Arm, Comparison]) -> dict[str, Any]:
    """Arm → figure → difference, as plain JSON values."""
    return {arm.value: comparison_json(one)["figures"] for arm, one in added.items()}


def as_table(added: Mapping[Arm, Comparison]) -> str:
    """The differences as lines for a terminal, in points of a hundred."""
    lines = [f"  {'what an arm adds':<24}" + "".join(f"{arm.value:>24}" for arm in added)]
    for name in SHOWN:
        found = [one.differences.get(name) for one in added.values()]
        if any(found):
            lines.append(
                f"  {name:<24}" + "".join(f"{format_change(one.difference) if one else '–':>24}" for one in found)
            )
    return "\n".join(lines)
