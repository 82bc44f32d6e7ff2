"""`rag search` and `rag context`: retrieved text."""

from __future__ import annotations

import asyncio
import sys
from textwrap import indent
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.access import asked_server
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import AsOfOption, JsonOption, UrlOption, WhereOption, WorkspaceOption, as_of_input
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import RECOGNISED, citation_place
from agentic_rag_cli.wiring import on_graphql, wiring_of

QueryArgument = Annotated[str, typer.Argument(help="What is looked for; `-` reads it from standard input.")]
SimilarityOption = Annotated[
    float | None, typer.Option("--min-similarity", min=0, max=1, help="Least similarity of a passage; 0: any.")
]
TopOption = Annotated[int | None, typer.Option("--top", "-k", min=1, help="At most so many passages.")]


def search(
    context: typer.Context,
    query: QueryArgument,
    workspace: WorkspaceOption = None,
    top: TopOption = None,
    min_similarity: SimilarityOption = None,
    where: WhereOption = None,
    as_of: AsOfOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the passages for a text, best first, as they are stored. Nothing is answered.

    Example: rag search "isolation audit" --workspace handbook --top 3

    Example: rag search "who is on call" --as-of 2026-11-01
    """
    text, then = _read(query), as_of_input(as_of)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        asked = {"query": text, "workspaceId": chosen, "topK": top, "minSimilarity": min_similarity}
        asked = {**asked, **_filter(where), **then}
        return _without_errors(await client.fetch(queries.SEARCH, input=asked))

    found = _run(context, work, url)
    terminal.show(found, passages_text(found), as_json=as_json)


def prepare_context(
    context: typer.Context,
    query: QueryArgument,
    workspaces: Annotated[
        list[str] | None,
        typer.Option("--workspace", "-w", help="Name of a workspace; may be repeated, as NAME=AGENT for a heading."),
    ] = None,
    template: Annotated[str, typer.Option("--template", help="The form of the section.")] = "project_knowledge",
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Budget, in estimated tokens.")] = None,
    top: TopOption = None,
    min_similarity: SimilarityOption = None,
    where: WhereOption = None,
    as_of: AsOfOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a section for a prompt, made of the passages for a text; nothing where there are none.

    Templates: project_knowledge, team_guidelines, reference_guidelines, multi_agent, and those of `rag template`.

    Example: rag context "Fix the login test" --workspace web-shop --template team_guidelines

    Example: rag context "A calmer hero image" -w "brand=Brand Judge" -w "facts=Fact Judge" --template multi_agent
    """
    text, then = _read(query), as_of_input(as_of)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        asked = {
            "query": text,
            "workspaces": await asyncio.gather(*[_part(client, one) for one in workspaces or [None]]),
            "template": template,
            "maxTokens": max_tokens,
            "topK": top,
            "minSimilarity": min_similarity,
            **_filter(where),
            **then,
        }
        return _without_errors(await client.fetch(queries.CONTEXT, input=asked))

    prepared = _run(context, work, url)
    terminal.show(prepared, prepared["text"], as_json=as_json)
    if prepared["fault"]:
        terminal.note(f"{prepared['fault']}: the context is not complete; `rag doctor` says why")
    for source in prepared["sources"]:
        if source["recognised"]:
            terminal.note(f"{terminal.one_line(source['sourcePath'])}: {RECOGNISED}")


async def _part(client: GraphQLClient, named: str | None) -> dict[str, str]:
    """A workspace given as NAME or NAME=AGENT."""
    name, _, agent = (named or "").partition("=")
    return {"workspaceId": await client.workspace_id(name or None), "agent": agent}


def _filter(where: str | None) -> dict[str, Any]:
    return {} if where is None else {"filter": {"where": where}}


def _read(query: str) -> str:
    text = (sys.stdin.read() if query == "-" else query).strip()
    if not text:
        raise InvalidInput("The query is empty.", code="QUESTION_EMPTY")
    return text


def _without_errors(payload: dict[str, Any]) -> dict[str, Any]:
    """What the command prints: a payload with errors was refused before."""
    return {name: value for name, value in payload.items() if name != "userErrors"}


def _run(context: typer.Context, work: Any, url: str | None) -> dict[str, Any]:
    return on_graphql(context, work, address=asked_server(wiring_of(context).settings(), url))


def passages_text(found: dict[str, Any]) -> str:
    """The passages as a person reads them, each with what is doubtful of it."""
    parts = [_passage_text(number, one) for number, one in enumerate(found["passages"], start=1)]
    if found["degraded"]:
        parts.append(f"Degraded, missing: {', '.join(found['degraded'])} (`rag doctor` says why)")
    return "\n\n".join(parts) or "No passage."


def _passage_text(number: int, one: dict[str, Any]) -> str:
    alike = "" if one["similarity"] is None else f", similarity {one['similarity']:.2f}"
    head = f"{number}. {citation_place(one)}  (score {one['score']:.2f}{alike})"
    pictured = [f"    {RECOGNISED}"] if one["recognised"] else []
    steering = [f"    looks written to steer a model: {', '.join(one['flags'])}"] if one["flags"] else []
    return "\n".join((head, *pictured, *steering, indent(one["text"], "    ")))
