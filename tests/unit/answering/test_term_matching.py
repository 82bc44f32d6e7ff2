import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.extraction.subquery import build_subquery, terms_of
from agentic_rag.answering.extraction.term_matching import (
    find_hits,
    holds_phrase,
    lower_text,
    mask_of,
    weigh_terms,
    weight_of,
)
from agentic_rag.answering.plan import AnswerType


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("turbin", "Two turbines turn.", True),
        ("polici", "the policy holds", True),
        ("stop", "It was stopped.", True),
        ("port", "a portfolio of rights", False),
        ("port", "a report", False),
        ("car", "we take care", False),
        ("car", "two cars", True),
        ("1200", "the selkie 1200 trips", True),
        ("120", "the selkie 1200 trips", False),
        ("noisier", "the noise", True),
        ("productiv", "energy production", True),
        ("instal", "the installation", True),
        ("calibr", "after calibration", True),
        ("heavi", "net weight: 188 kg", True),
        ("wide", "width 700 mm", True),
        ("wide", "it is wider", True),
        ("high", "the height", True),
        ("form", "a formation", False),
        ("transfer", "they transform", False),
        ("interest", "international", False),
        ("潮流", "強い潮流です", True),
        ("citi", "the city of two cities", True),
        ("citi", "cited by citizens", False),
        ("dai", "after 14 days", True),
        ("dai", "on the day", True),
        ("dai", "daily data of a dairy", False),
        ("abl", "he is able to", True),
        ("make", "making tea", True),
        ("make", "a mask", False),
        ("bee", "records are being kept", False),
        ("bee", "bees are kept", True),
        ("care", "two cars", False),
        ("care", "caring for them", True),
        ("use", "by using it", True),
        ("taxi", "by taxi", True),
        ("e", "vitamin e", True),
        ("tax", "by taxi", False),
    ],
)
def test_a_term_is_found_in_its_written_forms_and_not_inside_other_words(term: str, text: str, found: bool) -> None:
    assert bool(mask_of(lower_text(text), weigh_terms([term], {}))) is found


@given(st.text(max_size=60))
def test_lower_case_keeps_every_offset(text: str) -> None:
    assert len(lower_text(text)) == len(text)


def test_weights_follow_rarity_and_sum_to_one() -> None:
    terms = weigh_terms(["common", "rare", "unknown", "rare"], {"common": 0.2, "rare": 0.8})
    assert [round(term.weight, 3) for term in terms] == [0.1, 0.4, 0.5]
    assert weight_of(0b111, terms) == pytest.approx(1.0)
    assert weight_of(0b101, terms) == pytest.approx(0.6)
    assert weigh_terms([], {}) == ()


def test_hits_say_where() -> None:
    terms = weigh_terms(["wave", "limit"], {})
    assert find_hits("a wave limit of waves", terms) == [(2, 1), (16, 1), (7, 2)]


def test_a_compound_name_is_matched_by_its_parts_and_asking_words_weigh_little() -> None:
    assert terms_of("What is the wave-height limit?") == ["wave", "height", "limit"]
    part = build_subquery("How long is the blade?", AnswerType.FIGURE, {})
    weights = {term.term: term.weight for term in part.terms}
    assert weights["long"] < weights["blade"]


@pytest.mark.parametrize(
    ("text", "phrase", "held"),
    [
        ("how much iron ore?", "iron ore", True),
        ("reception c in 2021", "reception a", False),
        ("the seat by the east wall", "eat", False),
        ("neat treats to eat", "eat", True),
        ("the wave_height limit", "wave", False),
        ("anything", "", False),
    ],
)
def test_a_phrase_stands_as_whole_words(text: str, phrase: str, held: bool) -> None:
    assert holds_phrase(text, phrase) is held
