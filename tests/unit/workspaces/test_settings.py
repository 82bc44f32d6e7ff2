"""What a workspace may decide for itself."""

import pytest

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.workspaces.organisation import FeatureFlag, OrganisationSettings, parse_feature_flag
from agentic_rag.workspaces.settings import MAX_INLINE_CHARACTERS, RagConfig, WorkspaceSettings


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        (lambda: RagConfig(top_k=0), ("ragConfig", "topK")),
        (lambda: RagConfig(top_k=51), ("ragConfig", "topK")),
        (lambda: RagConfig(similarity_threshold=-0.01), ("ragConfig", "similarityThreshold")),
        (lambda: RagConfig(similarity_threshold=float("nan")), ("ragConfig", "similarityThreshold")),
        (lambda: WorkspaceSettings(history_days=-1), ("historyDays",)),
        (lambda: WorkspaceSettings(runs_days=0), ("runsDays",)),
        (lambda: WorkspaceSettings(jobs_days=6), ("jobsDays",)),
        (lambda: WorkspaceSettings(usage_days=31), ("usageDays",)),
        (lambda: WorkspaceSettings(audit_days=29), ("auditDays",)),
        (lambda: WorkspaceSettings(inline_guidelines="x" * (MAX_INLINE_CHARACTERS + 1)), ("inlineGuidelines",)),
        (lambda: WorkspaceSettings(chunk_profile="huge"), ()),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(settings: object, path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        settings()  # type: ignore[operator]

    assert refused.value.path == path


def test_an_agent_searches_five_passages_of_seventy_percent_unless_it_says_otherwise() -> None:
    assert RagConfig() == RagConfig(top_k=5, similarity_threshold=0.7)


def test_a_feature_is_off_until_switched_on() -> None:
    settings = OrganisationSettings()

    assert not settings.is_on(FeatureFlag.RAG_GUIDELINES)
    assert settings.with_flag(FeatureFlag.RAG_GUIDELINES, on=True).is_on(FeatureFlag.RAG_GUIDELINES)
    assert settings.with_flag(FeatureFlag.RAG_GUIDELINES, on=False) == settings


def test_an_unknown_feature_is_answered_with_those_there_are() -> None:
    assert parse_feature_flag("ragGuidelines") is FeatureFlag.RAG_GUIDELINES
    with pytest.raises(InvalidInput, match="ragGuidelines"):
        parse_feature_flag("guidelines")
