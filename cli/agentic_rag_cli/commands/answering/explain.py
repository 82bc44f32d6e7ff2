"""`rag explain`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id, require_id
from agentic_rag_cli.options import JsonOption, RunArgument, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql


def explain(
    context: typer.Context,
    run: RunArgument,
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

    require_id(run, NodeKind.RUN)
    for one in why_not or ():
        require_id(one, NodeKind.CHUNK)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace, run)
        asked = [node_id(chosen, one, NodeKind.CHUNK) for one in why_not or ()]
        return await client.fetch(queries.EXPLAIN, runId=node_id(chosen, run, NodeKind.RUN), whyNot=asked)

    found = on_graphql(context, work)
    terminal.show(explanation_json(found), explanation_text(found), as_json=as_json)
