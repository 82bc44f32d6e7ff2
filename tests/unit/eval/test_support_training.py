import random

import pytest
from eval.training.fit_support import LEAST_WEIGHT, MOST_BY_DEFAULT, SupportSet, train_support

from agentic_rag.answering.evidence.answerability import NEGATIVE_FEATURES, AnswerabilityFeatures, SupportWeights
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.support_calibration import AskedSupport

_WIDTH = len(AnswerabilityFeatures.__dataclass_fields__)
_NAMES = list(AnswerabilityFeatures.__dataclass_fields__)


def _set(name: str, shift: float, seed: int, questions: int = 80) -> SupportSet:
    """The first sign tells both halves apart, the second only the set, the others nothing."""
    chance = random.Random(seed)

    def row(answerable: bool) -> tuple[float, ...]:
        rest = [chance.random() for _ in range(_WIDTH - 2)]
        return (chance.gauss(0.6 if answerable else 0.4, 0.1), shift, *rest)

    asked = [AskedSupport(0.5, kind, row(kind)) for kind in (True, False) for _ in range(questions)]
    return SupportSet(name, tuple(asked))


def test_what_tells_the_halves_apart_gets_the_weight_and_what_tells_sets_apart_none() -> None:
    found = train_support([_set("a", 0.0, 1), _set("b", 1.0, 2)], [0.0] * _WIDTH)
    weights = [abs(found.weights[name]) for name in _NAMES]
    assert max(weights) == weights[0]
    assert weights[1] < 0.1 * weights[0]


def test_a_set_is_also_judged_by_weights_that_never_saw_it() -> None:
    found = train_support([_set("a", 0.0, 1), _set("b", 1.0, 2)], [0.0] * _WIDTH)
    assert found.in_force["a"].auroc == 0.5
    left_out = found.left_out["a"]
    assert left_out is not None
    assert left_out.auroc > 0.85
    assert found.fitted["a"].auroc > 0.85


def test_a_sign_never_counts_against_its_meaning_nor_for_nothing() -> None:
    found = train_support([_set("a", 0.0, 1), _set("b", 1.0, 2)], [0.0] * _WIDTH)
    for name, weight in found.weights.items():
        assert weight <= -LEAST_WEIGHT if name in NEGATIVE_FEATURES else weight >= LEAST_WEIGHT


def test_the_offset_lets_the_default_threshold_abstain_on_few_answerable_questions_of_every_set() -> None:
    found = train_support([_set("a", 0.0, 1), _set("b", 1.0, 2)], [0.0] * _WIDTH)
    shares = [one.answerable for one in found.by_default.values()]
    assert 0.0 < max(shares) <= MOST_BY_DEFAULT
    assert all(one.others > one.answerable for one in found.by_default.values())


def test_a_single_set_has_nothing_to_leave_out() -> None:
    assert train_support([_set("a", 0.0, 1)], [0.0] * _WIDTH).left_out == {"a": None}


def test_a_set_without_one_kind_of_question_is_refused() -> None:
    only = SupportSet("a", (AskedSupport(0.5, answerable=True, signs=(0.0,) * _WIDTH),))
    with pytest.raises(InvalidInput, match="with and without"):
        train_support([only], [0.0] * _WIDTH)


def test_the_code_has_a_weight_for_every_sign() -> None:
    assert [*AnswerabilityFeatures.__dataclass_fields__, "offset"] == list(SupportWeights.__dataclass_fields__)
