"""Workspaces in the schema."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.domain import tenancy
from agentic_rag_server.graphql.errors import UserError
from agentic_rag_server.graphql.node_ids import encode_workspace
from agentic_rag_server.graphql.nodes import Node

WorkspaceKind = strawberry.enum(tenancy.WorkspaceKind, description="What a workspace stands for.")


@strawberry.type(description="A corpus: the unit of isolation, versioning and settings.")
class Workspace(Node):
    """A workspace as clients see it."""

    name: str
    kind: WorkspaceKind  # type: ignore[valid-type]
    external_ref: str | None = strawberry.field(description="The caller's own id of the project or agent.")
    corpus_version: int = strawberry.field(description="Grows with every publish; a value for `asOf`.")
    graph_version: int = strawberry.field(description="The corpus version the entity graph reflects.")
    created_at: datetime


@strawberry.input(description="A workspace to make.")
class CreateWorkspaceInput:
    """Arguments of `createWorkspace`."""

    name: str
    kind: WorkspaceKind = tenancy.WorkspaceKind.GENERAL  # type: ignore[valid-type]
    external_ref: str | None = None


@strawberry.type(description="The new workspace, or why there is none.")
class CreateWorkspacePayload:
    """Result of `createWorkspace`."""

    workspace: Workspace | None
    user_errors: list[UserError]


def show_workspace(workspace: tenancy.Workspace) -> Workspace:
    """A workspace of the domain as one of the schema."""
    return Workspace(
        id=strawberry.ID(encode_workspace(workspace.ref.workspace_id)),
        name=workspace.name,
        kind=workspace.kind,
        external_ref=workspace.external_ref,
        corpus_version=workspace.corpus_version,
        graph_version=workspace.graph_version,
        created_at=workspace.created_at,
    )
