"""`rag prove` and `rag run verify`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.operations.proof import check_bundle
from agentic_rag_cli.client import proof_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.options import JsonOption, RunArgument, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import citation_place
from agentic_rag_cli.wiring import on_graphql

_NOT_PROVEN = 1
"""The exit status where a quote does not stand in its source any more."""


def verify(
    context: typer.Context, run: RunArgument, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Read every quote of a run back from its source and compare it. Ends with 1 where one does not stand there any
    more, was erased, or is hidden from you.

    Example: rag run verify UgGYwN4AAHAA…
    """
    require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await client.node_id(workspace, run, NodeKind.RUN)
        found: dict[str, Any] = await client.fetch(proof_queries.VERIFY, id=public_id)
        return found

    found = on_graphql(context, work)
    terminal.show(found, _text(found), as_json=as_json)
    if not found["holds"]:
        raise typer.Exit(_NOT_PROVEN)


def prove(
    context: typer.Context,
    run: RunArgument,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where to write the bundle.")] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Put in all of each quoted source, not only the blocks around the quotes.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a file that proves a run to others: its quotes, enough of each source to find them again, the certificates
    of what was erased, and the script that checks all of it without server or network.

    Example: rag prove UgGYwN4AAHAA… --out proof.zip
    """
    require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await client.node_id(workspace, run, NodeKind.RUN)
        made: dict[str, Any] = await client.fetch(proof_queries.PROVE, id=public_id, whole=whole)
        return made

    made = on_graphql(context, work)
    content = base64.b64decode(made.pop("content"))
    check_bundle.check(content, made["key"])
    path = out or Path(made["fileName"])
    try:
        path.write_bytes(content)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", path=("out",)) from error
    text = (
        f"{_text(made['verification'])}\n\nWrote {path} ({len(content)} bytes), signed with {made['key']}.\n"
        f"Check it anywhere: unzip {path} check_bundle.py && python check_bundle.py {path} --key {made['key']}"
    )
    terminal.show({**made, "file": str(path), "bytes": len(content)}, text, as_json=as_json)


def _text(found: Mapping[str, Any]) -> str:
    rows = [(f"[{one['marker']}]", one["state"], _place(one), one["reason"]) for one in found["checks"]]
    if not rows:
        return f"Q: {found['run']['question']}\n\nThe run quotes nothing."
    verdict = "Every quote stands in its source." if found["holds"] else "NOT every quote stands in its source."
    table = terminal.table(("CITATION", "STATE", "PLACE", "REASON"), rows)
    return f"Q: {found['run']['question']}\n\n{table}\n\n{verdict}"


def _place(check: Mapping[str, Any]) -> str:
    if check["certificate"] is not None:
        return f"erased on {check['certificate']['erasedAt'][:10]}, certificate complete: {_yes(check)}"
    return citation_place(check["citation"]) if check["citation"] and check["state"] != "ERASED" else ""


def _yes(check: Mapping[str, Any]) -> str:
    return "yes" if check["certificate"]["complete"] else "not yet"
