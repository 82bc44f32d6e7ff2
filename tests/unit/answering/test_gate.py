import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.query.gate import HEURISTIC_WEIGHTS, GateSignals, decide, extract_signals

signals = st.builds(
    GateSignals,
    content_terms=st.integers(0, 40),
    entities=st.integers(0, 9),
    question_form=st.booleans(),
    refers_to_history=st.booleans(),
    chit_chat=st.booleans(),
    calculation=st.booleans(),
    corpus_empty=st.booleans(),
    wants_recent=st.booleans(),
    wants_web=st.booleans(),
)


def _signals(question: str, *, terms: int = 3, calculation: bool = False, empty: bool = False) -> GateSignals:
    return extract_signals(question, content_terms=terms, follows_up=False, calculation=calculation, corpus_empty=empty)


@given(signals)
def test_the_score_is_the_sum_of_the_contributions_shown(given_signals: GateSignals) -> None:
    decision = decide(given_signals)
    assert decision.score == pytest.approx(sum(one.contribution for one in decision.contributions), abs=1e-5)
    assert {one.name for one in decision.contributions} == set(HEURISTIC_WEIGHTS.weights)
    assert decision.directives.use_retrieval == (decision.score >= decision.thresholds["retrieve"])
    assert decision.weights_version == "gate-heuristic-1"


@given(signals)
def test_search_and_crawl_stay_off_and_a_wish_for_them_is_recorded(given_signals: GateSignals) -> None:
    decision = decide(given_signals)
    assert not decision.directives.use_search
    assert not decision.directives.use_crawl
    assert bool(decision.downgrades) == (decision.score >= decision.thresholds["search"])


@pytest.mark.parametrize("question", ["What is the wave limit?", "pitch bearing", "wave limit for transfers"])
def test_an_ordinary_question_is_retrieved(question: str) -> None:
    assert decide(_signals(question)).directives.use_retrieval


@pytest.mark.parametrize(
    "question", ["Hello!", "thanks", "Good morning everyone", "How are you today?", "ok, thank you"]
)
def test_chit_chat_is_not(question: str) -> None:
    assert not decide(_signals(question, terms=1)).directives.use_retrieval


def test_neither_are_calculations_nor_questions_to_an_empty_corpus() -> None:
    assert not decide(_signals("What is 2 + 2?", calculation=True)).directives.use_retrieval
    assert not decide(_signals("What is the wave limit?", terms=40, empty=True)).directives.use_retrieval


def test_the_latest_news_from_the_web_is_wanted_and_refused_with_the_reason() -> None:
    decision = decide(_signals("What are the latest tidal tariffs on the web?", terms=6))
    assert decision.plan_type == "retrieve"
    assert decision.downgrades[0].reason == "web search and crawling are switched off"


@pytest.mark.parametrize(
    ("question", "entities"),
    [("What is the wave limit?", 0), ("Who runs Otter Voe and SKN-03?", 2), ("Is the MV Petrel Dawn ours?", 1)],
)
def test_names_count_as_entities_but_not_a_first_word(question: str, entities: int) -> None:
    assert _signals(question).entities == entities
