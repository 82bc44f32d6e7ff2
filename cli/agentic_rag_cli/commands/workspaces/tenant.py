"""`rag tenant`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.workspaces.organisation import FeatureFlag, parse_feature_flag
from agentic_rag_cli.client import operator_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import choose_organisation
from agentic_rag_cli.commands.workspaces.deletion import (
    TenantArgument,
    delete_tenant,
    prove_tenant_erased,
    rename_tenant,
)
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="Organisations: each owns its workspaces.", no_args_is_help=True, rich_markup_mode=None)

app.command("rename")(rename_tenant)
app.command("delete")(delete_tenant)
app.command("prove-erased")(prove_tenant_erased)

_SWITCH = {"on": True, "off": False}


@app.command("list")
def list_tenants(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the organisations. Acts as the owner of the tables (AGENTIC_RAG_OWNER_DATABASE_URL).

    Example: rag tenant list
    """

    every = on_graphql(context, lambda client: client.fetch(operator_queries.TENANTS), is_platform=True)
    found = [_organisation_json(one) for one in every]
    rows = [(one["name"], one["id"], one["externalRef"], _features(one)) for one in found]
    terminal.show(
        found,
        terminal.table(("NAME", "ID", "EXTERNAL ID", "FEATURES"), rows),
        as_json=as_json,
    )


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name that no other organisation has.")],
    external_ref: Annotated[
        str | None, typer.Option("--external-ref", help="Its id at the issuer of tokens, as the token's claim has it.")
    ] = None,
    platform_models: Annotated[
        bool,
        typer.Option("--platform-models", help="Let it use the platform's models and key where others bring theirs."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make an organisation. Where the platform's embedder costs money it brings its own key, unless
    AGENTIC_RAG_TENANTS_BRING_KEYS is false.

    Example: rag tenant create acme --external-ref org_2x9
    """
    wish = {"name": name, "externalRef": external_ref, "platformModels": platform_models}
    made = on_graphql(
        context, lambda client: client.fetch(operator_queries.CREATE_TENANT, input=wish), is_platform=True
    )
    _show(made["tenant"], as_json=as_json)


@app.command("show")
def show(context: typer.Context, tenant: TenantArgument, as_json: JsonOption = False) -> None:
    """Show an organisation and its features.

    Example: rag tenant show acme
    """
    _show(on_graphql(context, partial(_find, named=tenant), is_platform=True), as_json=as_json)


@app.command("set")
def set_features(
    context: typer.Context,
    tenant: TenantArgument,
    feature: Annotated[list[str], typer.Option("--feature", help="NAME=on or NAME=off; may be repeated.")],
    as_json: JsonOption = False,
) -> None:
    """Switch features of an organisation.

    Example: rag tenant set acme --feature ragGuidelines=on
    """
    wished = [
        {"flag": parse_feature_flag(name).name, "on": _switch(name, to)}
        for name, _, to in (one.partition("=") for one in feature)
    ]
    changing = partial(_change, named=tenant, apply=lambda _: {"features": wished})
    done = on_graphql(context, changing, is_platform=True)
    _show(done["tenant"], as_json=as_json, purged=done["purgedCrawls"])


@app.command("limits")
def set_limits(
    context: typer.Context,
    tenant: TenantArgument,
    asks: Annotated[str | None, typer.Option("--asks", metavar="N", help="Questions a minute.")] = None,
    writes: Annotated[str | None, typer.Option("--writes", metavar="N", help="Uploads and other changes.")] = None,
    reads: Annotated[str | None, typer.Option("--reads", metavar="N", help="Requests that only read.")] = None,
    stored_mb: Annotated[str | None, typer.Option("--stored-mb", metavar="N", help="Megabytes of uploads.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how many requests a minute an organisation may send and how much it may store, or set it: 0 is no limit,
    `default` what the server's settings say. Servers go by a change within 5 s.

    Example: rag tenant limits acme --asks 120 --writes 60
    """
    given = {"asks": asks, "writes": writes, "reads": reads, "storedMegabytes": stored_mb}
    wished = {name: _number(name, text) for name, text in given.items() if text is not None}
    if wished:
        changing = partial(_change, named=tenant, apply=lambda found: {"limits": {**found["ownLimits"], **wished}})
        found = on_graphql(context, changing, is_platform=True)["tenant"]
    else:
        found = on_graphql(context, partial(_find, named=tenant), is_platform=True)
    own, in_force = found["ownLimits"], found["limits"]
    rows = [
        (told, in_force[name] or "no limit", "settings" if own[name] is None else "its own")
        for name, told in _LIMITS.items()
    ]
    terminal.show(_limits_json(own, in_force), terminal.table(("WHAT", "LIMIT", "FROM"), rows), as_json=as_json)


_LIMITS = {"asks": "ask", "writes": "write", "reads": "read", "storedMegabytes": "MB stored"}


def _number(name: str, text: str) -> int | None:
    if text == "default":
        return None
    try:
        return int(text)
    except ValueError:
        raise InvalidInput(f"--{name} takes a number, or `default`.", path=(name,)) from None


@app.command("canaries")
def canaries(context: typer.Context, as_json: JsonOption = False) -> None:
    """Test the isolation of organisations once: each one searches for the canary documents of the others.

    Exit code 5: something leaked, or an attack could not be made. The canaries stay, in a workspace that no list shows.

    Example: rag tenant canaries
    """
    found = on_graphql(context, lambda client: client.fetch_long(operator_queries.ATTACK_TENANTS), is_platform=True)
    report = {name: found[name] for name in ("organisations", "checks", "leaks", "blind", "failed")}
    leaks, blind, failed = report["leaks"], report["blind"], report["failed"]
    lines = [f"{leak['asking']} saw the canary of {leak['owner']} ({leak['place']})" for leak in leaks]
    lines += [f"{org_id} does not find its own canary" for org_id in blind]
    counts = f"{report['organisations']} organisations, {report['checks']} checks, {len(leaks)} leaks"
    terminal.show(report, "\n".join([*lines, f"{counts}, {failed} failed"]), as_json=as_json)
    if leaks or blind or failed:
        raise typer.Exit(ExitCode.THRESHOLD)


def _switch(name: str, to: str) -> bool:
    if to not in _SWITCH:
        raise InvalidInput(f"Give --feature {name}=on or --feature {name}=off.", path=("feature",))
    return _SWITCH[to]


async def _find(client: GraphQLClient, *, named: str) -> dict[str, Any]:
    """The organisation of that id, external id or name. Errors: `NotFound`."""
    every = {one["id"]: one for one in await client.fetch(operator_queries.TENANTS)}
    return every[choose_organisation({key: (one["externalRef"], one["name"]) for key, one in every.items()}, named)]


async def _change(
    client: GraphQLClient, *, named: str, apply: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> dict[str, Any]:
    """The organisation after the change that `apply` makes of it, and the crawls that it cancelled. Errors: those of
    `_find`, `InvalidInput`.
    """
    found = await _find(client, named=named)
    changes = {"id": found["id"], **apply(found)}
    return await client.fetch(operator_queries.UPDATE_TENANT, input=changes)


def _show(tenant: Mapping[str, Any], *, as_json: bool, purged: int | None = None) -> None:
    """Show an organisation; after a change of its features with the crawls that this cancelled."""
    shown = _organisation_json(tenant)
    lines = [f"{shown['name']} ({shown['id']})"]
    if shown["externalRef"]:
        lines.append(f"external id: {shown['externalRef']}")
    if tenant["mustBringKey"]:
        lines.append(f"brings its own key: `rag provider-key set PROVIDER --tenant {shown['id']}`")
    lines.append(f"features: {_features(shown)}")
    if purged:
        lines.append(f"crawls cancelled: {purged}")
    told = {} if purged is None else {"purgedCrawls": purged}
    terminal.show({**shown, "mustBringKey": tenant["mustBringKey"], **told}, "\n".join(lines), as_json=as_json)


def _features(shown: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {'on' if is_on else 'off'}" for name, is_on in shown["features"].items())


def _organisation_json(tenant: Mapping[str, Any]) -> dict[str, Any]:
    """An organisation with its features by name."""
    names = ("id", "name", "externalRef", "createdAt")
    features = {FeatureFlag[one["flag"]].value: one["on"] for one in tenant["features"]}
    return {**{name: tenant[name] for name in names}, "features": features}


def _limits_json(own: Mapping[str, Any], in_force: Mapping[str, Any]) -> dict[str, object]:
    """Requests a minute and megabytes (0: no limit), and which limits are the organisation's own."""
    rates = {
        name: {"perMinute": in_force[name] or 0, "own": own[name] is not None} for name in ("asks", "writes", "reads")
    }
    name = "storedMegabytes"
    return {**rates, "stored": {"megabytes": in_force[name] or 0, "own": own[name] is not None}}
