"""`erasure.ports.ExternalGraph` on Neo4j: finds remains of what was erased, and removes workspaces."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.adapters.neo4j import cypher
from agentic_rag.adapters.neo4j.connection import Neo4jConnection
from agentic_rag.adapters.neo4j.graph import workspace_key
from agentic_rag.tenancy.principals import WorkspaceRef


class Neo4jTraces:
    """Removes nothing but whole workspaces."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    async def workspace_nodes(self, workspace: WorkspaceRef) -> int:
        """The number of all nodes of a workspace."""
        [row] = await self._connection.rows(cypher.WORKSPACE_NODES, {"workspaceId": workspace_key(workspace)})
        nodes: int = row["nodes"]
        return nodes

    async def drop_workspace(self, workspace: WorkspaceRef, limit: int) -> int:
        """Delete at most `limit` nodes; without the workspace's own no writer goes on."""
        asked = {"workspaceId": workspace_key(workspace), "limit": limit}
        [row] = await self._connection.rows(cypher.DROP_WORKSPACE, asked)
        gone: int = row["gone"]
        return gone

    async def document_nodes(self, workspace: WorkspaceRef, document_id: UUID) -> int:
        """The number of the document's nodes: its source, the chunks derived from it, and the entities whose first
        source it is.
        """
        asked = {"workspaceId": workspace_key(workspace), "documentId": str(document_id)}
        [row] = await self._connection.rows(cypher.TRACES, asked)
        nodes: int = row["nodes"]
        return nodes

    async def version(self, workspace: WorkspaceRef) -> int:
        """The corpus version that the graph reflects; 0 for an unknown workspace."""
        rows = await self._connection.rows(cypher.WATERMARK, {"workspaceId": workspace_key(workspace)})
        version: int = rows[0]["version"] if rows else 0
        return version
