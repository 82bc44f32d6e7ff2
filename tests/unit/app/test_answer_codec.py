import math
from dataclasses import fields
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.app.answer_codec import UnreadableAnswer, decode, encode
from agentic_rag.domain.answers import (
    Abstention,
    AbstentionReason,
    Answer,
    AnswerDebug,
    AnswerType,
    CandidateTrace,
    Citation,
    Dependency,
    Directives,
    Downgrade,
    FeatureContribution,
    GateDecision,
    Outcome,
    Plan,
    SelfCheckReport,
    SubQuestion,
    TextSpan,
    ToolCall,
    ToolRequest,
)
from agentic_rag.domain.retrieval import ArmScore, Retriever

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
real = st.floats(allow_nan=False, allow_infinity=False)
count = st.integers(0, 2**31 - 1)


def _tuples(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=3).map(tuple)


arms = _tuples(st.builds(ArmScore, st.sampled_from(Retriever), count, real, real, real))
spans = st.builds(TextSpan, count, count)
citations = st.builds(
    Citation, count, st.uuids(), st.uuids(), st.uuids(), count, text, text, st.none() | text, text, spans,
    _tuples(spans), st.none() | count, count, count, _tuples(text), real, arms, text, st.booleans(),
)  # fmt: skip
gates = st.builds(
    GateDecision,
    st.builds(Directives, st.booleans(), st.booleans(), st.booleans()),
    text,
    real,
    st.dictionaries(text, real, max_size=3).map(MappingProxyType),
    _tuples(st.builds(FeatureContribution, text, real, real, real)),
    _tuples(st.builds(Downgrade, text, text, text)),
    text,
    text,
)
plans = st.builds(
    Plan,
    _tuples(st.builds(SubQuestion, text, _tuples(count))),
    st.sampled_from(AnswerType),
    _tuples(st.builds(ToolRequest, text, text)),
    text,
)
debugs = st.builds(
    AnswerDebug,
    st.none() | plans,
    st.none() | text,
    st.none() | text,
    st.none() | text,
    _tuples(st.builds(CandidateTrace, st.uuids(), st.uuids(), text, real, arms, st.none() | text)),
    _tuples(st.builds(ToolCall, text, text, st.none() | text, st.none() | text, real)),
    st.none() | st.builds(SelfCheckReport, real, _tuples(text), _tuples(text), st.booleans()),
)
abstentions = st.builds(Abstention, st.sampled_from(AbstentionReason), text, _tuples(citations))
answers = st.builds(
    Answer,
    text,
    st.sampled_from(Outcome),
    st.none() | abstentions,
    _tuples(citations),
    _tuples(st.sampled_from(Dependency)),
    gates,
    debugs,
)


@settings(max_examples=60)
@given(answers)
def test_an_answer_survives_the_cache_exactly(answer: Answer) -> None:
    value = encode(answer)
    again = decode(value)
    assert again == answer
    assert encode(again) == value
    assert type(again.gate.thresholds) is MappingProxyType
    assert not math.isnan(again.gate.score)


def test_every_field_of_an_answer_is_carried() -> None:
    assert [one.name for one in fields(Answer)] == [
        "text", "outcome", "abstention", "citations", "degraded", "gate", "debug",
    ]  # fmt: skip


@pytest.mark.parametrize("value", [b"", b"{}", b"[]", b"[0]", b"[1]", b"[1,2,3,4,5,6,7,8]", b'"x"', b"null", b"\xff"])
def test_other_bytes_are_unreadable(value: bytes) -> None:
    with pytest.raises(UnreadableAnswer):
        decode(value)
