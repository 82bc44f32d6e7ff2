"""What the fit of the certainty makes of answers whose right ones are known."""

from __future__ import annotations

import json
import random

import pytest
from eval.training.fit_certainty import train_certainty
from eval.training.fit_support import SupportSet
from eval.training.train_certainty import ENOUGH, sets_of, supported_sets_of

from agentic_rag.answering.evidence.certainty import CertaintySigns
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.support_calibration import AskedSupport

_NAMES = list(CertaintySigns.__dataclass_fields__)


def _set(name: str, seed: int, answers: int = 60) -> SupportSet:
    """The first sign tells right from wrong, the others nothing; every second wrong one lacks its documents."""
    chance = random.Random(seed)

    def asked(place: int) -> AskedSupport:
        right = place % 2 == 0
        signs = (chance.gauss(0.7 if right else 0.3, 0.1), *(chance.random() for _ in _NAMES[1:]))
        return AskedSupport(0.5, answerable=place % 4 != 1, certainty=signs, right=right)

    return SupportSet(name, tuple(asked(place) for place in range(answers)))


def test_the_sign_that_tells_right_from_wrong_gets_the_weight() -> None:
    found = train_certainty([_set("a", 1), _set("b", 2)])
    first, *others = (abs(found.weights[name]) for name in _NAMES)
    assert first > 5 * max(others)


def test_a_set_is_judged_by_weights_that_never_saw_it() -> None:
    judged = train_certainty([_set("a", 1), _set("b", 2)]).left_out["a"]
    assert judged is not None
    assert judged.auroc > 0.95
    assert judged.lacking < 0.1 < 0.8 < judged.right
    assert judged.removed < 0.1
    assert train_certainty([_set("a", 1)]).left_out == {"a": None}


def test_answers_that_were_not_weighed_do_not_count() -> None:
    known = _set("a", 1)
    more = SupportSet("a", (*known.asked, *[AskedSupport(0.1, answerable=True, right=False)] * 50))
    assert train_certainty([more]) == train_certainty([known])


def test_signs_that_are_not_asked_for_count_nothing() -> None:
    found = train_certainty([_set("a", 1), _set("b", 2)], ("odds", "apart"))
    assert {name for name, weight in found.weights.items() if weight} <= {"odds", "apart"}
    assert train_certainty([_set("a", 1), _set("b", 2)], ("held",)).weights["held"] > 0


def _row(corpus: str, worth: int, outcome: str = "GROUNDED", *, answerable: bool = True) -> str:
    signs = [0.5] * len(_NAMES)
    told = {"corpus": corpus, "answerable": answerable, "outcome": outcome, "worth": worth}
    return json.dumps({**told, "support": [0.25], "certainty": signs})


def test_kept_answers_are_sets_of_right_and_wrong_ones_by_corpus() -> None:
    rows = [
        _row("yard", 4), _row("yard", 0), _row("yard", 1), _row("yard", 0, "ABSTAINED"),
        _row("yard", 0, answerable=False), _row("dock", 4), _row("dock", 1),
    ]  # fmt: skip

    (only,) = sets_of("\n".join(rows))

    assert only.name == "yard"
    assert [(one.right, one.answerable) for one in only.asked] == [(True, True), (False, True), (False, False)]


def test_support_is_fitted_on_abstentions_too_and_on_corpora_with_enough_of_both_sorts() -> None:
    yard = [_row("yard", 0, "ABSTAINED"), *[_row("yard", 4)] * (ENOUGH - 1)]
    without = [_row("yard", 0, answerable=False)] * ENOUGH
    few = [*[_row("dock", 4)] * ENOUGH, *[_row("dock", 0, answerable=False)] * (ENOUGH - 1)]

    (only,) = supported_sets_of("\n".join([*yard, *without, *few]))

    assert only.name == "yard"
    assert [one.answerable for one in only.asked] == [True] * ENOUGH + [False] * ENOUGH
    assert {one.signs for one in only.asked} == {(0.25,)}


def test_a_set_without_a_right_answer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="right and wrong"):
        train_certainty([SupportSet("a", tuple(one for one in _set("a", 1).asked if not one.right))])
