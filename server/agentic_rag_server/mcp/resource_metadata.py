"""`/.well-known/oauth-protected-resource`: where tokens for `/mcp` come from (RFC 9728)."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, UnsetType
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag_server.rest.http.models import Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, ResponseSpec, operation

METADATA_PATH = "/.well-known/oauth-protected-resource"
_RESOURCE = "/mcp"
_PUBLIC = {"cache-control": "public, max-age=300"}


class ResourceMetadata(Model, frozen=True, rename=None):
    """What a client must know to get a token."""

    resource: str
    resource_name: str
    bearer_methods_supported: list[str]
    authorization_servers: Annotated[
        list[str] | UnsetType, Meta(description="Left out where the server takes API keys only.")
    ] = UNSET
    scopes_supported: Annotated[
        list[str] | UnsetType, Meta(description="What a client asks the issuer for; left out where that is nothing.")
    ] = UNSET


class ResourceMetadataEndpoint(Endpoint):
    """Takes no token: whoever has none reads it."""

    tag = "description"

    @operation(
        "GET",
        METADATA_PATH,
        "getResourceMetadata",
        summary="Where tokens for this server come from",
        answers=(ResponseSpec(200, "OAuth protected resource metadata.", ResourceMetadata),),
        rule=None,
    )
    async def get(self, request: Request) -> Response:
        """RFC 9728 §3, without the path of the resource."""
        return self._answer(request)

    @operation(
        "GET",
        f"{METADATA_PATH}{_RESOURCE}",
        "getMcpResourceMetadata",
        summary="Where tokens for the MCP endpoint come from",
        answers=(ResponseSpec(200, "OAuth protected resource metadata.", ResourceMetadata),),
        rule=None,
    )
    async def get_of_mcp(self, request: Request) -> Response:
        """RFC 9728 §3.1, with the path of the resource."""
        return self._answer(request)

    def _answer(self, request: Request) -> Response:
        issuer, scopes = self._parts.options.issuer, self._parts.options.sign_in_scope.split()
        has_issuer = issuer.startswith(("https://", "http://"))
        body = ResourceMetadata(
            resource=f"{str(request.base_url).rstrip('/')}{_RESOURCE}",
            resource_name="agentic-rag",
            bearer_methods_supported=["header"],
            authorization_servers=[issuer] if has_issuer else UNSET,
            scopes_supported=scopes if has_issuer and len(scopes) > 1 else UNSET,
        )
        return answer(body, headers=_PUBLIC)
