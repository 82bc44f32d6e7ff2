"""`rag ingest`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.models.billing.embedding_cost import EmbeddingCost
from agentic_rag.tenancy.principals import validate_name
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.following import FollowOption, following
from agentic_rag_cli.commands.documents.ingestion import IngestSummary, ingest_directory, plan_directory
from agentic_rag_cli.corpus import corpus_directory, require_folder
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import (
    DateOption,
    DomainOption,
    FieldOption,
    GroupOption,
    JsonOption,
    KeyOption,
    LanguageOption,
    TagOption,
    UrlOption,
    UserOption,
    metadata_of,
    read_folder,
    readers_of,
)
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import beside_worker, in_process, on_graphql, wiring_of

if TYPE_CHECKING:
    from agentic_rag.ingestion.estimate import FileEstimate


FolderArgument = Annotated[
    Path | None,
    typer.Argument(
        help="Folder to read; AGENTIC_RAG_CORPUS_DIR when left out.",
        show_default=False,
        parser=read_folder,
        metavar="FOLDER",
    ),
]
SourceOption = Annotated[
    Path | None,
    typer.Option("--source", "-s", help="The same folder, as an option.", parser=read_folder, metavar="FOLDER"),
]


def ingest(
    context: typer.Context,
    folder: FolderArgument = None,
    source: SourceOption = None,
    workspace: Annotated[
        str, typer.Option("--workspace", "-w", help="Name of the workspace; made when there is none.")
    ] = "default",
    delete_missing: Annotated[
        bool, typer.Option("--delete-missing", help="Go on although most files are gone from the folder.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every file is done.")] = True,
    follow: FollowOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, change nothing.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Read and chunk, say what embedding would cost, change nothing.")
    ] = False,
    user: UserOption = None,
    key: KeyOption = None,
    group: GroupOption = None,
    tag: TagOption = None,
    field: FieldOption = None,
    domain: DomainOption = None,
    language: LanguageOption = None,
    date: DateOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a workspace up to date with a folder: new and changed files are ingested, gone ones hidden, later erased.

    With --user or --group only those read the files that are new; `rag doc share` changes who reads the others.

    --tag, --field, --domain, --language and --date hold for every file, over what its front matter says.

    With --wait and no worker running, a worker is started for as long as the command lasts.

    With --url the files are read here, and only what the server does not have is sent.

    Example: rag ingest ./reports --workspace reports
    """
    if folder and source:
        raise typer.BadParameter(f"Two folders are named: {folder} and {source}. Leave one out.")
    settings = wiring_of(context).settings()
    directory, address = require_folder(corpus_directory(settings, folder or source)), url or settings.client.url
    readers = readers_of(user, group, key) or ()
    said = metadata_of(tag, field, domain, language, date)
    if estimate:
        _show_estimates(context, directory, workspace, url, as_json=as_json)
        return

    if address:
        options = {"dry_run": dry_run, "delete_missing": delete_missing, "readable_by": readers, "metadata": said}
        found = _push(context, workspace, directory, options, address, wait=wait or follow, follow=follow)
    elif dry_run:
        found = in_process(context, lambda system: plan_directory(system, workspace, directory))
    else:
        ingesting = partial(ingest_directory, wait=wait or follow, delete_missing=delete_missing, metadata=said)
        found = _ingest(context, ingesting, workspace, directory, readers, wait=wait or follow, follow=follow)
    _show_report(found, as_json=as_json)


def _push(
    context: typer.Context,
    workspace: str,
    directory: Path,
    options: dict[str, Any],
    address: str,
    *,
    wait: bool,
    follow: bool,
) -> IngestSummary:
    from agentic_rag.ingestion.sync import SyncOptions
    from agentic_rag_cli.commands.documents.pushing import ensure_workspace, push_directory

    async def work(client: GraphQLClient) -> IngestSummary:
        run = partial(push_directory, client, workspace, directory, SyncOptions(**options), wait=wait)
        if follow:
            async with following(client, await ensure_workspace(client, workspace)):
                return await run(progress=lambda *_: None)
        with terminal.ProgressLine("ingesting") as bar:
            return await run(progress=bar.update)

    return on_graphql(context, work, address=address)


def _ingest(
    context: typer.Context,
    ingesting: Callable[..., Coroutine[Any, Any, IngestSummary]],
    workspace: str,
    directory: Path,
    readers: tuple[str, ...],
    *,
    wait: bool,
    follow: bool,
) -> IngestSummary:
    async def work(system: System) -> IngestSummary:
        run = partial(ingesting, system, workspace, directory, readers)
        if follow:
            into = encode_workspace((await system.ensure_workspace(workspace)).ref.workspace_id)
            async with system.client() as client, following(client, into):
                return await beside_worker(context, system, partial(run, progress=lambda *_: None))
        with terminal.ProgressLine("ingesting") as bar:
            shown = partial(run, progress=bar.update)
            return await (beside_worker(context, system, shown) if wait else shown())

    return in_process(context, work)


def _show_report(report: IngestSummary, *, as_json: bool) -> None:
    """What became of each file. Exit code 3 when a person has to look at one."""
    lines = [one.line() for one in report.files]
    terminal.show(report.as_json(), "\n".join([*lines, report.summary()]), as_json=as_json)
    if report.failures:
        raise typer.Exit(ExitCode.PARTIAL)


def _show_estimates(context: typer.Context, directory: Path, name: str, url: str | None, *, as_json: bool) -> None:
    if url:
        raise InvalidInput("--estimate reads and chunks in this process: leave --url out.", path=("estimate",))
    found = in_process(context, lambda system: estimate_directory(system, name, directory))
    terminal.show(estimates_json(name, directory, found), estimates_text(name, found), as_json=as_json)
    if any(one.fault for one in found):
        raise typer.Exit(ExitCode.PARTIAL)


async def estimate_directory(system: System, workspace: str, directory: Path) -> list[FileEstimate]:
    """An estimate for every file that `rag ingest` would ingest; changes nothing."""
    name = validate_name(workspace, ("workspace",))
    known = await system.find_workspace(name)
    source = system.container.directory_source(directory)
    return await system.container.estimate.run(known.ref if known else None, source)


def estimates_text(workspace: str, found: Sequence[FileEstimate]) -> str:
    """A line for each file, and the sum."""
    rows = [
        (*_cells(one.cost), one.path, f"[{one.fault.code}] {one.fault.message}" if one.fault else "") for one in found
    ]
    total = _total_cost(found)
    price = "price of the model not known" if total["costUsd"] is None else f"about USD {total['costUsd']:.6f}"
    chunks, tokens = format_count(total["chunks"], "chunk"), format_count(total["tokens"], "token")
    table = terminal.table(("CHUNKS", "TOKENS", "REUSED", "USD", "FILE", ""), rows)
    return f"{table}\n{workspace}: {chunks}, {tokens} to embed, {price}"


def estimates_json(workspace: str, source: Path, found: Sequence[FileEstimate]) -> dict[str, Any]:
    """The JSON form, with stable names."""
    return {
        "workspace": workspace,
        "source": str(source),
        **_total_cost(found),
        "files": [
            {
                "path": one.path,
                "code": one.fault.code if one.fault else None,
                "message": one.fault.message if one.fault else None,
                **_cost_json(one.cost),
            }
            for one in found
        ],
    }


def _total_cost(found: Sequence[FileEstimate]) -> dict[str, Any]:
    """The sum over files; the price is None when it is unknown."""
    costs = [one.cost for one in found if one.cost is not None]
    prices = [cost.cost_usd for cost in costs]
    return {
        "chunks": sum(cost.chunks for cost in costs),
        "tokens": sum(cost.tokens for cost in costs),
        "reusedChunks": sum(cost.reused_chunks for cost in costs),
        "costUsd": None if None in prices else sum(price for price in prices if price is not None),
    }


def _cost_json(cost: EmbeddingCost | None) -> dict[str, Any]:
    if cost is None:
        return dict.fromkeys(("chunks", "tokens", "reusedChunks", "costUsd"))
    return {
        "chunks": cost.chunks,
        "tokens": cost.tokens,
        "reusedChunks": cost.reused_chunks,
        "costUsd": cost.cost_usd,
    }


def _cells(cost: EmbeddingCost | None) -> tuple[object, object, object, object]:
    if cost is None:
        return "", "", "", ""
    return cost.chunks, cost.tokens, cost.reused_chunks, "?" if cost.cost_usd is None else f"{cost.cost_usd:.6f}"
