"""`rag key`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import KeyScope, Role
from agentic_rag_cli.options import JsonOption, TenantOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.tenancy.api_keys import ApiKey
    from agentic_rag.tenancy.manage_api_keys import MadeKey
    from agentic_rag_cli.session import Session

app = typer.Typer(help="API keys of organisations.", no_args_is_help=True, rich_markup_mode=None)


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    role: Annotated[Role, typer.Option("--role", help="What its holder may do.", case_sensitive=False)] = Role.MEMBER,
    scope: Annotated[
        list[KeyScope] | None,
        typer.Option("--scope", help="Hold it to this; may be repeated. Default: all that the role may do."),
    ] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="Who acts with it; default: the name.")] = None,
    group: Annotated[list[str] | None, typer.Option("--group", help="A group of its holder; may be repeated.")] = None,
    days: Annotated[int | None, typer.Option("--days", min=1, help="Expires after so many; default: never.")] = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an API key and print its token, which nobody can read again.

    Example: rag key create ci --role member --scope upload --days 90 --tenant acme
    """
    from agentic_rag.tenancy.manage_api_keys import KeyWish
    from agentic_rag_cli.tenants import key_json

    wish = KeyWish(
        name=name,
        role=role,
        subject=subject,
        groups=tuple(group or ()),
        scopes=frozenset(scope) if scope else None,
        expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
    )

    async def work(session: Session) -> MadeKey:
        return await session.tenants.create_key((await session.tenants.named(tenant)).org_id, wish)

    made = in_process(context, work)
    if as_json:
        terminal.result_json({**key_json(made.key), "token": made.token})
    else:
        terminal.result(made.token)
        terminal.note(f"key {made.key.key_id}; the token is shown only now")


@app.command("list")
def list_keys(context: typer.Context, tenant: TenantOption = None, as_json: JsonOption = False) -> None:
    """List an organisation's keys, newest first; never their tokens.

    Example: rag key list --tenant acme
    """
    from agentic_rag_cli.tenants import key_json

    async def work(session: Session) -> list[ApiKey]:
        return await session.tenants.keys((await session.tenants.named(tenant)).org_id)

    found = in_process(context, work)
    if as_json:
        terminal.result_json([key_json(key) for key in found])
        return
    rows = [
        (key.name, key.role.value, _scopes(key), _state(key), _minute(key.last_used_at), key.key_id) for key in found
    ]
    terminal.result(terminal.table(("NAME", "ROLE", "SCOPES", "STATE", "LAST USED", "ID"), rows))


@app.command("revoke")
def revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key, as `rag key list` shows it.")],
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key worthless; servers that know it forget it within 30 s.

    Example: rag key revoke 0197c1de-… --tenant acme
    """
    from agentic_rag_cli.tenants import key_json

    key_id = _key_id(key)

    async def work(session: Session) -> ApiKey:
        return await session.tenants.revoke_key((await session.tenants.named(tenant)).org_id, key_id)

    revoked = in_process(context, work)
    if as_json:
        terminal.result_json(key_json(revoked))
    else:
        terminal.result(f"revoked {revoked.name}")


def _key_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise InvalidInput(f"{text!r} is no id of a key: copy one from the list.", code="INVALID_ID") from None


def _scopes(key: ApiKey) -> str:
    return "all" if key.scopes is None else ",".join(sorted(scope.value for scope in key.scopes))


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is None:
        return "valid"
    return "expired" if key.expires_at <= datetime.now(UTC) else f"until {_minute(key.expires_at)}"


def _minute(instant: datetime | None) -> str:
    return "" if instant is None else instant.strftime("%Y-%m-%d %H:%M")
