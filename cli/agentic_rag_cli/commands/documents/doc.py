"""`rag doc`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.documents.document import Chunk, Document, DocumentStatus
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.commands.documents.readers import readers_of
from agentic_rag_cli.options import GroupOption, JsonOption, LimitOption, UserOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.erasure.delete import Deletion
    from agentic_rag.ingestion.reingest import Reingestion
    from agentic_rag.operations.prove_erased import ErasureProof
    from agentic_rag.tenancy.principals import WorkspaceRef
    from agentic_rag_cli.session import Session

app = typer.Typer(help="Documents of a workspace.", no_args_is_help=True, rich_markup_mode=None)

_OPENING = 60
"""Characters of a passage that a list shows."""

Wanted = Annotated[str, typer.Argument(metavar="DOCUMENT", help="Id or source path.")]


@app.command("list")
def list_documents(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    status: Annotated[
        list[DocumentStatus] | None, typer.Option("--status", help="Only these; may be repeated.", case_sensitive=False)
    ] = None,
    limit: LimitOption = 1000,
    as_json: JsonOption = False,
) -> None:
    """List documents with their status, by source path.

    Example: rag doc list --workspace handbook --status FAILED
    """

    from agentic_rag_cli.listing import collect, the_workspace
    from agentic_rag_cli.views import document_json

    async def work(session: Session) -> list[Document]:
        chosen = (await the_workspace(session, workspace)).ref
        return await collect(lambda request: session.documents(chosen, request, status or ()), limit)

    found = in_process(context, work)
    if as_json:
        terminal.result_json([document_json(one) for one in found])
        return
    rows = [
        (
            one.status.value,
            one.chunk_count,
            one.source_path,
            f"[{one.fault.code}] {one.fault.message}" if one.fault else "",
        )
        for one in found
    ]
    terminal.result(terminal.table(("STATUS", "CHUNKS", "DOCUMENT", ""), rows))


@app.command("show")
def show(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Show one document.

    Example: rag doc show policies/travel.pdf
    """

    from agentic_rag_cli.listing import the_document, the_workspace
    from agentic_rag_cli.views import document_json

    async def work(session: Session) -> tuple[Document, tuple[str, ...]]:
        found = await the_document(session, (await the_workspace(session, workspace, document)).ref, document)
        return found, await session.readers_of(found)

    found, readers = in_process(context, work)
    shown = {**document_json(found), "readableBy": list(readers) or None}
    if as_json:
        terminal.result_json(shown)
        return
    shown["readableBy"] = ", ".join(readers) or "the whole workspace"
    error = shown.pop("error")
    provenance = shown.pop("provenance")
    cost = {f"embedding {name}": value for name, value in (shown.pop("embedding") or {}).items()}
    terminal.result(terminal.table(("FIELD", "VALUE"), [*shown.items(), *cost.items(), *provenance.items()]))
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

    from agentic_rag_cli.listing import the_document, the_workspace
    from agentic_rag_cli.views import chunk_json

    async def work(session: Session) -> tuple[Document, list[Chunk]]:
        chosen = await the_document(session, (await the_workspace(session, workspace, document)).ref, document)
        return chosen, await session.chunks(chosen)

    chosen, every = in_process(context, work)
    wanted = " ".join((containing or "").casefold().split())
    found = [
        chunk_json(one, chosen.workspace.workspace_id)
        for one in every
        if wanted in " ".join(one.text.casefold().split())
    ]
    if as_json:
        terminal.result_json(found)
        return
    rows = [(one["id"], _place(one["page"], one["lineStart"]), _opening(one["text"])) for one in found]
    terminal.result(terminal.table(("ID", "PLACE", "BEGINS"), rows))


def _place(page: int | None, line: int) -> str:
    return f"line {line}" if page is None else f"page {page}"


def _opening(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _OPENING else f"{words[: _OPENING - 1]}…"


@app.command("delete")
def delete(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Erase a document everywhere: text, chunks, vectors, postings, graph, cached answers, original.

    Example: rag doc delete policies/travel-2019.pdf
    """

    from agentic_rag_cli.listing import the_document, the_workspace
    from agentic_rag_cli.views import deletion_json, document_key_json

    async def work(session: Session) -> tuple[Document, Deletion]:
        found = await the_document(session, (await the_workspace(session, workspace, document)).ref, document)
        return found, await session.delete_document(found.workspace, found.document_id)

    found, deletion = in_process(context, work)
    erased = {**document_key_json(found), **deletion_json(deletion)}
    if as_json:
        terminal.result_json(erased)
        return
    counts = [f"{name.replace('_', ' ')} {count}" for name, count in erased["removed"].items() if count]
    terminal.result(f"deleted {found.source_path}: {', '.join(counts) or 'nothing was published'}")
    if deletion.unfinished:
        terminal.note(f"a job finishes {', '.join(deletion.unfinished)} as soon as it answers: rag job list")
    if deletion.certificate is not None:
        for limit in deletion.certificate.not_covered:
            terminal.note(f"not covered: {limit.reason}{f' ({limit.taken_at:%F %T %Z})' if limit.taken_at else ''}")
        terminal.note(f"check it any time: rag doc prove-erased {found.source_path}")


@app.command("share")
def share(
    context: typer.Context,
    document: Wanted,
    user: UserOption = None,
    group: GroupOption = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Let the whole workspace read it.")] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say who may read a document, from the next question on: exactly those named.

    Example: rag doc share policies/salaries.pdf --group people --user ada
    """
    from agentic_rag_cli.listing import the_document, the_workspace

    readers = readers_of(user, group)
    if (readers is None) != everyone:
        raise typer.BadParameter("name users and groups, or give --everyone")

    async def work(session: Session) -> Document:
        chosen = await the_document(session, (await the_workspace(session, workspace, document)).ref, document)
        await session.share(chosen, readers or ())
        return chosen

    shared = in_process(context, work)
    if as_json:
        terminal.result_json({"document": shared.source_path, "readableBy": list(readers) if readers else None})
    else:
        terminal.result(f"{shared.source_path}: {', '.join(readers) if readers else 'the whole workspace'}")


@app.command("prove-erased")
def prove_erasure(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Look into every store for what an erasure left of a document; exit code 1 when anything is there.

    Example: rag doc prove-erased policies/travel-2019.pdf
    """
    from agentic_rag_cli.commands.documents.proving import document_id_of, tell_proof
    from agentic_rag_cli.listing import the_workspace

    async def work(session: Session) -> tuple[WorkspaceRef, ErasureProof]:
        chosen = (await the_workspace(session, workspace, document)).ref
        return chosen, await session.prove_erased(chosen, document_id_of(chosen, document))

    tell_proof(document, *in_process(context, work), as_json=as_json)


@app.command("reingest")
def reingest(
    context: typer.Context,
    document: Annotated[str | None, typer.Argument(metavar="[DOCUMENT]", help="Id or source path.")] = None,
    all_failed: Annotated[bool, typer.Option("--all-failed", help="Every FAILED document instead of one.")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Make and embed every chunk anew, even when nothing changed.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ingest again from the kept original: what FAILED, or what another parser or chunk profile reads otherwise.

    Example: rag doc reingest --all-failed --workspace handbook
    """
    if (document is None) != all_failed:
        raise typer.BadParameter("name one document, or give --all-failed")
    if all_failed and force:
        raise typer.BadParameter("--force is for one document")
    from agentic_rag_cli.listing import the_document, the_workspace
    from agentic_rag_cli.views import reingestion_json

    async def work(session: Session) -> list[Reingestion]:
        chosen = (await the_workspace(session, workspace, document or "")).ref
        if document is None:
            return await session.reingest_failed(chosen)
        found = await the_document(session, chosen, document)
        return [await session.reingest(chosen, found.document_id, force=force)]

    queued = in_process(context, work)
    if as_json:
        terminal.result_json([reingestion_json(one) for one in queued])
        return
    for one in queued:
        terminal.result(f"{'queued' if one.is_new else 'under way already'}: {one.document.source_path}")
    if not queued:
        terminal.result("nothing to do")
    else:
        terminal.note("a worker does it: rag up, or rag worker; rag job list shows how it goes")
