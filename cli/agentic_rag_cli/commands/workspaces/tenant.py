"""`rag tenant`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.models.providers.model_choice import ModelSettings
from agentic_rag.tenancy.principals import validate_name
from agentic_rag.workspaces.organisation import FeatureFlag, Organisation, OrganisationSettings, parse_feature_flag
from agentic_rag.workspaces.rate_limits import RateLimits, Traffic
from agentic_rag_cli.commands.workspaces.deletion import (
    TenantArgument,
    delete_tenant,
    prove_tenant_erased,
    rename_tenant,
)
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.json_view import json_fields
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.operations.leak_canaries import CanaryReport

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

    found = in_process(context, lambda system: system.container.organisations.all())
    rows = [(one.name, one.org_id, one.external_ref, _features(one)) for one in found]
    terminal.show(
        [_organisation_json(one) for one in found],
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

    async def work(system: System) -> tuple[Organisation, bool]:
        reference = None if external_ref is None else validate_name(external_ref, ("externalRef",))
        container = system.container
        models = ModelSettings(must_bring_key=False if platform_models else None)
        made = await container.organisations.create(
            container.ids.new(), validate_name(name, ("name",)), reference, OrganisationSettings(models=models)
        )
        return _with_models(system, made)

    _show(*in_process(context, work), as_json=as_json)


@app.command("show")
def show(context: typer.Context, tenant: TenantArgument, as_json: JsonOption = False) -> None:
    """Show an organisation and its features.

    Example: rag tenant show acme
    """

    async def work(system: System) -> tuple[Organisation, bool]:
        return _with_models(system, await system.organisation(tenant))

    _show(*in_process(context, work), as_json=as_json)


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
    wished = [(parse_feature_flag(name), _switch(name, to)) for name, _, to in (one.partition("=") for one in feature)]

    async def work(system: System) -> tuple[Organisation, bool]:
        organisation = await system.organisation(tenant)
        for flag, on in wished:
            organisation = await system.container.administer.set_feature(organisation.org_id, flag, on=on, actor=ACTOR)
        return _with_models(system, organisation)

    _show(*in_process(context, work), as_json=as_json)


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

    wished = {
        traffic: _number(f"{traffic.value}s", text)
        for traffic, text in ((Traffic.ASK, asks), (Traffic.WRITE, writes), (Traffic.READ, reads))
        if text is not None
    }

    async def work(system: System) -> tuple[RateLimits, RateLimits]:
        organisation = await system.organisation(tenant)
        if wished or stored_mb is not None:
            own = organisation.settings.rates
            stored = own.stored_mb if stored_mb is None else _number("stored-mb", stored_mb)
            rates = [wished[one] if one in wished else own.of(one) for one in Traffic]
            limits = RateLimits(*rates, stored_mb=stored)
            organisation = await system.container.admission.set_limits(organisation.org_id, limits, ACTOR)
        return organisation.settings.rates, await system.container.admission.in_force(organisation.org_id)

    own, in_force = in_process(context, work)
    rows = [
        (one.value, in_force.of(one) or "no limit", "settings" if own.of(one) is None else "its own") for one in Traffic
    ]
    rows.append(("MB stored", in_force.stored_mb or "no limit", "settings" if own.stored_mb is None else "its own"))
    terminal.show(_limits_json(own, in_force), terminal.table(("WHAT", "LIMIT", "FROM"), rows), as_json=as_json)


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
    report = in_process(context, lambda system: system.container.leak_canaries.run())
    lines = [f"{leak.asking} saw the canary of {leak.owner} ({leak.place})" for leak in report.leaks]
    lines += [f"{org_id} does not find its own canary" for org_id in report.blind]
    counts = f"{report.organisations} organisations, {report.checks} checks, {len(report.leaks)} leaks"
    terminal.show(_canaries_json(report), "\n".join([*lines, f"{counts}, {report.failed} failed"]), as_json=as_json)
    if not report.is_clean:
        raise typer.Exit(ExitCode.THRESHOLD)


def _switch(name: str, to: str) -> bool:
    if to not in _SWITCH:
        raise InvalidInput(f"Give --feature {name}=on or --feature {name}=off.", path=("feature",))
    return _SWITCH[to]


def _with_models(system: System, organisation: Organisation) -> tuple[Organisation, bool]:
    """The organisation, and whether it must bring its own key."""
    by_default = system.container.brings_key(organisation.org_id)
    return organisation, organisation.settings.models.decide(by_default=by_default).must_bring_key is True


def _show(organisation: Organisation, must_bring_key: bool, *, as_json: bool) -> None:
    lines = [f"{organisation.name} ({organisation.org_id})"]
    if organisation.external_ref:
        lines.append(f"external id: {organisation.external_ref}")
    if must_bring_key:
        lines.append(f"brings its own key: `rag provider-key set PROVIDER --tenant {organisation.org_id}`")
    text = "\n".join([*lines, f"features: {_features(organisation)}"])
    terminal.show({**_organisation_json(organisation), "mustBringKey": must_bring_key}, text, as_json=as_json)


def _features(organisation: Organisation) -> str:
    return ", ".join(f"{flag.value} {'on' if organisation.settings.is_on(flag) else 'off'}" for flag in FeatureFlag)


def _organisation_json(organisation: Organisation) -> dict[str, object]:
    """An organisation; field names as in the GraphQL API."""
    return {
        "id": str(organisation.org_id),
        **json_fields(organisation, "name", "external_ref", "created_at"),
        "features": {flag.value: organisation.settings.is_on(flag) for flag in FeatureFlag},
    }


def _limits_json(own: RateLimits, in_force: RateLimits) -> dict[str, object]:
    """Requests a minute and megabytes (0: no limit), and which limits are the organisation's own."""
    rates = {f"{one.value}s": {"perMinute": in_force.of(one) or 0, "own": own.of(one) is not None} for one in Traffic}
    return {**rates, "stored": {"megabytes": in_force.stored_mb or 0, "own": own.stored_mb is not None}}


def _canaries_json(report: CanaryReport) -> dict[str, object]:
    """One round of the leak canaries."""
    return {
        **json_fields(report, "organisations", "checks"),
        "leaks": [json_fields(leak, "asking", "owner", "place") for leak in report.leaks],
        **json_fields(report, "blind", "failed"),
    }
