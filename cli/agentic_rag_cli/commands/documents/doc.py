"""`rag doc`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.kernel.errors import NotFound, Permanent
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.client import deletion_queries, queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.describe import metadata_json, metadata_rows, set_document
from agentic_rag_cli.commands.documents.left_out import beginnings, left_out_text, texts_left_out
from agentic_rag_cli.commands.documents.proving import prove_document_erased
from agentic_rag_cli.options import (
    GroupOption,
    JsonOption,
    KeyOption,
    LimitOption,
    UserOption,
    WhereOption,
    WorkspaceOption,
    readers_input,
    readers_of,
)
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import unread_text
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="Documents of a workspace.", no_args_is_help=True, rich_markup_mode=None)

app.command("set")(set_document)

_OPENING = 60
"""Characters of a passage in a list."""

Wanted = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Id or source path of the document.")]


@app.command("list")
def list_documents(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    status: Annotated[
        list[DocumentStatus] | None, typer.Option("--status", help="Only these; may be repeated.", case_sensitive=False)
    ] = None,
    where: WhereOption = None,
    limit: LimitOption = 1000,
    as_json: JsonOption = False,
) -> None:
    """List documents with their status, by source path.

    Example: rag doc list --workspace handbook --status FAILED
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        chosen = await client.workspace_id(workspace)
        wanted = [one.name for one in status or ()]
        narrowed = {} if where is None else {"filter": {"where": where}}
        return await client.nodes(queries.DOCUMENTS, limit, workspaceId=chosen, statuses=wanted, **narrowed)

    found = [_json(one) for one in on_graphql(context, work)]
    rows = [
        (
            one["status"],
            one["chunkCount"],
            one["sourcePath"],
            _remark(one),
        )
        for one in found
    ]
    terminal.show(found, terminal.table(("STATUS", "CHUNKS", "DOCUMENT", ""), rows), as_json=as_json)


@app.command("show")
def show(
    context: typer.Context,
    document: Wanted,
    left_out: Annotated[
        bool, typer.Option("--left-out", help="Show instead how each text begins that no answer knows of.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one document.

    Example: rag doc show policies/travel.pdf
    """

    async def work(client: GraphQLClient) -> tuple[dict[str, Any], list[str]]:
        found = await client.fetch(queries.DOCUMENT, id=await client.document_id(workspace, document))
        return found, await texts_left_out(client, found) if left_out else []

    one, texts = on_graphql(context, work)
    if left_out:
        terminal.show(texts, beginnings(texts) or "Nothing was left out.", as_json=as_json)
        return
    shown = _json(one)
    readers = None if shown["readableBy"] is None else _principals(shown["readableBy"])
    shown["readableBy"] = readers
    if as_json:
        terminal.result_json(shown)
        return
    nobody = "nobody: its source no longer has it"
    shown["readableBy"] = "the whole workspace" if readers is None else ", ".join(readers) or nobody
    error = shown.pop("error")
    provenance = shown.pop("provenance")
    shown["unreadPages"] = _unread(shown["unreadPages"]) or "none"
    shown["recognisedPages"] = _recognised(shown["recognisedPages"]) or "none"
    shown["leftOut"] = left_out_text(shown["leftOut"]) or "nothing"
    said = metadata_rows(one["metadata"])
    shown.pop("metadata")
    cost = {f"embedding {name}": value for name, value in (shown.pop("embedding") or {}).items()}
    terminal.result(terminal.table(("FIELD", "VALUE"), [*shown.items(), *said, *cost.items(), *provenance.items()]))
    if error:
        tries = format_count(error["attempts"], "attempt")
        terminal.result(f"\nfailed [{error['code']}]: {error['message']} ({tries})")


@app.command("chunks")
def chunks(
    context: typer.Context,
    document: Wanted,
    containing: Annotated[
        str | None, typer.Option("--containing", "-c", help="Only passages with this text, in any case.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the passages of a document with their ids, for `rag explain --why-not`.

    Example: rag doc chunks policies/travel.pdf --containing "per diem"
    """

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        return await client.nodes(queries.DOCUMENT_CHUNKS, id=await client.document_id(workspace, document))

    every = on_graphql(context, work)
    wanted = " ".join((containing or "").casefold().split())
    found = [one for one in every if wanted in " ".join(one["text"].casefold().split())]
    rows = [
        (
            one["id"],
            f"line {one['lineStart']}" if one["page"] is None else f"page {one['page']}",
            terminal.shorten(" ".join(one["text"].split()), _OPENING),
        )
        for one in found
    ]
    terminal.show(found, terminal.table(("ID", "PLACE", "BEGINS"), rows), as_json=as_json)


@app.command("delete")
def delete(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Erase a document everywhere: text, chunks, vectors, postings, graph, cached answers, original.

    Example: rag doc delete policies/travel-2019.pdf
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.document_id(workspace, document)
        path = (await client.fetch(queries.DOCUMENT, id=chosen))["sourcePath"]
        return {"id": chosen, "sourcePath": path, **await client.fetch_long(deletion_queries.DELETE, id=chosen)}

    deleted = on_graphql(context, work)
    names = ("id", "sourcePath", "corpusVersion", "removed", "unfinished", "certificate")
    if as_json:
        terminal.result_json({name: deleted[name] for name in names})
        return
    counts = [f"{name.replace('_', ' ')} {count}" for name, count in deleted["removed"].items() if count]
    name = terminal.one_line(deleted["sourcePath"])
    terminal.result(f"deleted {name}: {', '.join(counts) or 'nothing was published'}")
    if deleted["unfinished"]:
        terminal.note(f"a job finishes {', '.join(deleted['unfinished'])} as soon as it answers: rag job list")
    if deleted["certificate"] is not None:
        for limit in deleted["certificate"]["notCovered"]:
            taken = limit["takenAt"] and f" ({datetime.fromisoformat(limit['takenAt']):%F %T %Z})"
            terminal.note(f"not covered: {limit['reason']}{taken or ''}")
        terminal.note(f"check it any time: rag doc prove-erased {name}")


@app.command("share")
def share(
    context: typer.Context,
    document: Wanted,
    user: UserOption = None,
    key: KeyOption = None,
    group: GroupOption = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Let the whole workspace read it.")] = False,
    all_versions: Annotated[
        bool, typer.Option("--all-versions", help="Open text that only older versions hold to them too.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set who may read a document: exactly those named. Holds from the next question on.

    Example: rag doc share policies/salaries.pdf --group people --user ada
    """
    readers = readers_of(user, group, key)
    if (readers is None) != everyone:
        raise typer.BadParameter("name users, keys and groups, or give --everyone")

    async def work(client: GraphQLClient) -> str:
        chosen = await client.document_id(workspace, document)
        shared = await client.fetch(
            queries.SHARE, id=chosen, readableBy=readers_input(readers), allVersions=all_versions
        )
        return shared["document"]["sourcePath"]

    shared = on_graphql(context, work)
    terminal.show(
        {"document": shared, "readableBy": list(readers) if readers else None},
        f"{shared}: {', '.join(readers) if readers else 'the whole workspace'}",
        as_json=as_json,
    )


@app.command("writers")
def set_writers(
    context: typer.Context,
    document: Wanted,
    writer: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WRITER]...", help="user:NAME, key:NAME or group:NAME; none: owner and admins only."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say who may replace a document's content beside its owner and admins: exactly those named.

    Example: rag doc writers policies/travel.pdf group:people key:sync
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.document_id(workspace, document)
        return (await client.fetch(queries.SET_WRITERS, id=chosen, writers=writer or []))["document"]

    changed = on_graphql(context, work)
    writers = ", ".join(changed["writers"]) or "owner and admins"
    terminal.show(changed, f"{terminal.one_line(changed['sourcePath'])}: {writers}", as_json=as_json)


@app.command("transfer")
def transfer(
    context: typer.Context,
    document: Wanted,
    to: Annotated[str, typer.Argument(metavar="OWNER", help="user:NAME or key:NAME.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hand a document over to another owner, who reads it from then on.

    Example: rag doc transfer policies/travel.pdf user:ada
    """

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.document_id(workspace, document)
        return (await client.fetch(queries.TRANSFER, id=chosen, to=to))["document"]

    changed = on_graphql(context, work)
    terminal.show(changed, f"{terminal.one_line(changed['sourcePath'])}: {changed['uploadedBy']}", as_json=as_json)


@app.command("withdraw")
def withdraw(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Take a document out of answers, reads and lists until `rag doc restore`. Nothing is erased.

    Example: rag doc withdraw policies/travel.pdf
    """
    _change_withdrawal(context, queries.WITHDRAW, document, workspace, as_json=as_json)


@app.command("restore")
def restore(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Give a withdrawn document back to its readers, as it is.

    Example: rag doc restore policies/travel.pdf
    """
    _change_withdrawal(context, queries.RESTORE, document, workspace, as_json=as_json)


def _change_withdrawal(
    context: typer.Context, mutation: str, document: str, workspace: str | None, *, as_json: bool
) -> None:
    async def work(client: GraphQLClient) -> dict[str, Any]:
        return (await client.fetch(mutation, id=await client.document_id(workspace, document)))["document"]

    changed = on_graphql(context, work)
    state = "withdrawn: rag doc restore gives it back" if changed["withdrawn"] else "not withdrawn"
    terminal.show(changed, f"{terminal.one_line(changed['sourcePath'])}: {state}", as_json=as_json)


@app.command("prove-erased")
def prove_erasure(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Search every store for remains of an erased document. Exit code 1 when something is left.

    Example: rag doc prove-erased policies/travel-2019.pdf
    """
    prove_document_erased(context, workspace, document, as_json=as_json)


@app.command("reingest")
def reingest(
    context: typer.Context,
    document: Annotated[
        str | None, typer.Argument(metavar="[DOCUMENT]", help="Id or source path of the document.")
    ] = None,
    all_failed: Annotated[bool, typer.Option("--all-failed", help="Every FAILED document instead of one.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Make and embed every chunk anew, even when nothing changed.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ingest a document again from its stored original, after a failure or a change of parser or chunk profile.

    Example: rag doc reingest --all-failed --workspace handbook
    """
    if (document is None) != all_failed:
        raise typer.BadParameter("name one document, or give --all-failed")
    if all_failed and force:
        raise typer.BadParameter("--force is for one document")

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        if document is not None:
            chosen = await client.document_id(workspace, document)
            return [await client.fetch(queries.REINGEST, id=chosen, force=force)]
        failed = await client.nodes(
            queries.DOCUMENT_PATHS, workspaceId=await client.workspace_id(workspace), statuses=["FAILED"]
        )
        queued = [await _reingest_kept(client, one["id"]) for one in failed]
        return [one for one in queued if one is not None]

    queued = on_graphql(context, work)
    if as_json:
        terminal.result_json([{**one["document"], "jobId": one["jobId"], "new": one["new"]} for one in queued])
        return
    for one in queued:
        name = terminal.one_line(one["document"]["sourcePath"])
        terminal.result(f"{'queued' if one['new'] else 'under way already'}: {name}")
    if not queued:
        terminal.result("nothing to do")
    else:
        terminal.note("a worker does it: rag up, or rag worker; rag job list shows how it goes")


async def _reingest_kept(client: GraphQLClient, document_id: str) -> dict[str, Any] | None:
    """Queue the ingestion of a document; None when its original is gone."""
    try:
        return await client.fetch(queries.REINGEST, id=document_id, force=False)
    except (NotFound, Permanent):
        return None


def _remark(document: dict[str, Any]) -> str:
    """What is to be known of a document in a list; empty when all is well."""
    if document["missing"]:
        return "hidden: its source no longer has it"
    if document["withdrawn"]:
        return "withdrawn"
    error = document["error"]
    if error:
        return f"[{error['code']}] {error['message']}"
    unread, recognised = _unread(document["unreadPages"]), _recognised(document["recognisedPages"])
    return ", ".join(filter(None, (unread, recognised, left_out_text(document["leftOut"]))))


def _recognised(pages: dict[str, Any] | None) -> str:
    return f"{pages['count']} of {format_count(pages['pages'], 'page')} recognised in pictures" if pages else ""


def _unread(pages: dict[str, Any] | None) -> str:
    """What is missing of a document: "3 of 19 pages could not be read: 3, 7, 9"; empty when nothing is."""
    if pages is None:
        return ""
    which = f": {', '.join(map(str, pages['numbers']))}" if pages["count"] < pages["pages"] else ""
    return f"{unread_text(pages)} could not be read{which}"


def _json(document: dict[str, Any]) -> dict[str, Any]:
    """A document with its error, if any."""
    provenance = {one["name"]: one["value"] for one in document["provenance"]}
    return {**document, "provenance": provenance, "metadata": metadata_json(document["metadata"])}


def _principals(readers: dict[str, list[str]] | None) -> list[str]:
    """Readers as `user:SUBJECT` and `group:NAME`."""
    return list(readers_of(readers["users"], readers["groups"], readers["keys"]) or ()) if readers else []
