"""Weights for the sentences along a trail, fitted on sentences that hold the answer and others."""

import random

import pytest

from agentic_rag.answering.extraction.candidate_units import CandidateUnit
from agentic_rag.answering.extraction.multi_hop import SentenceFeatures, SentenceWeights
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_eval.sentence_training import ReadQuestion, SentenceSet, train_sentences

_NAMES = list(SentenceWeights.__dataclass_fields__)
_FOCUS = _NAMES.index("focus")
_NONE = [0.0] * len(_NAMES)


def _sentence(passage: int, start: int, signs: list[float]) -> SentenceFeatures:
    unit = CandidateUnit(passage, start, start + 5, UnitKind.PROSE, 0, 0, 0, 0, False, (start, start + 5), None, 0.0)
    return SentenceFeatures(unit, tuple(signs))


def _set(name: str, seed: int, questions: int = 30) -> SentenceSet:
    """The sentence with the answer has the focus, and stands last of ten; all else is chance."""
    chance = random.Random(seed)
    asked: list[ReadQuestion] = []
    for _ in range(questions):
        read: list[SentenceFeatures] = []
        for place in range(10):
            signs = [chance.random() for _ in _NAMES]
            signs[_FOCUS] = float(place == 9)
            read.append(_sentence(place // 5, place, signs))
        asked.append(ReadQuestion(tuple(read), tuple(place == 9 for place in range(10))))
    return SentenceSet(name, tuple(asked))


def test_what_sentences_with_the_answer_have_gets_the_weight_in_sets_never_seen_too() -> None:
    found = train_sentences([_set("a", 1), _set("b", 2)], _NONE)
    assert max(found.weights, key=lambda name: abs(found.weights[name])) == "focus"
    assert found.fitted == {"a": 1.0, "b": 1.0}
    assert found.left_out == {"a": 1.0, "b": 1.0}
    assert found.by_score["a"] < 0.7


def test_questions_without_a_sentence_to_find_do_not_count() -> None:
    found = train_sentences([_with_others(_set("a", 1))], _NONE)
    assert found.questions == {"a": 30}
    assert found.left_out == {"a": None}


def test_a_set_without_any_question_that_counts_is_refused() -> None:
    none = SentenceSet("a", (ReadQuestion((_sentence(0, 0, _NONE),), (False,)),))
    with pytest.raises(InvalidInput, match="nothing can be learned"):
        train_sentences([none], _NONE)


def _with_others(given: SentenceSet) -> SentenceSet:
    missing = ReadQuestion(given.questions[0].read, (False,) * 10)
    return SentenceSet(given.name, (*given.questions, missing))
