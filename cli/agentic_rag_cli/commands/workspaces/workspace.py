"""`rag workspace`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agentic_rag.tenancy.principals import validate_name
from agentic_rag.workspaces.rag_config import MAX_RERANKED, MAX_RESULTS
from agentic_rag.workspaces.web_profiles import ProfileName
from agentic_rag_cli.client import operator_queries, queries, web_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.workspaces.deletion import delete_workspace, list_erasures, prove_workspace_erased
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="Workspaces: each holds one corpus of documents.", no_args_is_help=True, rich_markup_mode=None)

_LISTS = ("readers", "writers")

app.command("delete")(delete_workspace)
app.command("erasures")(list_erasures)
app.command("prove-erased")(prove_workspace_erased)


@app.command("list")
def list_workspaces(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the workspaces.

    Example: rag workspace list
    """
    found = [_json(one) for one in on_graphql(context, lambda client: client.fetch(queries.WORKSPACES))]
    rows = [(one["name"], one["kind"], one["corpusVersion"], one["id"]) for one in found]
    terminal.show(found, terminal.table(("NAME", "KIND", "VERSION", "ID"), rows), as_json=as_json)


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name that no other workspace has.")],
    dimensions: Annotated[
        int | None,
        typer.Option(
            "--embedding-dimensions",
            metavar="N",
            help="Dimensions of its vectors, 1 to 4000; shorter vectors are padded with zeros. Default: the model's.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make an empty workspace (`rag ingest` makes one too).

    Example: rag workspace create handbook
    """
    wish = {"name": validate_name(name, ("name",)), "embeddingDimensions": dimensions}
    made = _json(on_graphql(context, lambda client: client.fetch(queries.CREATE_WORKSPACE, input=wish))["workspace"])
    terminal.show(made, f"created {made['name']} ({made['id']})", as_json=as_json)


@app.command("rename")
def rename(
    context: typer.Context,
    workspace: Annotated[str, typer.Argument(help="The workspace.")],
    name: Annotated[str, typer.Argument(help="A name that no other workspace has.")],
    as_json: JsonOption = False,
) -> None:
    """Give a workspace another name; ids, links and answers stay as they are.

    Example: rag workspace rename handbook staff-handbook
    """
    wished = validate_name(name, ("name",))

    async def change(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        return await client.fetch(queries.RENAME_WORKSPACE, workspaceId=chosen, name=wished)

    renamed = _json(on_graphql(context, change)["workspace"])
    terminal.show(renamed, f"{workspace} is now {renamed['name']}", as_json=as_json)


@app.command("share")
def share(
    context: typer.Context,
    workspace: Annotated[str, typer.Argument(help="The workspace.")],
    reader: Annotated[
        list[str] | None,
        typer.Option(
            "--reader", metavar="WHO", help="May enter it: user:NAME, key:NAME or group:NAME; may be repeated."
        ),
    ] = None,
    writer: Annotated[
        list[str] | None,
        typer.Option("--writer", metavar="WHO", help="May enter it and change its documents; may be repeated."),
    ] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Let the whole organisation enter it.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Set who may enter a workspace, and who may change its documents: exactly those named, and admins. To anybody else
    it is as if it were not there. With --everyone and writers, all may read.

    Example: rag workspace share payroll --reader group:people --writer user:ada
    """
    if (everyone and reader) or not (everyone or reader or writer):
        raise typer.BadParameter("name readers or writers, or give --everyone")
    readers = None if everyone else reader or []

    async def change(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        return await client.fetch(queries.SHARE_WORKSPACE, workspaceId=chosen, readers=readers, writers=writer or None)

    shared = _json(on_graphql(context, change)["workspace"])
    lines = [f"{name}: {'all' if shared[name] is None else ', '.join(shared[name]) or 'admins'}" for name in _LISTS]
    terminal.show(shared, f"{shared['name']}: {'; '.join(lines)}", as_json=as_json)


@app.command("keep")
def keep(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The workspace.")],
    history_days: Annotated[int | None, typer.Option(metavar="DAYS", help="Superseded versions, 0 to 3650.")] = None,
    runs_days: Annotated[int | None, typer.Option(metavar="DAYS", help="Runs, 1 to 3650.")] = None,
    jobs_days: Annotated[int | None, typer.Option(metavar="DAYS", help="Finished jobs, 7 to 3650.")] = None,
    usage_days: Annotated[int | None, typer.Option(metavar="DAYS", help="Usage of models, 32 to 3650.")] = None,
    audit_days: Annotated[int | None, typer.Option(metavar="DAYS", help="The audit log, 30 to 3650.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Set for how many days a workspace keeps what is past; without options show it.

    Example: rag workspace keep handbook --runs-days 90
    """
    wished = {
        "historyDays": history_days, "runsDays": runs_days, "jobsDays": jobs_days,
        "usageDays": usage_days, "auditDays": audit_days,
    }  # fmt: skip
    changes = {what: days for what, days in wished.items() if days is not None}

    async def change(client: GraphQLClient) -> dict[str, Any]:
        return await client.fetch(
            queries.KEEP_WORKSPACE, input={"workspaceId": await client.workspace_id(name), **changes}
        )

    kept = on_graphql(context, change)["workspace"]["settings"]
    rows = [(what, "default" if days is None else days) for what, days in kept.items()]
    terminal.show(kept, terminal.table(("KEPT", "DAYS"), rows), as_json=as_json)


@app.command("passages")
def passages(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The workspace.")],
    top_k: Annotated[int | None, typer.Option(min=1, max=MAX_RESULTS, help="Most passages of a search.")] = None,
    min_similarity: Annotated[
        float | None, typer.Option(min=0, max=1, help="The least similarity to the question.")
    ] = None,
    rerank: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_RERANKED,
            help="The first passages that the reader puts in order, 2 or more; 0: none.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Set which passages the searches of a workspace bring; without options show it.

    Example: rag workspace passages handbook --rerank 4
    """
    wished = {"topK": top_k, "similarityThreshold": min_similarity, "rerank": rerank}
    changes = {what: value for what, value in wished.items() if value is not None}

    async def change(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(name)
        found = await client.fetch(operator_queries.RAG_CONFIG, id=chosen)
        held: dict[str, Any] = found["settings"]["ragConfig"]
        if not changes:
            return held
        given = {"workspaceId": chosen, "ragConfig": {**held, **changes}}
        changed = await client.fetch(operator_queries.SET_RAG_CONFIG, input=given)
        return changed["workspace"]["settings"]["ragConfig"]

    held = on_graphql(context, change)
    order = f"the reader orders the first {held['rerank']}" if held["rerank"] else "their order is that of the search"
    line = f"{name}: at most {held['topK']} passages, similarity from {held['similarityThreshold']:g} on; {order}"
    terminal.show(held, line, as_json=as_json)


@app.command("web")
def web(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The workspace.")],
    allow: Annotated[bool, typer.Option("--allow/--forbid", help="Whether its runs may look outside it.")],
    care: Annotated[float, typer.Option(min=0, max=1, help="0 looks outside as seldom as it may, 1 as readily.")] = 0.5,
    recrawl_hours: Annotated[
        int | None,
        typer.Option(min=0, max=8760, help="Ask for its pages again after so many hours at the latest; 0: never."),
    ] = None,
    profile: Annotated[
        ProfileName | None, typer.Option(help="How new its answers have to be: of any age, this week, or this month.")
    ] = None,
    seed: Annotated[
        list[str] | None,
        typer.Option(help="A brand, campaign or place that searches add; may be repeated. '' takes all away."),
    ] = None,
    organisation: Annotated[
        bool, typer.Option("--organisation", help="With --allow: allow it for the organisation too.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Set whether runs of a workspace may look outside its documents. The organisation has to allow it too: with
    --organisation, or by rag tenant set NAME --feature webAccess=on.

    Example: rag workspace web handbook --allow --care 0.7 --recrawl-hours 24
    """

    async def change(client: GraphQLClient) -> dict[str, Any]:
        access: dict[str, Any] = {"allow": allow, "care": care}
        if recrawl_hours is not None:
            access["recrawlHours"] = recrawl_hours
        if profile is not None:
            access["profile"] = profile.name
        if seed is not None:
            access["seeds"] = [one for one in seed if one.strip()]
        wished = {"workspaceId": await client.workspace_id(name), "web": access}
        changed = await client.fetch(web_queries.WEB_ACCESS, input=wished)
        if allow and organisation:
            await client.fetch(web_queries.ALLOW_ORGANISATION)
        return changed

    done = on_graphql(context, change)
    changed, purged = done["workspace"], done["purgedCrawls"]
    shown = changed["settings"]["web"]
    leave, hours = "allowed" if shown["allow"] else "forbidden", shown["recrawlHours"]
    again = f"its pages are asked for again within {hours} h" if hours else "its pages are not asked for again"
    kind = shown["profile"].lower()
    line = f"{changed['name']}: the web is {leave}, care {shown['care']:g}, profile {kind}; {again}"
    if shown["seeds"]:
        line += f"; searches add {', '.join(shown['seeds'])}"
    if purged:
        line += f"; crawls cancelled: {purged}"
    terminal.show({**shown, "purgedCrawls": purged}, line, as_json=as_json)


def _json(workspace: dict[str, Any]) -> dict[str, Any]:
    return {**workspace, "kind": workspace["kind"].lower()}
