"""`rag provider-key`."""

from __future__ import annotations

import secrets
import sys
from datetime import UTC, datetime
from typing import Annotated

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.formatting import format_count
from agentic_rag.models.providers.provider_keys import Provider, parse_master_keys
from agentic_rag_cli.client import operator_queries, queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption, TenantOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="Keys that organisations bring for models.", no_args_is_help=True, rich_markup_mode=None)

ProviderArgument = Annotated[Provider, typer.Argument(help="Who serves the models.")]


@app.command("set")
def set_key(
    context: typer.Context,
    provider: ProviderArgument,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Server of a `compatible` provider; the operator must allow it.")
    ] = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Store an organisation's key for a provider, read from standard input: never from the command line, where others
    would see it. It is encrypted and never shown again.

    Example: rag provider-key set openai < key.txt
    """
    if sys.stdin.isatty():
        terminal.note("Paste the key, then press Enter and Ctrl-D:")
    given = {"provider": provider.name, "key": sys.stdin.read(), "baseUrl": base_url}
    done = on_graphql(
        context, lambda client: client.fetch(operator_queries.SET_PROVIDER_KEY, input=given), tenant=tenant
    )
    stored = _json(done["providerKey"])
    ending = f" ending in {stored['hint']}" if stored["hint"] else ""
    terminal.show(stored, f"stored a key for {stored['provider']}{ending}", as_json=as_json)


@app.command("list")
def list_keys(context: typer.Context, tenant: TenantOption = None, as_json: JsonOption = False) -> None:
    """List an organisation's keys by their last four characters.

    Example: rag provider-key list
    """

    every = on_graphql(context, lambda client: client.fetch(operator_queries.PROVIDER_KEYS), tenant=tenant)
    found = [_json(one) for one in every]
    rows = [
        (
            one["provider"],
            f"…{one['hint']}",
            one["baseUrl"],
            one["setBy"],
            f"{datetime.fromisoformat(one['updatedAt']):%Y-%m-%d %H:%M}",
            one["masterKey"],
        )
        for one in found
    ]
    terminal.show(
        found,
        terminal.table(("PROVIDER", "KEY", "BASE URL", "SET BY", "SET AT", "MASTER KEY"), rows),
        as_json=as_json,
    )


@app.command("remove")
def remove(
    context: typer.Context,
    provider: ProviderArgument,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete an organisation's key for a provider. Exits with 1 when there is none.

    Example: rag provider-key remove openai
    """
    removal = on_graphql(
        context, lambda client: client.fetch(queries.REMOVE_PROVIDER_KEY, provider=provider.name), tenant=tenant
    )
    removed = removal["removed"]
    terminal.show(
        {"removed": removed},
        f"removed the key for {provider.value}" if removed else f"there is no key for {provider.value}",
        as_json=as_json,
    )
    if not removed:
        raise typer.Exit(ExitCode.FAILED)


@app.command("models")
def models(
    context: typer.Context,
    default: Annotated[
        str | None, typer.Option("--default", help="Default model, `PROVIDER:MODEL`; empty: none.")
    ] = None,
    embedding: Annotated[
        str | None,
        typer.Option("--embedding", help="Embedding model, `PROVIDER:MODEL[:DIMENSIONS]`; empty: by provider."),
    ] = None,
    own_key: Annotated[
        bool | None, typer.Option("--own-key/--platform-key", help="Whether the organisation must bring its own key.")
    ] = None,
    tenant: TenantOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show or change which models an organisation works with.

    Example: rag provider-key models --default gemini:gemini-2.5-flash --own-key
    """
    changes = {"defaultModel": default, "embedding": embedding, "mustBringKey": own_key}

    async def work(client: GraphQLClient) -> dict[str, object]:
        if all(change is None for change in changes.values()):
            return await client.fetch(queries.MODEL_SETTINGS)
        return (await client.fetch(queries.UPDATE_MODEL_SETTINGS, input=changes))["settings"]

    shown = on_graphql(context, work, tenant=tenant)
    terminal.show(shown, terminal.table(("SETTING", "VALUE"), list(shown.items())), as_json=as_json)


@app.command("rotate")
def rotate(context: typer.Context, as_json: JsonOption = False) -> None:
    """Wrap every stored key of every organisation with the first key of AGENTIC_RAG_MASTER_KEYS. Nothing stops
    meanwhile; take the old master key out of the settings afterwards. Exits with 3 when a key could not be opened.

    Example: rag provider-key rotate
    """
    rotated = on_graphql(
        context, lambda client: client.fetch_long(operator_queries.ROTATE_MASTER_KEY), is_platform=True
    )
    done = {name: rotated[name] for name in ("active", "rewrapped", "unreadable")}
    wrapped = format_count(done["rewrapped"], "key")
    terminal.show(done, f"{wrapped} wrapped with {done['active']!r}, {done['unreadable']} unreadable", as_json=as_json)
    if done["unreadable"]:
        raise typer.Exit(ExitCode.PARTIAL)


@app.command("master")
def master(
    name: Annotated[str, typer.Option("--id", help="Id of the key; default: the date and four digits.")] = "",
) -> None:
    """Print a fresh master key for AGENTIC_RAG_MASTER_KEYS. Keep it where the database is not.

    Example: rag provider-key master
    """
    from agentic_rag.bootstrap import new_master_key

    made = new_master_key(name or f"{datetime.now(UTC):%Y-%m-%d}-{secrets.token_hex(2)}")
    try:
        parse_master_keys(made)
    except ValueError as problem:
        raise InvalidInput(f"`--id` cannot be {name[:100]!r}: letters, digits and dashes do.") from problem
    terminal.result(made)


def _json(key: dict[str, str]) -> dict[str, str]:
    return {**key, "provider": Provider[key["provider"]].value}
