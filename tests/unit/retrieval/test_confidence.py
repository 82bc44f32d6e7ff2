from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.retrieval.candidates import ArmHit, Retriever
from agentic_rag.retrieval.confidence import MARGIN_RANKS, NO_CONFIDENCE, measure_confidence


def _hits(scores: list[float]) -> list[ArmHit]:
    return [ArmHit(ordinal, score, score) for ordinal, score in enumerate(scores)]


def test_the_best_passage_is_measured_against_the_one_some_places_behind() -> None:
    dense = _hits([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3])
    found = measure_confidence({Retriever.DENSE: dense, Retriever.LEXICAL: []}, 0.0, 1.0)
    assert (found.top_score, found.dense_score, found.margin) == (0.9, 0.9, 0.5)


def test_a_corpus_of_few_passages_has_nothing_behind_the_best() -> None:
    found = measure_confidence({Retriever.LEXICAL: _hits([0.6, 0.5])}, 1.0, 0.1)
    assert (found.top_score, found.dense_score, found.margin) == (0.6, 0.0, 0.6)


def test_nothing_found_stands_nowhere() -> None:
    assert measure_confidence({Retriever.DENSE: [], Retriever.LEXICAL: []}, 0.5, 1.0) == NO_CONFIDENCE


@given(st.lists(st.floats(0.0, 1.0), max_size=20), st.lists(st.floats(0.0, 1.0), max_size=20), st.floats(0.0, 1.0))
def test_all_three_lie_between_0_and_1(dense: list[float], lexical: list[float], share: float) -> None:
    found = measure_confidence({Retriever.DENSE: _hits(dense), Retriever.LEXICAL: _hits(lexical)}, share, 1.0)
    assert 0.0 <= found.margin <= found.top_score <= 1.0
    assert found.dense_score <= 1.0
    assert found.margin == found.top_score or max(len(dense), len(lexical)) > MARGIN_RANKS
