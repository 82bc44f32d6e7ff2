"""Persisted operations: clients send an id instead of a document.

Two kinds. Those of the operator's file have an id of its choice, and a server may refuse all others. Clients register
the second kind by themselves, under the SHA-256 of the document (Apollo's automatic persisted queries, version 1).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import orjson

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_server.graphql.http.responses import GraphQLRequest, RequestFault

MOST_REGISTERED = 2_000
"""Documents that a process remembers for all its clients, each of which has a few dozen. Of the organisation with most
of them the one asked for longest ago goes; its client sends it again.
"""

MOST_BYTES = 8_192
"""Of a registered document. A longer one runs, and is sent again each time."""


class PersistedOperations:
    """Documents by id, from a file that client code generators write. With `only`, no other document runs, and none is
    registered. What an organisation registers is its own: another one learns nothing of it.
    """

    def __init__(self, documents: dict[str, str], *, only: bool = False) -> None:
        self._documents = documents
        self._known = frozenset(documents.values())
        self._only = only
        self._registered: dict[UUID, OrderedDict[str, str]] = {}

    def resolve_document(self, operation: GraphQLRequest, org_id: UUID) -> GraphQLRequest:
        """The operation with the document of its id. Errors: `RequestFault` codes PERSISTED_OPERATION_UNKNOWN,
        PERSISTED_OPERATION_REQUIRED, PERSISTED_QUERY_NOT_FOUND, PERSISTED_QUERY_HASH.
        """
        if not operation.query:
            return replace(operation, query=self._document_of(operation, org_id))
        if self._only and operation.query not in self._known:
            raise RequestFault(
                403, "PERSISTED_OPERATION_REQUIRED", "This server runs persisted operations only: send `documentId`."
            )
        if operation.document_hash is not None:
            self._register(operation.query, operation.document_hash, org_id)
        return operation

    def _document_of(self, operation: GraphQLRequest, org_id: UUID) -> str:
        named = operation.document_id or operation.document_hash or ""
        if named in self._documents:
            return self._documents[named]
        if operation.document_id is not None or self._only:
            raise RequestFault(400, "PERSISTED_OPERATION_UNKNOWN", "No operation is persisted under this id.")
        own, digest = self._registered.get(org_id, OrderedDict[str, str]()), named.lower()
        if digest not in own:
            # Clients look for this message or its code, and send the document with its hash.
            raise RequestFault(200, "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
        own.move_to_end(digest)
        return own[digest]

    def _register(self, document: str, digest: str, org_id: UUID) -> None:
        if self._documents.get(digest) == document:
            return
        encoded = document.encode("utf-8", "surrogatepass")
        if sha256(encoded).hexdigest() != digest.lower():
            raise RequestFault(400, "PERSISTED_QUERY_HASH", "`sha256Hash` is not the SHA-256 of `query`.")
        if self._only or len(encoded) > MOST_BYTES:
            return
        own = self._registered.setdefault(org_id, OrderedDict())
        own[digest.lower()] = document
        own.move_to_end(digest.lower())
        if sum(map(len, self._registered.values())) > MOST_REGISTERED:
            most = max(self._registered, key=lambda one: len(self._registered[one]))
            self._registered[most].popitem(last=False)
            if not self._registered[most]:
                del self._registered[most]


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
