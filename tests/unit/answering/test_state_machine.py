import itertools

import pytest

from agentic_rag.answering.state_machine import TRANSITIONS, Stage, StageEvent, next_stage, stage_seconds
from agentic_rag.kernel.clock import Deadline

USUAL = ["gate", "plan", "rewrite", "hyde", "embed", "retrieve", "tools", "synthesize", "self_check", "search", "done"]
DETOURS = {
    ("plan", "without_retrieval"): "tools",
    ("self_check", "repair"): "synthesize",
    ("embed", "out_of_time"): "retrieve",
    ("search", "retrieve_again"): "retrieve",
    ("search", "begin_again"): "gate",
}


def _expected(stage: Stage, verdict: StageEvent) -> str | None:
    if stage is Stage.DONE:
        return None
    if (stage.value, verdict.value) in DETOURS:
        return DETOURS[stage.value, verdict.value]
    if verdict is StageEvent.CONTINUE:
        return USUAL[USUAL.index(stage.value) + 1]
    if verdict is StageEvent.FINISH and stage is not Stage.SEARCH:
        return "search"
    return "done" if verdict is StageEvent.OUT_OF_TIME else None


@pytest.mark.parametrize(("stage", "verdict"), list(itertools.product(Stage, StageEvent)))
def test_every_pair_of_stage_and_verdict_is_legal_exactly_as_listed(stage: Stage, verdict: StageEvent) -> None:
    expected = _expected(stage, verdict)
    if expected is None:
        with pytest.raises(KeyError):
            next_stage(stage, verdict)
    else:
        assert next_stage(stage, verdict).value == expected


def test_the_table_ends_in_done_from_everywhere() -> None:
    for stage in Stage:
        seen, at = set[Stage](), stage
        while at is not Stage.DONE:
            assert at not in seen
            seen.add(at)
            at = TRANSITIONS[at, StageEvent.CONTINUE]


def test_a_stage_leaves_time_for_what_follows() -> None:
    deadline = Deadline(at=10.0)
    assert stage_seconds(deadline, Stage.RETRIEVE, 0.0) == pytest.approx(9.0)
    assert stage_seconds(deadline, Stage.SELF_CHECK, 4.0) == pytest.approx(6.0)
    assert stage_seconds(deadline, Stage.RETRIEVE, 11.0) == 0.0
    assert stage_seconds(deadline, Stage.SYNTHESIZE, 0.0) is None
