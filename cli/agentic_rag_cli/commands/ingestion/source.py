"""`rag source`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from agentic_rag.ingestion.sources.source import DEFAULT_EVERY_SECONDS, SourceKind
from agentic_rag.kernel.errors import NotFound
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import IngestStalled, StallWatch
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import (
    GroupOption,
    JsonOption,
    KeyOption,
    UrlOption,
    UserOption,
    WorkspaceOption,
    readers_of,
)
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import beside_worker, in_process, on_graphql, wiring_of

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")

app = typer.Typer(
    help="Sources that a workspace follows: folders, repositories, buckets, sites.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Name of the source.")]

_POLL_SECONDS = 0.25


PrefixOption = Annotated[
    str | None, typer.Option("--prefix", help="Begins the paths of its documents; by default NAME/.")
]
IncludeOption = Annotated[
    list[str] | None, typer.Option("--include", help="Take only files like `*.md`; may be repeated.")
]
EveryOption = Annotated[int, typer.Option("--every", help="Seconds between two looks; 0: only when asked.")]
BranchOption = Annotated[str | None, typer.Option("--branch", help="git: a branch or tag.")]
EndpointOption = Annotated[str | None, typer.Option("--endpoint", help="s3: the address of a compatible store.")]
RegionOption = Annotated[str | None, typer.Option("--region", help="s3: the region of the bucket.")]
CredentialOption = Annotated[
    bool, typer.Option("--credential", help="Read a credential from standard input; it is stored encrypted.")
]
InternalOption = Annotated[
    bool, typer.Option("--internal", help="It may reach files of the workers and addresses that are not public.")
]
LocationArgument = Annotated[
    str, typer.Argument(help="A folder, a repository, BUCKET or BUCKET/PREFIX, a sitemap's address.")
]


@app.command("add")
def add(
    context: typer.Context,
    name: NameArgument,
    kind: Annotated[SourceKind, typer.Argument(help="What it is.", case_sensitive=False)],
    location: LocationArgument,
    workspace: WorkspaceOption = None,
    prefix: PrefixOption = None,
    include: IncludeOption = None,
    every: EveryOption = DEFAULT_EVERY_SECONDS,
    branch: BranchOption = None,
    endpoint: EndpointOption = None,
    region: RegionOption = None,
    credential: CredentialOption = False,
    internal: InternalOption = False,
    user: UserOption = None,
    key: KeyOption = None,
    group: GroupOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Follow a source. A worker synchronises it now and then; `rag source sync` does at once and waits.

    A credential is a token, or USER:TOKEN, for git, and ACCESS_KEY:SECRET_KEY for s3. A folder is always internal.

    Example: rag source add handbook directory ./handbook --every 60
    """
    is_folder = kind is SourceKind.DIRECTORY
    given = {
        "name": name,
        "kind": kind.name,
        "location": str(Path(location).resolve()) if is_folder and not url else location,
        "prefix": prefix,
        "include": list(include or ()),
        "readableBy": list(readers_of(user, group, key) or ()),
        "everySeconds": every,
        "branch": branch,
        "endpoint": endpoint,
        "region": region,
        "credential": sys.stdin.read() if credential else None,
        "internal": internal or is_folder,
    }

    async def work(client: GraphQLClient) -> dict[str, Any]:
        workspace_id = await client.workspace_id(workspace)
        return (await client.fetch(queries.ADD_SOURCE, input={"workspaceId": workspace_id, **given}))["source"]

    added = _ask(context, work, url)
    terminal.show(added, f"following {added['name']}: {added['kind'].lower()} {added['location']}", as_json=as_json)


@app.command("list")
def list_sources(
    context: typer.Context, workspace: WorkspaceOption = None, url: UrlOption = None, as_json: JsonOption = False
) -> None:
    """List the sources of a workspace, each with its documents and its last fault.

    Example: rag source list
    """
    found = _ask(context, partial(_sources, workspace=workspace), url)
    terminal.show(found, _table(found), as_json=as_json)


@app.command("status")
def status(
    context: typer.Context,
    name: NameArgument,
    workspace: WorkspaceOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one source: what its last synchronisation did, what it could not read, when the next one is. Exits with 3
    when the last one failed or files are unreadable.

    Example: rag source status handbook
    """
    shown = _ask(context, partial(_source, workspace=workspace, name=name), url)
    terminal.show(shown, _text(shown), as_json=as_json)
    if shown["errorCode"] or shown["unreadable"]:
        raise typer.Exit(ExitCode.PARTIAL)


@app.command("sync")
def sync(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help="Names of sources; all when left out.")
    ] = None,
    workspace: WorkspaceOption = None,
    delete_missing: Annotated[
        bool, typer.Option("--delete-missing", help="Go on although most files are gone from the source.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every document is done.")] = True,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Synchronise sources now; failed documents are tried again. With --wait it exits with 3 when a source, a file or a
    document failed, for use in CI. Without a worker one is started for as long as the command waits.

    Example: rag source sync handbook
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        known = await _sources(client, workspace=workspace)
        wanted = [_named(known, name) for name in names] if names else known
        with terminal.ProgressLine("synchronising") as bar:
            return await synchronise(client, wanted, bar.update, delete_missing=delete_missing, wait=wait)

    async def work_here(system: System) -> list[dict[str, Any]]:
        async with system.client() as client:
            return await beside_worker(context, system, partial(work, client))

    address = url or wiring_of(context).settings().client.url
    found = on_graphql(context, work, address=address) if address or not wait else in_process(context, work_here)
    terminal.show(found, "\n\n".join(_text(one) for one in found), as_json=as_json)
    if wait and any(
        one["errorCode"] or one["counts"]["unreadable"] or one["documentCounts"]["failed"] for one in found
    ):
        raise typer.Exit(ExitCode.PARTIAL)


@app.command("remove")
def remove(
    context: typer.Context,
    name: NameArgument,
    workspace: WorkspaceOption = None,
    keep_documents: Annotated[
        bool, typer.Option("--keep-documents", help="Leave its documents where they are.")
    ] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Stop following a source. Its documents are hidden by a worker, and erased after the grace.

    Example: rag source remove handbook
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        source = await _source(client, workspace=workspace, name=name)
        return await client.fetch(queries.REMOVE_SOURCE, id=source["id"], keepDocuments=keep_documents)

    _ask(context, work, url)
    terminal.show({"removed": True, "name": name}, f"no longer following {name}", as_json=as_json)


def _ask(context: typer.Context, work: Callable[[GraphQLClient], Coroutine[Any, Any, T]], url: str | None) -> T:
    return on_graphql(context, work, address=url or wiring_of(context).settings().client.url)


async def _sources(client: GraphQLClient, *, workspace: str | None) -> list[dict[str, Any]]:
    return await client.fetch(queries.SOURCES, workspaceId=await client.workspace_id(workspace))


async def _source(client: GraphQLClient, *, workspace: str | None, name: str) -> dict[str, Any]:
    return _named(await _sources(client, workspace=workspace), name)


def _named(known: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    for one in known:
        if name in (one["name"], one["id"]):
            return one
    raise NotFound(f"There is no source {name!r}; `rag source list` shows them.")


async def synchronise(
    client: GraphQLClient,
    wanted: Sequence[Mapping[str, Any]],
    progress: Callable[[int, int, str], None],
    *,
    delete_missing: bool,
    wait: bool,
) -> list[dict[str, Any]]:
    """Ask for the synchronisations, and wait until their jobs ended and no document is unfinished."""
    jobs: dict[str, str] = {}
    for one in wanted:
        asked = await client.fetch(queries.SYNC_SOURCE, id=one["id"], deleteMissing=delete_missing)
        jobs[one["id"]] = asked["jobId"]
    watch = StallWatch()
    while True:
        # Jobs first: what is counted after one has ended has all documents that it brought.
        states = [await client.fetch(queries.JOB_STATE, id=job_id) for job_id in jobs.values()] if wait else []
        found = [await client.fetch(queries.SOURCE, id=source_id) for source_id in jobs]
        found = [one for one in found if one is not None]
        running = [one for one in states if one is not None and one["state"] in ("QUEUED", "RUNNING")]
        pending = sum(one["documentCounts"]["pending"] for one in found)
        if not wait or not (running or pending):
            return found
        if watch.is_stalled((found, running)):
            raise IngestStalled(
                "Nothing moves any more. The jobs stay queued: see `rag job list`, and whether a worker runs."
            )
        total = sum(sum(one["documentCounts"].values()) for one in found)
        progress(total - pending, total + len(running), found[0]["name"] if found else "")
        await asyncio.sleep(_POLL_SECONDS)


def _table(found: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        (
            one["name"],
            one["kind"].lower(),
            _state(one),
            one["documentCounts"]["ready"],
            one["documentCounts"]["pending"],
            one["documentCounts"]["failed"],
            one["syncedAt"] or "",
            one["location"],
        )
        for one in found
    ]
    return terminal.table(("NAME", "KIND", "STATE", "READY", "PENDING", "FAILED", "SYNCHRONISED", "LOCATION"), rows)


def _state(source: Mapping[str, Any]) -> str:
    if source["leaving"]:
        return "leaving"
    if source["errorCode"]:
        return f"{'resting' if source['resting'] else 'failing'} [{source['errorCode']}]"
    return "ok" if source["syncedAt"] else "new"


def _text(source: Mapping[str, Any]) -> str:
    """A source in a few lines."""
    counts = [f"{count} {_WORDS.get(name, name)}" for name, count in source["counts"].items() if count]
    documents = source["documentCounts"]
    lines = [
        f"{source['name']}: {source['kind'].lower()} {source['location']} ({_state(source)})",
        f"  last look: {', '.join(counts) or 'nothing'}; synchronised {source['syncedAt'] or 'never'}",
        f"  documents: {documents['ready']} ready, {documents['pending']} pending, {documents['failed']} failed",
    ]
    if source["errorCode"]:
        again = f" ({source['failures']} in a row, next try {source['nextAt'] or 'when asked'})"
        lines.append(f"  error [{source['errorCode']}]: {source['errorMessage']}{again}")
    lines += [f"  UNREADABLE {one['path']}  [{one['code']}] {one['message']}" for one in source["unreadable"]]
    return "\n".join(map(terminal.one_line, lines))


_WORDS = {"inProgress": "in progress"}
