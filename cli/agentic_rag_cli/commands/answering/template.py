"""`rag template`: the forms of prompt sections."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="Templates of `rag context`.", no_args_is_help=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(help="The template.")]


@app.command("list")
def list_templates(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List the built-in templates and the workspace's own, each with its versions.

    Example: rag template list --workspace handbook
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        return await client.fetch(queries.TEMPLATES, workspaceId=await client.workspace_id(workspace))

    found = on_graphql(context, work)
    rows = [
        (one["name"], one["version"], one["topK"], one["minSimilarity"], one["maxTokens"], one["heading"])
        for one in found
    ]
    columns = ("NAME", "VERSION", "PASSAGES", "SIMILARITY", "TOKENS", "HEADING")
    terminal.show(found, terminal.table(columns, rows), as_json=as_json)


@app.command("save")
def save(
    context: typer.Context,
    name: NameArgument,
    heading: Annotated[str, typer.Option("--heading", help="May hold {agent}.")],
    item: Annotated[
        str, typer.Option("--item", help="Form of a passage: {text} once, {source} and {title} if wanted.")
    ] = "{text}",
    opening: Annotated[str, typer.Option("--opening", help="Behind the heading.", show_default=False)] = "\n\n",
    joint: Annotated[str, typer.Option("--joint", help="Between two passages.", show_default=False)] = "\n\n",
    top: Annotated[int | None, typer.Option("--top", "-k", help="Passages; default: the workspace's.")] = None,
    min_similarity: Annotated[float | None, typer.Option(help="0 to 1; default: the workspace's.")] = None,
    item_characters: Annotated[int | None, typer.Option(help="Cut longer passages there.")] = None,
    max_tokens: Annotated[int, typer.Option("--max-tokens", help="Budget, in estimated tokens.")] = 2_000,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    r"""Keep a template, as the next version of its name. `\n` in the parts is a line break.

    Example: rag template save rules --heading "## House rules" --item "- {title}: {text}" --top 3
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        wished = {
            "workspaceId": await client.workspace_id(workspace),
            "name": name,
            **{part: text.replace("\\n", "\n") for part, text in parts.items()},
            "topK": top,
            "minSimilarity": min_similarity,
            "itemCharacters": item_characters,
            "maxTokens": max_tokens,
        }
        return (await client.fetch(queries.SAVE_TEMPLATE, input=wished))["template"]

    parts = {"heading": heading, "item": item, "opening": opening, "joint": joint}
    saved = on_graphql(context, work)
    terminal.show(saved, f"{saved['name']}, version {saved['version']}", as_json=as_json)


@app.command("delete")
def delete(
    context: typer.Context, name: NameArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Forget every version of a template.

    Example: rag template delete rules
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        workspace_id = await client.workspace_id(workspace)
        return await client.fetch(queries.DELETE_TEMPLATE, workspaceId=workspace_id, name=name)

    deleted = {"deletedName": on_graphql(context, work)["deletedName"]}
    terminal.show(deleted, f"deleted {name}", as_json=as_json)
