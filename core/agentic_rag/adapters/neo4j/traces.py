"""`erasure.ports.ExternalGraph` on Neo4j: finds remains of an erased document."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.adapters.neo4j import cypher
from agentic_rag.adapters.neo4j.connection import Neo4jConnection
from agentic_rag.adapters.neo4j.graph import workspace_key
from agentic_rag.tenancy.principals import WorkspaceRef


class Neo4jTraces:
    """Reads only."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

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
