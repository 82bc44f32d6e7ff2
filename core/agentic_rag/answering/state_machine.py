"""The state machine of a run: stages, transition table, time shares. `answering.ask` runs it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType

from agentic_rag.kernel.clock import Deadline

PIPELINE_VERSION = "spine-90"
"""Changes whenever equal input may give another answer: part of every cache key and run."""


class Stage(enum.Enum):
    """A step of a run."""

    GATE = "gate"
    PLAN = "plan"
    REWRITE = "rewrite"
    HYDE = "hyde"
    EMBED = "embed"
    RETRIEVE = "retrieve"
    TOOLS = "tools"
    SYNTHESIZE = "synthesize"
    SELF_CHECK = "self_check"
    SEARCH = "search"
    DONE = "done"


class StageEvent(enum.Enum):
    """The event of a stage's result for the rest of the run."""

    CONTINUE = "continue"
    """The usual next stage."""
    WITHOUT_RETRIEVAL = "without_retrieval"
    """The gate forbids retrieval: straight to the tools."""
    REPAIR = "repair"
    """Sentences of the draft were refused: write it again without them."""
    FINISH = "finish"
    """The documents have had their say: straight to the question whether to look outside."""
    RETRIEVE_AGAIN = "retrieve_again"
    """Looking outside brought documents: search them with the same plan."""
    BEGIN_AGAIN = "begin_again"
    """Looking outside brought the first documents: the run had no plan to search them by."""
    OUT_OF_TIME = "out_of_time"
    """The deadline passed inside the stage."""


_USUAL = (
    Stage.GATE,
    Stage.PLAN,
    Stage.REWRITE,
    Stage.HYDE,
    Stage.EMBED,
    Stage.RETRIEVE,
    Stage.TOOLS,
    Stage.SYNTHESIZE,
    Stage.SELF_CHECK,
    Stage.SEARCH,
    Stage.DONE,
)

TRANSITIONS: Mapping[tuple[Stage, StageEvent], Stage] = MappingProxyType(
    {
        **{(stage, StageEvent.CONTINUE): after for stage, after in pairwise(_USUAL)},
        **{(stage, StageEvent.OUT_OF_TIME): Stage.DONE for stage in _USUAL[:-1]},
        **{(stage, StageEvent.FINISH): Stage.SEARCH for stage in _USUAL[:-2]},
        (Stage.EMBED, StageEvent.OUT_OF_TIME): Stage.RETRIEVE,
        (Stage.PLAN, StageEvent.WITHOUT_RETRIEVAL): Stage.TOOLS,
        (Stage.SELF_CHECK, StageEvent.REPAIR): Stage.SYNTHESIZE,
        (Stage.SEARCH, StageEvent.RETRIEVE_AGAIN): Stage.RETRIEVE,
        (Stage.SEARCH, StageEvent.BEGIN_AGAIN): Stage.GATE,
    }
)
"""Every legal transition; a missing pair is a bug. Whether to look outside is judged last, by the answer that the
documents gave. When the embedder runs out of time, the arms that need no vector
remain. A self-check may send the draft back once (`MAX_REPAIRS`), and looking outside the run (`RunState.outside`)."""

MAX_REPAIRS = 1

STAGE_SHARE: Mapping[Stage, float] = MappingProxyType({Stage.EMBED: 0.6, Stage.RETRIEVE: 0.9, Stage.TOOLS: 0.95})
"""Share of the time left that a waiting stage may use, so that the later stages can still answer."""


_AWAITING = frozenset({Stage.EMBED, Stage.RETRIEVE, Stage.TOOLS, Stage.SELF_CHECK})
"""Stages that are cut off at the deadline. The others compute in bounded time; a call to a chat model ends by itself at
a share of the time left (`models.providers.llm_client`)."""


def next_stage(stage: Stage, event: StageEvent) -> Stage:
    """The stage after `stage` ended with `event`. Raises `KeyError` for an illegal pair."""
    return TRANSITIONS[stage, event]


def stage_seconds(deadline: Deadline, stage: Stage, now: float) -> float | None:
    """Seconds that `stage` may use; None for one that is not cut off."""
    return deadline.remaining(now) * STAGE_SHARE.get(stage, 1.0) if stage in _AWAITING else None
