"""Prints the findings of an erasure check, for `rag doc prove-erased` and `rag verify --document`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import typer

from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import deletion_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql


def prove_document_erased(context: typer.Context, workspace: str | None, wanted: str, *, as_json: bool) -> None:
    """Print a proof of a document's erasure; exit code 1 unless it is gone from every store."""

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace, wanted)
        public_id = node_id(chosen, wanted, NodeKind.DOCUMENT) or await client.fetch(
            deletion_queries.DOCUMENT_ID, workspaceId=chosen, sourcePath=wanted
        )
        if public_id is None:
            raise NotFound(f"No document stands at {wanted!r}, and none was erased there.", code="DOCUMENT_NOT_FOUND")
        return {"id": public_id, **await client.fetch_long(deletion_queries.PROVE_ERASED, id=public_id)}

    proof = on_graphql(context, work)
    proof["findings"] = [finding_json(one) for one in proof["findings"]]
    terminal.show(proof, _proof_text(wanted, proof), as_json=as_json)
    if not proof["erased"]:
        raise typer.Exit(ExitCode.FAILED)


def _proof_text(wanted: str, proof: Mapping[str, Any]) -> str:
    certificate = proof["certificate"]
    since = "" if certificate is None else f" since {_moment(certificate['erasedAt'])}"
    lines = proof_lines(wanted, proof, since)
    lines += [f"erased before, and ingested again: {_moment(one['erasedAt'])}" for one in proof["pastCertificates"]]
    return "\n".join(lines)


def _moment(text: str) -> str:
    return f"{datetime.fromisoformat(text):%F %T %Z}"


def proof_lines(subject: str, proof: Mapping[str, Any], since: str) -> list[str]:
    """Whether a proof shows that a subject is erased, and what it found; `since` begins with a space or is empty."""
    return [
        f"{subject}: {f'erased{since}' if proof['erased'] else 'NOT proven erased'}",
        *finding_lines(proof["findings"]),
    ]


def finding_lines(findings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Two lines a finding: what is wrong, and its remedy."""
    return [
        line
        for one in findings
        for line in (
            f"{one['severity']:<8} {one['store']:<20} {one['kind']}: {one['message']}",
            f"{'':<29} {one['remedy']}",
        )
    ]


def finding_json(finding: Mapping[str, Any]) -> dict[str, Any]:
    """A finding with its severity in small letters."""
    return {**finding, "severity": finding["severity"].lower()}
