"""`rag verify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.client import operator_queries, queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.proving import finding_json, prove_document_erased
from agentic_rag_cli.commands.models.embeddings import measure_recall
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.recall import recall_json, recall_line
from agentic_rag_cli.wiring import on_graphql


def verify(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    document: Annotated[
        str | None, typer.Option("--document", help="Prove instead that this document (id or path) was erased.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compute every chunk and hash every original anew instead of a sample.")
    ] = False,
    recall: Annotated[
        bool, typer.Option("--recall", help="Measure dense search against exact search too, as rag embeddings recall.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare all stores with Postgres: drift, orphans, duplicates, a wrong embedding space. Changes nothing.

    Without --workspace every workspace is checked. Exit code 1 when something is wrong; warnings alone give 0. With
    --recall 5 when nothing else is wrong and less than 95 % is found.

    Example: rag verify --workspace handbook --full
    """
    if document is not None:
        prove_document_erased(context, workspace, document, as_json=as_json)
        return

    async def work(client: GraphQLClient) -> list[_VerifyResult]:
        chosen = None if workspace is None else await client.workspace_id(workspace)
        every = [one for one in await client.fetch(queries.WORKSPACES) if chosen in (None, one["id"])]
        return [
            _VerifyResult(
                one,
                await client.fetch_long(operator_queries.VERIFICATION, workspaceId=one["id"], full=full),
                await _measure_recall(client, one["id"]) if recall else None,
            )
            for one in every
        ]

    verified = on_graphql(context, work)
    if as_json:
        terminal.result_json(
            [
                _verification_json(one.workspace, one.report)
                | ({"recall": one.recall and recall_json(one.recall)} if recall else {})
                for one in verified
            ]
        )
    else:
        for one in verified:
            _tell(one.workspace["name"], one.report)
            if recall:
                _tell_recall(one.recall)
    if any(one.report["failed"] for one in verified):
        raise typer.Exit(ExitCode.FAILED)
    if any(one.recall is not None and not one.recall["isEnough"] for one in verified):
        raise typer.Exit(ExitCode.THRESHOLD)


@dataclass(frozen=True, slots=True)
class _VerifyResult:
    workspace: Mapping[str, Any]
    report: Mapping[str, Any]
    recall: Mapping[str, Any] | None


async def _measure_recall(client: GraphQLClient, workspace_id: str) -> Mapping[str, Any] | None:
    """The recall of a workspace; None when it has nothing to measure with."""
    try:
        return await measure_recall(client, workspace_id)
    except NotFound as error:
        if error.code != "NOTHING_TO_ASK":
            raise
        return None


def _tell_recall(report: Mapping[str, Any] | None) -> None:
    if report is None:
        terminal.result("  recall   no passages to measure with")
    else:
        verdict = "ok" if report["isEnough"] else "LOW"
        terminal.result(f"  recall   {verdict}: {recall_line(report)}")


def _tell(workspace: str, report: Mapping[str, Any]) -> None:
    counts = _by_kind(report["counts"])
    documents, chunks = format_count(report["documents"], "document"), format_count(report["chunks"], "chunk")
    seen = f"{documents}, {chunks}, {report['derivedChunks']} of them computed anew"
    verdict = "WRONG" if report["failed"] else "ok"
    terminal.result(f"{workspace}: {verdict} ({seen}, {format_count(report['originals'], 'original')})")
    if report["settling"]:
        jobs = ", ".join(f"{one['count']} {one['kind']}" for one in report["settling"])
        terminal.result(f"  settling {jobs}: unfinished jobs; look again when they have ended")
    told: set[str] = set()
    for one in map(finding_json, report["findings"]):
        terminal.result(f"  {one['severity']:<8} {one['kind']:<22} {one['subject']}: {one['message']}")
        if one["kind"] not in told:
            told.add(one["kind"])
            terminal.result(f"  {'':<31} {counts[one['kind']]} in all; {one['remedy']}")


def _by_kind(found: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {one["kind"]: one["count"] for one in found}


def _verification_json(workspace: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    """The findings of comparing a workspace's stores."""
    return {
        "workspaceId": workspace["id"],
        "workspace": workspace["name"],
        **{name: report[name] for name in ("failed", "documents", "chunks", "derivedChunks", "originals")},
        "settling": _by_kind(report["settling"]),
        "counts": _by_kind(report["counts"]),
        "findings": [finding_json(one) for one in report["findings"]],
    }
