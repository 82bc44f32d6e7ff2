"""`rag doc`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.domain.documents import Document, DocumentStatus
from agentic_rag_cli import output
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.app.delete import Deletion
    from agentic_rag_cli.session import Session

app = typer.Typer(help="Documents of a workspace.", no_args_is_help=True, rich_markup_mode=None)

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
        output.result_json([document_json(one) for one in found])
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
    output.result(output.table(("STATUS", "CHUNKS", "DOCUMENT", ""), rows))


@app.command("show")
def show(
    context: typer.Context, document: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Show one document.

    Example: rag doc show policies/travel.pdf
    """

    from agentic_rag_cli.listing import the_document, the_workspace
    from agentic_rag_cli.views import document_json

    async def work(session: Session) -> Document:
        return await the_document(session, (await the_workspace(session, workspace)).ref, document)

    shown = document_json(in_process(context, work))
    if as_json:
        output.result_json(shown)
        return
    error = shown.pop("error")
    provenance = shown.pop("provenance")
    cost = {f"embedding {name}": value for name, value in (shown.pop("embedding") or {}).items()}
    output.result(output.table(("FIELD", "VALUE"), [*shown.items(), *cost.items(), *provenance.items()]))
    if error:
        output.result(f"\nfailed [{error['code']}]: {error['message']} ({error['attempts']} attempts)")


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
        found = await the_document(session, (await the_workspace(session, workspace)).ref, document)
        return found, await session.delete_document(found.workspace, found.document_id)

    found, deletion = in_process(context, work)
    erased = {**document_key_json(found), **deletion_json(deletion)}
    if as_json:
        output.result_json(erased)
        return
    counts = [f"{count} {name.replace('_', ' ')}" for name, count in erased["removed"].items() if count]
    output.result(f"deleted {found.source_path}: {', '.join(counts) or 'nothing was published'}")
    if deletion.unfinished:
        output.note(f"a job finishes {', '.join(deletion.unfinished)} as soon as it answers: rag job list")
