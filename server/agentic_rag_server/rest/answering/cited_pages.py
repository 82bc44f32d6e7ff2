"""`GET /v1/runs/{id}/citations/{marker}.png`: the page that a citation names, with the quoted lines marked."""

from __future__ import annotations

import hashlib

from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.answering.cited_originals import CITATION_PATH, marker_of
from agentic_rag_server.rest.documents.source import SECURITY_HEADERS
from agentic_rag_server.rest.http.operations import Endpoint, ResponseSpec, admitted, operation
from agentic_rag_server.rest.http.ranges import is_held

MARKED = "x-marked-lines"
FIRST = "x-first-mark"


class CitedPagesEndpoint(Endpoint):
    """Draws pages for callers who may read the run and the document."""

    tag = "answers"

    @operation(
        "GET",
        "/v1/runs/{id}/citations/{marker}.png",
        "getCitedPage",
        summary="The page that a citation names, with the quoted lines marked",
        description="For PDFs. Where the quote is not found letter by letter at one place of the page, the page has no "
        f"mark and `{MARKED}` is 0: read the text at the citation's `sourceSpan` then.",
        rule=Rule((Action.READ,), Sight.ASKER),
        parameters=CITATION_PATH,
        answers=(
            ResponseSpec(
                200,
                "The page, with at most 1600 pixels on its longer side.",
                media_type="image/png",
                headers=(
                    (MARKED, "How many lines are marked."),
                    (FIRST, "Where the first mark begins, by the height of the image."),
                    ("etag", "Of the image."),
                ),
            ),
            ResponseSpec(304, "The caller holds this image.", media_type=""),
        ),
        refusals=(400, 401, 403, 404, 422, 500, 503),
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `ShowCitedPage`."""
        node = decode(request.path_params["id"], NodeKind.RUN)
        marker = marker_of(request)
        caller = admitted(request).principal
        ref = WorkspaceRef(caller.org_id, node.workspace_id)
        image = await self._parts.show_cited_page.run(caller, ref, node.key, marker)
        etag = f'"{hashlib.sha256(image.png).hexdigest()[:32]}"'
        headers = {**SECURITY_HEADERS, "etag": etag, MARKED: str(len(image.lines)), FIRST: f"{image.first:.4f}"}
        if is_held(request.headers.getlist("if-none-match"), etag):
            return Response(status_code=304, headers=headers)
        return Response(image.png, media_type="image/png", headers=headers)
