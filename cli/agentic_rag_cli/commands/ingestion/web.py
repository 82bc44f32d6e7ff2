"""`rag search-web` and `rag crawl`."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Annotated, Any

import typer

from agentic_rag_cli.client import web_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.estimate_view import crawl_text
from agentic_rag_cli.wiring import on_graphql

_DONE = frozenset({"DONE", "DEAD", "CANCELLED", "PURGED"})
_LOOK_SECONDS = 0.5


def search_web(
    context: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to search for.")],
    top: Annotated[int, typer.Option("--top", help="Results at most.")] = 5,
    locale: Annotated[str, typer.Option("--locale", help="A language tag such as de-AT.")] = "",
    days: Annotated[int | None, typer.Option("--days", help="Only pages known to be this young.")] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Search the web as a run of the workspace would; nothing is fetched or kept.

    Example: rag search-web "wave limit Otter Voe" -w handbook
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        wish = {"workspaceId": chosen, "query": query, "topK": top, "locale": locale, "days": days}
        return await client.fetch(web_queries.SEARCH_WEB, input=wish)

    found = on_graphql(context, work)
    shown = [
        f"{one['title'] or one['url']}\n    {one['url']}{'  ' + one['published'] if one['published'] else ''}"
        f"\n    {one['snippet']}"
        for one in found["results"]
    ]
    left = f"{found['searchesLeft']} searches and {found['pagesLeft']} pages are left today"
    terminal.show(found, "\n\n".join([*(shown or ["nothing was found"]), left]), as_json=as_json)


def crawl(
    context: typer.Context,
    urls: Annotated[list[str], typer.Argument(metavar="URL…", help="Where to begin.")],
    depth: Annotated[int, typer.Option("--depth", help="Links between a page and a URL.")] = 1,
    pages: Annotated[int, typer.Option("--pages", help="Pages that are fetched at most.")] = 50,
    seconds: Annotated[int, typer.Option("--seconds", help="How long it may take.")] = 600,
    host: Annotated[list[str] | None, typer.Option("--host", help="Another host to follow; may be repeated.")] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Queue it and return.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only say what it would fetch and cost.")] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read pages, and those that they link to or that a sitemap or feed names, into a workspace. A worker has to run.

    Example: rag crawl https://docs.example.org/ --depth 1 --pages 30 -w handbook
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        wish = {
            "workspaceId": chosen,
            "urls": urls,
            "depth": depth,
            "maxPages": pages,
            "maxSeconds": seconds,
            "hosts": host or [],
        }
        if estimate:
            return await client.fetch(web_queries.ESTIMATE_CRAWL, input=wish)
        job = (await client.fetch(web_queries.CRAWL, input=wish))["jobId"]
        state: dict[str, Any] = {"state": "QUEUED"}
        while not no_wait and state["state"] not in _DONE:
            await asyncio.sleep(_LOOK_SECONDS)
            state = await client.fetch(web_queries.CRAWL_JOB, id=job)
        return {"jobId": job, **state, "pages": await client.fetch(web_queries.CRAWL_PAGES, id=job)}

    found = on_graphql(context, work)
    terminal.show(found, crawl_text(found) if estimate else _crawl_text(found), as_json=as_json)


def _crawl_text(found: dict[str, Any]) -> str:
    counted = Counter(one["state"] for one in found["pages"])
    rows = [(one["state"], one["code"], one["depth"], one["url"]) for one in found["pages"]]
    said = f": {found['errorMessage']}" if found.get("errorMessage") else ""
    lines = [f"job {found['jobId']} {found['state'].lower()}{said}"]
    if rows:
        lines.append(terminal.table(("STATE", "CODE", "DEPTH", "PAGE"), rows))
        lines.append(", ".join(f"{count} {state}" for state, count in sorted(counted.items())))
    return "\n".join(lines)
