import math
from dataclasses import fields
from datetime import UTC
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.answer import (
    Abstention,
    AbstentionReason,
    Answer,
    AnswerDebug,
    Citation,
    FetchedText,
    Outcome,
    SearchSettings,
    SelfCheckReport,
    Support,
    TextSpan,
)
from agentic_rag.answering.gate_decision import Directives, Downgrade, FeatureContribution, GateDecision
from agentic_rag.answering.plan import AnswerType, Plan, SubQuestion, ToolCall, ToolRequest
from agentic_rag.answering.runs.answer_codec import decode, encode
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.documents.metadata import Comparison, FieldCondition
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.language.prompt_injection import Suspicion
from agentic_rag.retrieval.candidates import ArmScore, CandidateTrace, Hop, HopKind, Retriever
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights

STORED = Path(__file__).with_name("stored_answer.json")
"""Written by the codec that stored runs before msgspec, with nearly every field filled."""

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
real = st.floats(allow_nan=False, allow_infinity=False)
count = st.integers(0, 2**31 - 1)


def _tuples(of: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(of, max_size=2).map(tuple)


arms = _tuples(st.builds(ArmScore, st.sampled_from(Retriever), count, real, real, real))
hops = st.lists(
    st.builds(
        Hop, st.sampled_from(HopKind), text, *[st.just(UUID(int=7))] * 2, text, *[st.just(UUID(int=8))] * 2, text
    ),
    max_size=1,
).map(tuple)
flags = _tuples(st.sampled_from(Suspicion))
spans = st.builds(TextSpan, count, count)
citations = st.builds(
    Citation, count, st.uuids(), st.uuids(), st.uuids(), count, text, text, st.none() | text, text, spans,
    _tuples(spans), st.none() | count, count, count, _tuples(text), real, arms, text, st.booleans(), hops,
    st.none() | st.datetimes(timezones=st.just(UTC)), flags, st.none() | st.dates(),
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
searches = st.builds(
    SearchSettings,
    count,
    real,
    st.sampled_from(FusionMethod),
    st.builds(FusionWeights, real, real, st.none() | real),
    st.none() | count,
    real,
    st.builds(
        DocumentFilter,
        _tuples(st.uuids()),
        st.none() | text,
        _tuples(text),
        _tuples(st.uuids()),
        _tuples(text),
        _tuples(_tuples(text)),
        _tuples(text),
        _tuples(text),
        st.none() | st.dates(),
        st.none() | st.dates(),
        _tuples(st.builds(FieldCondition, text, st.sampled_from(Comparison), _tuples(text | real | st.booleans()))),
    ),
    st.none() | text,
)
debugs = st.builds(
    AnswerDebug,
    st.none() | plans,
    st.none() | text,
    st.none() | text,
    st.none() | text,
    _tuples(st.builds(CandidateTrace, st.uuids(), st.uuids(), text, real, arms, st.none() | text, hops, flags)),
    _tuples(st.builds(ToolCall, text, text, st.none() | text, st.none() | text, real, st.none() | st.uuids())),
    st.none() | st.builds(SelfCheckReport, real, _tuples(text), _tuples(text), st.booleans()),
    st.none() | st.builds(Support, real, real, _tuples(st.builds(FeatureContribution, text, real, real, real))),
    st.none() | searches,
    _tuples(st.builds(FetchedText, st.uuids(), text, text, text)),
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


@pytest.mark.slow
@given(answers)
def test_an_answer_survives_storing_exactly(answer: Answer) -> None:
    value = encode(answer)
    again = decode(value)
    assert again == answer
    assert encode(again) == value
    assert type(again.gate.thresholds) is MappingProxyType
    assert not math.isnan(again.gate.score)


def test_every_field_of_an_answer_is_carried() -> None:
    assert [one.name for one in fields(Answer)] == [
        "text", "outcome", "abstention", "citations", "degraded", "gate", "debug", "outside",
    ]  # fmt: skip


def test_an_answer_that_the_former_codec_stored_is_read_whole() -> None:
    stored = orjson.loads(STORED.read_bytes())

    again = orjson.loads(encode(decode(STORED.read_bytes())))

    for citation in (again["citations"][0], again["abstention"]["nearest"][0]):
        citation["read_at"] = citation["read_at"].replace("Z", "+00:00")
    for citation in (stored["citations"][0], stored["abstention"]["nearest"][0]):
        citation |= {"published": None, "is_recognised": False, "symbol": None}
    stored["debug"] |= {"chat": None, "certainty": None, "usage": []}  # Younger than the stored answer.
    stored["debug"]["search"] |= {"similarity_exponent": None, "rerank": 0}
    stored["debug"]["tool_calls"] = [{**one, "document_id": None} for one in stored["debug"]["tool_calls"]]
    stored["outside"] = None
    stored["gate"] |= {"care": 0.5}
    stored["gate"]["directives"] |= {"search_seeds": [], "crawl_seeds": []}
    stored["gate"]["downgrades"] = [{**one, "cause": "unknown"} for one in stored["gate"]["downgrades"]]
    stored["debug"]["search"]["filter"] |= {
        "path_globs": [], "tags": [], "domains": [], "languages": [], "date_from": None, "date_to": None, "fields": [],
            "words": [],
    }  # fmt: skip
    assert again == stored


def test_an_answer_stored_before_paths_were_kept_is_still_read() -> None:
    citation = Citation(
        1, UUID(int=1), UUID(int=2), UUID(int=3), 4, "Title", "a.md", None, "Words.", TextSpan(0, 6), (), None, 1, 1,
        (), 0.5, (), "corpus", True,
    )  # fmt: skip
    trace = CandidateTrace(UUID(int=3), UUID(int=1), "Title", 0.5, (), None)
    gate = GateDecision(Directives(True), "retrieve", 0.5, {}, (), (), "w", "on")
    answer = Answer("Words. [1]", Outcome.GROUNDED, None, (citation,), (), gate, AnswerDebug(candidates=(trace,)))
    older = orjson.loads(encode(answer))
    del (
        older["citations"][0]["path"],
        older["citations"][0]["read_at"],
        older["debug"]["candidates"][0]["path"],
        older["debug"]["search"],
    )

    assert decode(orjson.dumps(older)) == answer


@pytest.mark.parametrize("value", [b"", b"{}", b"[]", b'{"text":"x"}', b'"x"', b"null", b"\xff"])
def test_other_bytes_are_unreadable(value: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|Expected|missing|truncated|Invalid|malformed|utf-8"):
        decode(value)
