"""`rag key`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer

from agentic_rag.kernel.public_ids import NodeKind, decode, encode_in_organisation
from agentic_rag.tenancy.manage_api_keys import MadeKey
from agentic_rag.tenancy.principals import KeyScope, Role
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.options import JsonOption, TenantOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process, on_graphql

app = typer.Typer(help="API keys of organisations.", no_args_is_help=True, rich_markup_mode=None)


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    role: Annotated[Role, typer.Option("--role", help="What its holder may do.", case_sensitive=False)] = Role.MEMBER,
    scope: Annotated[
        list[KeyScope] | None,
        typer.Option("--scope", help="Restrict the key to this; may be repeated. Default: all that the role may do."),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", help="User that the key acts as; default: the name.")
    ] = None,
    group: Annotated[list[str] | None, typer.Option("--group", help="A group of its holder; may be repeated.")] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=36_500, help="Expires after so many; default: never.")
    ] = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an API key and print its token, which nobody can read again.

    Example: rag key create ci --role member --scope upload --days 90 --tenant acme
    """
    wish = {
        "name": name,
        "role": role.name,
        "subject": subject,
        "groups": group or [],
        "scopes": [one.name for one in scope] if scope else None,
        "expiresAt": None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat(),
    }
    made = on_graphql(context, lambda client: client.fetch(queries.CREATE_API_KEY, input=wish), tenant=tenant)
    key = _json(made["apiKey"])
    if as_json:
        terminal.result_json({**key, "token": made["token"]})
    else:
        terminal.result(made["token"])
        terminal.note(f"key {key['id']}; the token is shown only now")


@app.command("bootstrap")
def bootstrap(
    context: typer.Context,
    expires: Annotated[str, typer.Option("--expires", help="How long it works: 30m, 1h, 7d.")] = "1h",
    name: Annotated[str, typer.Option("--name", help="What the key is called.")] = "bootstrap",
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the first operator's key of an organisation, with the database's password alone; refused when it has one.

    Example: rag key bootstrap --expires 1h
    """

    expires_at = datetime.now(UTC) + _duration(expires)

    async def work(system: System) -> MadeKey:
        organisation = await system.organisation(tenant)
        return await system.container.api_keys.bootstrap(organisation.org_id, name, expires_at, ACTOR)

    made = in_process(context, work)
    shown = {"id": str(made.key.key_id), "token": made.token, "expiresAt": made.key.expires_at}
    terminal.show(shown, made.token, as_json=as_json)
    if not as_json:
        terminal.note(f"key {made.key.key_id}; the token is shown only now")


@app.command("list")
def list_keys(context: typer.Context, tenant: TenantOption = None, as_json: JsonOption = False) -> None:
    """List an organisation's keys, newest first; never their tokens.

    Example: rag key list --tenant acme
    """
    found = [_json(key) for key in on_graphql(context, lambda client: client.fetch(queries.API_KEYS), tenant=tenant)]
    rows = [
        (key["name"], key["role"], _scopes(key), _state(key), _minute(key["lastUsedAt"]), key["id"]) for key in found
    ]
    terminal.show(found, terminal.table(("NAME", "ROLE", "SCOPES", "STATE", "LAST USED", "ID"), rows), as_json=as_json)


@app.command("revoke")
def revoke(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="Id of the key, as `rag key list` shows it.")],
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key. Running servers refuse it within 30 s.

    Example: rag key revoke 0197c1de-… --tenant acme
    """
    key_id = encode_in_organisation(NodeKind.API_KEY, require_id(key, NodeKind.API_KEY))
    revoked = on_graphql(context, lambda client: client.fetch(queries.REVOKE_API_KEY, id=key_id), tenant=tenant)
    terminal.show(_json(revoked["apiKey"]), f"revoked {revoked['apiKey']['name']}", as_json=as_json)


_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def _duration(text: str) -> timedelta:
    """`30m`, `1h`, `7d`. Errors: `typer.BadParameter`."""
    number, unit = text[:-1], text[-1:]
    if unit not in _UNITS or not number.isdecimal() or not 0 < int(number) < 10_000:
        raise typer.BadParameter(f"{text!r} is not a duration: write 30m, 1h or 7d", param_hint="--expires")
    return timedelta(**{_UNITS[unit]: int(number)})


def _json(key: Mapping[str, Any]) -> dict[str, Any]:
    """An API key without its token."""
    scopes = None if key["scopes"] is None else sorted(scope.lower() for scope in key["scopes"])
    return {**key, "id": str(decode(key["id"]).key), "role": key["role"].lower(), "scopes": scopes}


def _scopes(key: Mapping[str, Any]) -> str:
    return "all" if key["scopes"] is None else ",".join(key["scopes"])


def _state(key: Mapping[str, Any]) -> str:
    if key["revokedAt"] is not None:
        return "revoked"
    if key["expiresAt"] is None:
        return "valid"
    expired = datetime.fromisoformat(key["expiresAt"]) <= datetime.now(UTC)
    return "expired" if expired else f"until {_minute(key['expiresAt'])}"


def _minute(instant: str | None) -> str:
    return "" if instant is None else f"{datetime.fromisoformat(instant):%Y-%m-%d %H:%M}"
