"""`rag workspace delete | erasures | prove-erased` and `rag tenant rename | delete | prove-erased`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.formatting import format_count
from agentic_rag.tenancy.principals import validate_name
from agentic_rag_cli.client import deletion_queries as queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.proving import proof_lines
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql, wiring_of

TenantArgument = Annotated[str, typer.Argument(metavar="TENANT", help="Id, name or external id of the organisation.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Delete it, and everything in it. There is no way back.")]
CancelOption = Annotated[bool, typer.Option("--cancel-jobs", help="Cancel jobs that wait or run, instead of refusing.")]


def delete_workspace(
    context: typer.Context,
    workspace: Annotated[str, typer.Argument(help="The name of the workspace, of an agent or project too.")],
    yes: YesOption = False,
    cancel_jobs: CancelOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete a workspace with documents, versions, runs, snapshots, sources and settings. It is gone at once; a worker
    erases it from every store.

    Example: rag workspace delete handbook --yes
    """
    _require_yes(workspace, yes=yes)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        sent = {"workspaceId": chosen, "name": workspace, "cancelJobs": cancel_jobs}
        return (await client.fetch(queries.DELETE_WORKSPACE, **sent))["erasure"]

    erasure = on_graphql(context, work)
    _show_begun(workspace, erasure, f"rag workspace prove-erased {erasure['subject']}", as_json=as_json)


def list_erasures(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the certificates of deleted workspaces, newest first.

    Example: rag workspace erasures
    """
    found = on_graphql(context, lambda client: client.fetch(queries.WORKSPACE_ERASURES))
    rows = [
        (one["subject"], one["requestedBy"], one["requestedAt"], one["finishedAt"] or "under way", _counted(one))
        for one in found
    ]
    headers = ("WORKSPACE", "DELETED BY", "ON", "ERASED", "GONE")
    terminal.show(found, terminal.table(headers, rows), as_json=as_json)


def prove_workspace_erased(
    context: typer.Context,
    workspace_id: Annotated[str, typer.Argument(help="The id that the deletion printed; `rag workspace erasures`.")],
    as_json: JsonOption = False,
) -> None:
    """Search every store for remains of a deleted workspace. Exit code 1 when something is left.

    Example: rag workspace prove-erased VwAB…
    """
    proof = on_graphql(context, lambda client: client.fetch(queries.PROVE_WORKSPACE_ERASED, workspaceId=workspace_id))
    _show_proof(workspace_id, proof, as_json=as_json)


def rename_tenant(
    context: typer.Context,
    tenant: TenantArgument,
    name: Annotated[str, typer.Argument(help="A name that no other organisation has.")],
    as_json: JsonOption = False,
) -> None:
    """Give an organisation another name; its id, tokens and workspaces stay as they are. With `--url`, the one of the
    token.

    Example: rag tenant rename acme acme-corporation
    """
    wished = validate_name(name, ("name",))

    async def work(client: GraphQLClient) -> dict[str, Any]:
        await _require_own(context, client, tenant)
        return (await client.fetch(queries.RENAME_ORGANISATION, name=wished))["organisation"]

    renamed = on_graphql(context, work, tenant=_tenant_here(context, tenant))
    terminal.show(renamed, f"{tenant} is now {renamed['name']}", as_json=as_json)


def delete_tenant(
    context: typer.Context,
    tenant: TenantArgument,
    yes: YesOption = False,
    cancel_jobs: CancelOption = False,
    as_json: JsonOption = False,
) -> None:
    """Delete an organisation with its workspaces and keys. Nobody has access from now on; a worker erases it from every
    store. With `--url`, the one of the token.

    Example: rag tenant delete acme --yes
    """
    _require_yes(tenant, yes=yes)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        name = await _require_own(context, client, tenant)
        return (await client.fetch(queries.DELETE_ORGANISATION, name=name, cancelJobs=cancel_jobs))["erasure"]

    erasure = on_graphql(context, work, tenant=_tenant_here(context, tenant))
    _show_begun(tenant, erasure, f"rag tenant prove-erased {erasure['subject']}", as_json=as_json)


def prove_tenant_erased(
    context: typer.Context,
    tenant_id: Annotated[str, typer.Argument(help="The id that the deletion printed.")],
    as_json: JsonOption = False,
) -> None:
    """Search every store for remains of a deleted organisation, and list the certificates of its workspaces. Exit code
    1 when something is left. No token of it is left, so with `--url` an operator of the default organisation asks.

    Example: rag tenant prove-erased 0b7e61f2-5d7c-4c39-9d2e-3f0c1f6f2a11
    """
    proof = on_graphql(
        context, lambda client: client.fetch(queries.PROVE_TENANT_ERASED, id=tenant_id), is_platform=True
    )
    _show_proof(tenant_id, proof, as_json=as_json)


def _require_yes(name: str, *, yes: bool) -> None:
    if not yes:
        raise InvalidInput(
            f"Nothing was deleted. {name!r} would go with everything in it, for good: give --yes to delete it.",
            code="CONFIRMATION_WRONG",
        )


def _tenant_here(context: typer.Context, tenant: str) -> str | None:
    return None if wiring_of(context).address else tenant


async def _require_own(context: typer.Context, client: GraphQLClient, tenant: str) -> str:
    """The name of the organisation that the client acts in. Errors: `InvalidInput` when it is another than named."""
    own = await client.fetch(queries.ORGANISATION)
    if wiring_of(context).address and tenant not in (own["id"], own["name"], own["externalRef"]):
        raise InvalidInput(
            f"The server's token is of the organisation {own['name']!r}, not of {tenant!r}.", path=("tenant",)
        )
    return own["name"]


def _show_begun(name: str, erasure: dict[str, Any], check: str, *, as_json: bool) -> None:
    terminal.show(erasure, f"deleted {name} ({erasure['subject']})", as_json=as_json)
    if not as_json:
        terminal.note("a worker erases it from every store: rag up, or rag worker")
        for gap in erasure["notCovered"]:
            terminal.note(f"not covered: {gap['reason']}")
        terminal.note(f"check it any time: {check}")


def _counted(erasure: dict[str, Any]) -> str:
    counts = {one["store"]: one["count"] for one in erasure["stores"]}
    documents, blobs = counts.get("rag_documents", 0), counts.get("blobs", 0)
    rows = sum(count for store, count in counts.items() if not store.startswith("processes"))
    everything = format_count(rows, "row")
    return f"{format_count(documents, 'document')}, {format_count(blobs, 'blob')}, {everything} in all"


def _show_proof(subject: str, proof: dict[str, Any], *, as_json: bool) -> None:
    lines = proof_lines(subject, proof, f" since {proof['erasure']['finishedAt']}")
    for one in proof.get("workspaces", ()):
        lines.append(f"  {one['subject']}: erased {one['finishedAt'] or 'not yet'}, {_counted(one)}")
    terminal.show(proof, "\n".join(lines), as_json=as_json)
    if not proof["erased"]:
        raise typer.Exit(ExitCode.FAILED)
