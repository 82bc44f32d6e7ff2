"""`rag explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.ids import require_id, workspaces_in
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

if TYPE_CHECKING:
    from agentic_rag_cli.client.graphql_client import GraphQLClient


def explain(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run; `rag run list` shows them.")],
    why_not: Annotated[
        list[str] | None,
        typer.Option(
            "--why-not",
            metavar="CHUNK",
            help="Id of a passage that you expected: say where it stands. May be repeated; `rag doc chunks` shows ids.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a run: every candidate with its rank in each arm, the trail that raised it, and why it was used or not.

    Example: rag explain UgGYwN4AAHAA… --why-not QwGYwN4AAHAA…
    """
    from agentic_rag_cli.output.explain_view import explanation_json, explanation_text

    run_id = require_id(run, NodeKind.RUN)
    chunk_ids = [require_id(one, NodeKind.CHUNK) for one in why_not or ()]

    async def work(client: GraphQLClient) -> dict[str, Any]:
        (chosen,) = workspaces_in([await client.workspace_id(workspace, run)])
        asked = [encode(NodeKind.CHUNK, chosen, one) for one in chunk_ids]
        return await client.fetch(queries.EXPLAIN, runId=encode(NodeKind.RUN, chosen, run_id), whyNot=asked)

    found = on_graphql(context, work)
    if as_json:
        terminal.result_json(explanation_json(found))
    else:
        terminal.result(explanation_text(found))
