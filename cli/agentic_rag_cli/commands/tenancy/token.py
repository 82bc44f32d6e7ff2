"""`rag token`."""

from __future__ import annotations

import time
from typing import Annotated
from uuid import UUID

import typer

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Role
from agentic_rag.tenancy.token_claims import LOCAL_AUDIENCE, LOCAL_ISSUER
from agentic_rag_cli.client.access import with_local_issuer
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import TenantOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process, wiring_of

app = typer.Typer(help="Tokens for development.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def token() -> None:
    """Tokens for development."""


@app.command("dev")
def dev(
    context: typer.Context,
    subject: Annotated[str, typer.Option("--subject", help="Who calls.")] = "developer",
    role: Annotated[Role, typer.Option("--role", help="What it may do.", case_sensitive=False)] = Role.MEMBER,
    group: Annotated[list[str] | None, typer.Option("--group", help="A group of the caller; may be repeated.")] = None,
    hours: Annotated[float, typer.Option("--hours", min=0.01, max=720, help="Valid for so long.")] = 8,
    tenant: TenantOption = None,
) -> None:
    """Print a token (JWT, HS256) that servers of this home take while they listen on loopback: to try roles, groups and
    organisations without an issuer.

    Example: curl -H "Authorization: Bearer $(rag token dev --tenant acme --role admin)" …
    """

    import jwt

    settings = with_local_issuer(wiring_of(context).settings()).tenancy
    if not settings.jwt_secret:
        raise Misconfigured(
            "Development tokens are for a server on loopback without an issuer: unset AGENTIC_RAG_JWKS_URL and let "
            "AGENTIC_RAG_HOST be 127.0.0.1, or have the issuer make a token."
        )
    now = int(time.time())
    said: dict[str, object] = {
        "iss": settings.jwt_issuer or LOCAL_ISSUER,
        "aud": settings.audience.name or LOCAL_AUDIENCE,
        "iat": now,
        "exp": now + round(hours * 3600),
        settings.claims.subject: subject,
        settings.claims.organisation: str(_organisation(context, tenant)),
        settings.claims.role: role.value,
        settings.claims.groups: list(group or ()),
    }
    terminal.result(jwt.encode(said, settings.jwt_secret, "HS256"))


def _organisation(context: typer.Context, tenant: str | None) -> UUID:
    """The organisation's id; only names need a lookup."""
    tenant = tenant or wiring_of(context).settings().tenant
    if not tenant:
        return DEFAULT_ORG_ID
    try:
        return UUID(tenant)
    except ValueError:
        pass

    async def work(system: System) -> UUID:
        return (await system.organisation(tenant)).org_id

    return in_process(context, work)
