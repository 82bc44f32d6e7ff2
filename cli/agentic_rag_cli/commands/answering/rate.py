"""`rag run rate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from agentic_rag.answering.feedback.feedback import FeedbackReason, TaskOutcome
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import gate_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.options import JsonOption, RunArgument, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql


def rate(
    context: typer.Context,
    run: RunArgument,
    good: Annotated[bool, typer.Option("--good/--bad", help="Whether the answer helped.", show_default=False)],
    reason: Annotated[
        FeedbackReason | None, typer.Option("--reason", case_sensitive=False, help="What is wrong, with --bad.")
    ] = None,
    useful: Annotated[
        list[int] | None, typer.Option("--useful", metavar="N", help="Number of a citation that was of use; repeat it.")
    ] = None,
    task: Annotated[
        TaskOutcome | None,
        typer.Option("--task", case_sensitive=False, help="How the task ended that the answer was for."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a run helped, what was wrong with it, and which citations were of use. A later rating of yours takes
    the place of this one.

    Example: rag run rate UgGYwN4AAHAA… --good --useful 1

    Example: rag run rate UgGYwN4AAHAA… --bad --reason outdated
    """
    require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await client.node_id(workspace, run, NodeKind.RUN)
        given = {
            "runId": public_id,
            "rating": "GOOD" if good else "BAD",
            "reason": None if reason is None else reason.value,
            "taskOutcome": None if task is None else task.value,
            "chunkIds": await _chunks(client, public_id, useful or ()),
        }
        return (await client.fetch(gate_queries.SUBMIT_FEEDBACK, input=given))["feedback"]

    found = on_graphql(context, work)
    precision = found["precision"]
    of_use = "" if precision is None else f"; {100 * precision:.0f} % of its passages were of use"
    terminal.show(found, f"Rated {found['rating']}{of_use}.", as_json=as_json)


async def _chunks(client: GraphQLClient, run: str, useful: Sequence[int]) -> list[str]:
    """The passages behind the citations of these numbers."""
    if not useful:
        return []
    found: Mapping[str, Any] | None = await client.fetch(gate_queries.CITED_CHUNKS, id=run)
    if found is None:
        raise NotFound(f"There is no run {run}; `rag run list` shows them.", code="RUN_NOT_FOUND")
    cited = {one["marker"]: one["chunkId"] for one in found["citations"]}
    missing = [one for one in useful if one not in cited]
    if missing:
        raise InvalidInput(f"The run has no citation [{missing[0]}].", path=("useful",))
    return [cited[one] for one in useful]
