"""What a workspace's kind decides for it."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.chunk_profiles import ChunkUnit, chunk_profile
from agentic_rag.workspaces.settings import RagConfig, WorkspaceSettings
from agentic_rag.workspaces.workspace import Workspace, WorkspaceKind, effective_settings


def a_workspace(kind: WorkspaceKind, settings: WorkspaceSettings | None = None) -> Workspace:
    ref = WorkspaceRef(UUID(int=1), UUID(int=2))
    made = Workspace(ref, "w", kind, None, 0, 0, None, datetime(2026, 1, 1, tzinfo=UTC))
    return made if settings is None else replace(made, settings=settings)


def test_an_agents_documents_are_cut_at_1000_characters_with_200_of_overlap() -> None:
    settings = effective_settings(a_workspace(WorkspaceKind.AGENT))

    profile = chunk_profile(settings.chunk_profile or "")
    assert (profile.unit, profile.size, profile.overlap) == (ChunkUnit.CHARACTERS, 1000, 200)


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        (WorkspaceKind.AGENT, RagConfig(5, 0.7)),
        (WorkspaceKind.PROJECT, RagConfig(5, 0.75)),
        (WorkspaceKind.GENERAL, None),
    ],
)
def test_agents_and_projects_search_as_their_sources_say(kind: WorkspaceKind, config: RagConfig | None) -> None:
    assert effective_settings(a_workspace(kind)).rag_config == config


@pytest.mark.parametrize("kind", WorkspaceKind)
def test_what_a_workspace_decides_itself_stays(kind: WorkspaceKind) -> None:
    own = WorkspaceSettings("small", 3, "Be brief.", RagConfig(9, 0.1))

    assert effective_settings(a_workspace(kind, own)) == own
