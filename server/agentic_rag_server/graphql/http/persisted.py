"""Persisted operations: clients send an id instead of a document. A server may refuse all other documents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_server.graphql.http.responses import GraphQLRequest, RequestFault


class PersistedOperations:
    """Documents by id, from a file that client code generators write. With `only`, no other document runs."""

    def __init__(self, documents: dict[str, str], *, only: bool = False) -> None:
        self._documents = documents
        self._known = frozenset(documents.values())
        self._only = only

    def resolve_document(self, operation: GraphQLRequest) -> GraphQLRequest:
        """The operation with the document of its id. Errors: `RequestFault` codes
        PERSISTED_OPERATION_UNKNOWN, PERSISTED_OPERATION_REQUIRED.
        """
        if operation.document_id is not None and not operation.query:
            document = self._documents.get(operation.document_id)
            if document is None:
                raise RequestFault(400, "PERSISTED_OPERATION_UNKNOWN", "No operation is persisted under this id.")
            return replace(operation, query=document)
        if self._only and operation.query not in self._known:
            raise RequestFault(
                403, "PERSISTED_OPERATION_REQUIRED", "This server runs persisted operations only: send `documentId`."
            )
        return operation


def load_persisted_operations(path: Path | None, *, only: bool) -> PersistedOperations:
    """The operations of a file, or none without a file. Errors: `Misconfigured` code PERSISTED_OPERATIONS_INVALID."""
    if path is None:
        return PersistedOperations({}, only=only)
    try:
        given: Any = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as wrong:
        raise _invalid(path) from wrong
    if not isinstance(given, dict) or not all(isinstance(one, str) for one in cast(dict[str, Any], given).values()):
        raise _invalid(path)
    return PersistedOperations(cast(dict[str, str], given), only=only)


def _invalid(path: Path) -> Misconfigured:
    return Misconfigured(
        f"AGENTIC_RAG_PERSISTED_OPERATIONS={path} must be a JSON object from ids to GraphQL documents.",
        code="PERSISTED_OPERATIONS_INVALID",
    )
