from dataclasses import replace
from datetime import date
from types import MappingProxyType
from uuid import UUID

import pytest

from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question, Turn
from agentic_rag.answering.runs.cache_key import AnswerContext, answer_key, input_hash
from agentic_rag.answering.understood_question import understand
from agentic_rag.documents.document import CitedPassage, DocumentFilter
from agentic_rag.documents.metadata import Comparison, FieldCondition
from agentic_rag.kernel.text import fold_text
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import RagConfig
from agentic_rag.workspaces.web_access import WebAccess
from agentic_rag.workspaces.web_profiles import PROFILES, ProfileName, WebProfile

QUESTION = Question(WorkspaceRef(UUID(int=1), UUID(int=2)), "What is the wave limit?")
CONTEXT = AnswerContext(ReadScope(), 5, 5, "space", "w1", "p1", ("m",), "8", date(2026, 3, 1))
FOUNDED = Turn("When was Corrand Tidal founded?", "In 1998.", (CitedPassage(UUID(int=1), UUID(int=2)),))


def key_of(question: Question, context: AnswerContext) -> str:
    return answer_key(understand(question), context)


CORE = FieldCondition("team", Comparison.EQUALS, ("core",))


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, text="What is the Wave limit?"),
        replace(QUESTION, workspace=WorkspaceRef(UUID(int=1), UUID(int=3))),
        replace(QUESTION, workspace=WorkspaceRef(UUID(int=9), UUID(int=2))),
        replace(QUESTION, history=(Turn("a", "b", (CitedPassage(UUID(int=1), UUID(int=2)),)),)),
        replace(QUESTION, text="And in 2021?"),
        replace(QUESTION, options=AnswerOptions(top_k=3)),
        replace(QUESTION, options=AnswerOptions(min_score=0.1)),
        replace(QUESTION, options=AnswerOptions(use_tools=False)),
        replace(QUESTION, options=AnswerOptions(fusion=FusionMethod.RRF)),
        replace(QUESTION, options=AnswerOptions(weights=FusionWeights(0.5, 0.5))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(source_path_prefix="a"))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(media_types=("a",)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(without_ids=(UUID(int=4),)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(path_globs=("a*",)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(tags=(("a",),)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(domains=("a",)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(languages=("de",)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(date_from=date(2024, 1, 1)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(date_to=date(2024, 1, 1)))),
        replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(fields=(CORE,)))),
    ],
)
def test_another_question_has_another_key(other: Question) -> None:
    assert key_of(other, CONTEXT) != key_of(QUESTION, CONTEXT)


@pytest.mark.parametrize(
    "context",
    [
        replace(CONTEXT, access=ReadScope((0, 1))),
        replace(CONTEXT, access=ReadScope(version=3)),
        replace(CONTEXT, corpus_version=6),
        replace(CONTEXT, graph_version=4),
        replace(CONTEXT, space="other"),
        replace(CONTEXT, weights_version="w2"),
        replace(CONTEXT, pipeline_version="p2"),
        replace(CONTEXT, models=("m", "n")),
        replace(CONTEXT, defaults="9"),
        replace(CONTEXT, support_threshold=0.4),
        replace(CONTEXT, kind_thresholds=(("list", 0.4),)),
        replace(CONTEXT, rag_config=RagConfig()),
        replace(CONTEXT, rag_config=RagConfig(similarity_threshold=0.3)),
    ],
)
def test_the_same_question_in_another_context_has_another_key(context: AnswerContext) -> None:
    assert key_of(QUESTION, context) != key_of(QUESTION, CONTEXT)


def test_of_a_conversation_only_what_it_makes_of_the_question_matters() -> None:
    founded = Turn("Who founded Acme?", "Jane Doe.")
    follow_up = replace(QUESTION, text="And when?", history=(founded,))
    reworded = replace(follow_up, history=(Turn("Thanks!", "Welcome."), founded))
    elsewhere = replace(follow_up, history=(Turn("Who founded Initech?", "Jane Doe."),))
    assert key_of(reworded, CONTEXT) == key_of(follow_up, CONTEXT)
    assert key_of(elsewhere, CONTEXT) != key_of(follow_up, CONTEXT)
    assert key_of(replace(QUESTION, history=(founded,)), CONTEXT) == key_of(QUESTION, CONTEXT)


def test_where_a_model_reads_the_conversation_its_wording_matters() -> None:
    context = replace(CONTEXT, model_reads_history=True)
    said = replace(QUESTION, history=(Turn("a", "b"),))
    assert len({key_of(one, context) for one in (QUESTION, said, replace(said, history=(Turn("ab", ""),)))}) == 3


def test_white_space_and_compatibility_forms_do_not_matter() -> None:
    assert fold_text("  What\u00a0is\n ﬁne? ") == "What is fine?"
    assert key_of(replace(QUESTION, text=" What  is\tthe wave limit? "), CONTEXT) == key_of(QUESTION, CONTEXT)


def test_the_day_matters_only_where_the_question_is_about_time() -> None:
    tomorrow = replace(CONTEXT, today=date(2026, 3, 2))
    about_time = replace(QUESTION, text="What is the current wave limit?")
    assert key_of(QUESTION, CONTEXT) == key_of(QUESTION, tomorrow)
    assert key_of(about_time, CONTEXT) != key_of(about_time, tomorrow)


def test_the_time_allowed_and_the_cache_mode_do_not_change_the_answer_but_the_input() -> None:
    patient = replace(QUESTION, options=AnswerOptions(timeout_ms=9000, cache=CacheMode.REFRESH))
    assert key_of(patient, CONTEXT) == key_of(QUESTION, CONTEXT)
    assert input_hash(patient) != input_hash(QUESTION)
    assert len(input_hash(QUESTION)) == 32


@pytest.mark.parametrize(
    ("question", "context", "key"),
    [
        (QUESTION, CONTEXT, "2433e6c1c3ee9e59"),
        (replace(QUESTION, text=" What  is\tthe wave limit? "), CONTEXT, "2433e6c1c3ee9e59"),
        (replace(QUESTION, text="What is the limit today?"), CONTEXT, "0589e730bef922bb"),
        (replace(QUESTION, text="What is 12 % of 48,000?"), CONTEXT, "edddbad74ec5c40a"),
        (replace(QUESTION, text="Compare Alder and Birch in height."), CONTEXT, "3481ee6c17ed854f"),
        (replace(QUESTION, text="What does https://news.example/a say of it?"), CONTEXT, "258486440ab423a0"),
        (replace(QUESTION, history=(FOUNDED,)), CONTEXT, "8fe2566d079a38f6"),
        (replace(QUESTION, text="And when?", history=(FOUNDED,)), CONTEXT, "2bb8848f2341e7b2"),
        (replace(QUESTION, text="Who founded it?", history=(FOUNDED,)), CONTEXT, "570dc79ee5dff01f"),
        (
            replace(QUESTION, text="Who founded it?", history=(FOUNDED,)),
            replace(CONTEXT, model_reads_history=True),
            "c947eda84b215e3b",
        ),
        (
            replace(QUESTION, options=AnswerOptions(3, fusion=FusionMethod.RRF, weights=FusionWeights(0.5, 0.5))),
            CONTEXT,
            "167a09a0282d989c",
        ),
        (
            replace(QUESTION, options=AnswerOptions(filter=DocumentFilter(media_types=("b", "a")))),
            CONTEXT,
            "f8a39d890195c840",
        ),
    ],
)
def test_keys_stay_as_they_are_so_that_a_release_finds_what_is_cached(
    question: Question, context: AnswerContext, key: str
) -> None:
    assert key_of(question, context)[:16] == key


def test_profiles_of_ones_own_bound_the_gate_and_part_the_answers() -> None:
    own = MappingProxyType({**PROFILES, ProfileName.CODE: WebProfile(3, 1.0, ("docs.example.org",))})
    coding = replace(CONTEXT, web=WebAccess(allow=True, profile=ProfileName.CODE, seeds=("Acme",)))

    shipped, bound = (replace(coding, profiles=one).bound_gate(GateRules()) for one in (PROFILES, own))

    assert (shipped.wants.newest_days, shipped.not_before) == (30, date(2026, 1, 30))
    assert (bound.wants, bound.not_before) == (
        WebProfile(3, 1.0, ("docs.example.org",), ("Acme",)),
        date(2026, 2, 26),
    )
    assert AnswerDefaults(profiles=own).fingerprint != AnswerDefaults().fingerprint
    assert AnswerDefaults(profiles=dict(PROFILES)).fingerprint == AnswerDefaults().fingerprint
