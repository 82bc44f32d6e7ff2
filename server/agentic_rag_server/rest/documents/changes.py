"""`PATCH /v1/documents/{id}`: rename a document, and change what is said of it."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule
from agentic_rag_server.rest.documents.documents import DocumentState, show_document
from agentic_rag_server.rest.documents.uploads import DOCUMENT, TAG
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.metadata import DocumentChange, read_change
from agentic_rag_server.rest.http.models import NOT_STORED, answer
from agentic_rag_server.rest.http.operations import Endpoint, ResponseSpec, operation


class ChangesEndpoint(Endpoint):
    """The twin of GraphQL's `updateDocument`."""

    tag = TAG

    @operation(
        "PATCH",
        "/v1/documents/{id}",
        "updateDocument",
        summary="Rename a document, or change what is said of it",
        description="Takes the owner or a writer of the document with the role member, or the role admin.",
        rule=Rule((Action.UPDATE_DOCUMENT,), DocumentRight.WRITE),
        parameters=(replace(DOCUMENT, name="id"),),
        takes=DocumentChange,
        answers=(ResponseSpec(200, "The document as it is now.", DocumentState),),
        refusals=(400, 401, 403, 404, 413, 415, 429, 500, 503),
    )
    async def patch(self, request: Request) -> Response:
        """Errors: those of `require`, `read_json` and `UpdateDocument`."""
        node = decode(request.path_params["id"], NodeKind.DOCUMENT)
        ref, principal = await self.require(request, node)
        given = await read_json(request, DocumentChange, self._parts.options.max_body_bytes)
        document = await self._parts.update_document.run(principal, ref, node.key, read_change(given))
        return answer(show_document(document), headers=NOT_STORED)
