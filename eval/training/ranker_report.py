"""What training the bridge's weights found, as a file that says where they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields

import numpy as np
from eval.training.fit_ranker import MeanFigures, TrainingSet, arms, figures_of, fit, multi_hop_score
from eval.training.ranker_pool import Floats

from agentic_rag.retrieval.graph.multi_hop import StepWeights

DIGITS = 1
"""The weights are rounded: more digits would only tell questions of the training sets apart."""


@dataclass(frozen=True, slots=True)
class TrainedRanker:
    """The rounded weights fitted on all sets, and how each set fares by the arms, by them, and by weights that were
    fitted without it.
    """

    weights: StepWeights
    embedder: str
    sets: Mapping[str, tuple[int, float]]
    """Questions of each set and what the set counts."""
    figures: Mapping[str, Mapping[str, MeanFigures]]
    """Set → `dense`, `lexical`, `fused`, `fitted`, `left_out`."""


def train(
    groups: Sequence[Sequence[TrainingSet]],
    embedder: str,
    leave_out: bool,
    progress: Callable[[str, int, int], None],
) -> TrainedRanker:
    """Fit on all sets, then without each group of sets that belong together."""
    everything = [one for group in groups for one in group]
    fitted = round_weights(fit(everything, lambda done, total: progress("all sets", done, total)))
    figures: dict[str, dict[str, MeanFigures]] = {}
    for one in everything:
        figures[one.name] = {name: figures_of(one.questions, score) for name, score in arms().items()}
        figures[one.name]["fitted"] = figures_of(one.questions, multi_hop_score(fitted))
    for group in groups if leave_out and len(groups) > 1 else ():
        names = ", ".join(one.name for one in group)
        others = [one for one in everything if one not in group]
        without = round_weights(fit(others, lambda done, total, names=names: progress(f"without {names}", done, total)))
        for one in group:
            figures[one.name]["left_out"] = figures_of(one.questions, multi_hop_score(without))
    return TrainedRanker(
        weights=StepWeights(*fitted.tolist()),
        embedder=embedder,
        sets={one.name: (len(one.questions), one.weight) for one in everything},
        figures=figures,
    )


def round_weights(weights: Floats) -> Floats:
    """As they are stored; no −0."""
    return np.round(weights, DIGITS) + 0.0


def as_json(found: TrainedRanker) -> dict[str, object]:
    """The file under `eval/`."""
    return {
        "weights": asdict(found.weights),
        "embedder": found.embedder,
        "sets": {name: {"questions": count, "weight": weight} for name, (count, weight) in found.sets.items()},
        "figures": {
            name: {
                ranking: {key: round(value, 4) for key, value in asdict(figures).items()}
                for ranking, figures in of.items()
            }
            for name, of in found.figures.items()
        },
    }


def as_table(found: TrainedRanker) -> str:
    """For people: R@5 / R@10 / nDCG@10 in percent, and the weights."""
    columns = ("dense", "lexical", "fused", "fitted", "left_out")
    lines = [f"{'set':24}" + "".join(f"{column:>20}" for column in columns)]
    for name, of in found.figures.items():
        cells = [
            " / ".join(f"{100 * value:.1f}" for value in astuple(of[column])) if column in of else "–"
            for column in columns
        ]
        lines.append(f"{name:24}" + "".join(f"{cell:>20}" for cell in cells))
    lines.append("")
    lines += [f"  {one.name:12} {getattr(found.weights, one.name):6.1f}" for one in fields(StepWeights)]
    return "\n".join(lines)
