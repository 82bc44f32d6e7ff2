"""The weights of the gate and its thresholds, versioned together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

import msgspec

from agentic_rag.kernel.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class GateWeights:
    """Weights by signal, and the scores from which a run searches (`search`) and crawls too (`full_loop`).

    Raises `ValueError` where the thresholds do not rise, or where leave to look outside would speak against doing so.
    """

    version: str
    weights: Mapping[str, float]
    search: float
    full_loop: float
    care_span: float
    """How far the knob between cost (0) and care (1) moves both thresholds, from end to end."""

    def __post_init__(self) -> None:
        if not self.search <= self.full_loop:
            raise ValueError("`search` is at most `full_loop`.")
        if self.weights["policy"] < 0 or self.weights["budget_left"] < 0 or self.care_span < 0:
            raise ValueError("`policy`, `budget_left` and `care_span` are not negative.")

    def thresholds(self, care: float) -> Mapping[str, float]:
        """The thresholds at a position of the knob."""
        shift = self.care_span * (0.5 - care)
        return MappingProxyType(
            {"search": round(self.search + shift, 6), "full_loop": round(self.full_loop + shift, 6)}
        )


HEURISTIC_WEIGHTS = GateWeights(
    version="gate-heuristic-3",
    weights=MappingProxyType(
        {
            "base": 1.5,
            "chit_chat": -3.0,
            "calculation": -3.0,
            "no_content": -3.0,
            "corpus_empty": 0.0,
            "wants_web": 0.6,
            "recent_turns": -0.2,
            "intent_lookup": 0.0,
            "intent_explain": 0.0,
            "intent_compare": 0.0,
            "intent_list": 0.0,
            "intent_fresh_news": 0.2,
            "intent_code": 0.0,
            "hit_rate": -0.1,
            "margin": -0.1,
            "coverage": -0.2,
            "freshness": -0.6,
            "sufficiency": -1.0,
            "support": 0.0,
            "certainty": 0.0,
            "policy": 0.1,
            "budget_left": 0.1,
            "profile": 0.3,
        }
    ),
    search=0.2,
    full_loop=0.55,
    care_span=0.5,
)
"""Set by hand, fitted on nothing. An answer that is sufficient and in time stays below `search`; one that is out of
time, or not established, reaches it; an abstention reaches `full_loop`. A weight of 0 waits for outcomes to learn
from: nobody has shown that a kind of question needs the web by being of that kind.
"""

LEARNED_WEIGHTS = replace(
    HEURISTIC_WEIGHTS,
    version="gate-learned-3bfb5d63",
    weights=MappingProxyType(
        {
            **HEURISTIC_WEIGHTS.weights,
            "base": 1.9697,
            "intent_fresh_news": 0.0,
            "hit_rate": -0.110531,
            "margin": 0.0,
            "coverage": -0.289066,
            "freshness": -1.057629,
            "sufficiency": -0.074158,
            "support": -0.35423,
            "certainty": -0.314386,
        }
    ),
)
"""Learned from 3,480 labelled cases (`rag gate learn`); eval/rag_gate has what they are worth."""

IN_FORCE = LEARNED_WEIGHTS
"""By which runs are judged."""

KNOWN: Mapping[str, GateWeights] = MappingProxyType({one.version: one for one in (HEURISTIC_WEIGHTS, LEARNED_WEIGHTS)})
"""By version: what a trial may name."""


@dataclass(frozen=True, slots=True)
class WeightsTrial:
    """Other weights than those in force, by which the runs of a share of the workspaces are judged."""

    version: str
    share: float
    """0 to 1."""
    weights: GateWeights | None = None
    """None: those of `KNOWN`."""


def weights_for(workspace_id: UUID, trial: WeightsTrial | None) -> GateWeights:
    """The weights of a workspace: the same in every process, and for as long as the trial is the same."""
    if trial is None:
        return IN_FORCE
    drawn = sha256(f"{trial.version} {workspace_id}".encode()).digest()[:8]
    is_drawn = int.from_bytes(drawn, "big") < trial.share * 2**64
    if not is_drawn:
        return IN_FORCE
    return KNOWN[trial.version] if trial.weights is None else trial.weights


LEARNED_VERSION = re.compile(r"gate-learned-[0-9a-f]{8}")
"""How `rag gate learn` names what it learned."""


class _Model(msgspec.Struct):
    weights: GateWeights


class _Metrics(msgspec.Struct):
    version: str
    promoted: bool
    reason: str


def with_own_weights(trial: WeightsTrial, folder: Path) -> WeightsTrial:
    """The trial with weights that the product does not know: of `folder`/VERSION, as `rag gate learn` writes it.

    Errors: `Misconfigured` code GATE_WEIGHTS_INVALID, also for weights that were refused.
    """
    if trial.version in KNOWN:
        return trial
    place = folder / trial.version
    try:
        weights = msgspec.json.decode((place / "model.json").read_bytes(), type=_Model).weights
        metrics = msgspec.json.decode((place / "metrics.json").read_bytes(), type=_Metrics)
    except (OSError, ValueError, KeyError) as error:
        raise _invalid(place, str(error)) from error
    if not weights.version == metrics.version == trial.version:
        raise _invalid(place, f"they are of {weights.version}")
    if not metrics.promoted:
        raise _invalid(place, metrics.reason)
    if weights.weights.keys() != IN_FORCE.weights.keys():
        raise _invalid(place, "they are of other signals")
    return replace(trial, weights=replace(weights, weights=MappingProxyType(dict(weights.weights))))


def _invalid(place: Path, why: str) -> Misconfigured:
    return Misconfigured(f"The weights of {place} cannot be tried: {why}.", code="GATE_WEIGHTS_INVALID")
