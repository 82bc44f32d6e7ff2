"""`rag embeddings calibrate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql
from agentic_rag_eval.dataset import load_dataset

CALIBRATE_SIMILARITY = """
mutation ($input: CalibrateSimilarityInput!) {
  calibrateSimilarity(input: $input) {
    calibration { exponent questions thresholds { threshold cosine recall precision } measuredAt }
    userErrors { code message path }
  }
}
"""
RESET_SIMILARITY = """
mutation ($workspaceId: ID!) { resetSimilarity(workspaceId: $workspaceId) { done userErrors { code message path } } }
"""


def calibrate_similarity(
    context: typer.Context,
    dataset: Annotated[
        Path | None, typer.Option("--dataset", "-d", help="JSONL file of 20 to 200 questions with gold_ids.")
    ] = None,
    workspace: WorkspaceOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure only.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to the scale of the model.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the scale of similarity thresholds for a workspace's embedding model, so that of the passages that answer
    0.7 keeps 95 in 100 and 0.75 keeps 90. Holds for the workspace's embedding space.

    Example: rag embeddings calibrate --dataset golden.jsonl --workspace handbook
    """
    if (dataset is None) != reset:
        raise typer.BadParameter("give --dataset, or --reset")
    questions = [] if dataset is None else load_dataset(dataset)
    asked = [{"question": one.question, "goldIds": list(one.gold_ids)} for one in questions if one.gold_ids]

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        if reset:
            return await client.fetch(RESET_SIMILARITY, workspaceId=chosen)
        sent = {"workspaceId": chosen, "questions": asked, "dryRun": dry_run}
        return (await client.fetch(CALIBRATE_SIMILARITY, input=sent))["calibration"]

    found = on_graphql(context, work)
    if reset:
        terminal.show({"reset": True}, "similarities are on the scale of the model again", as_json=as_json)
        return
    rows = [(one["threshold"], one["cosine"], one["recall"], one["precision"]) for one in found["thresholds"]]
    headers = ("THRESHOLD", "COSINE", "RECALL", "PRECISION OF THE FIRST PASSAGE")
    told = f"exponent {found['exponent']:g}, by {found['questions']} questions{' (not in force)' if dry_run else ''}"
    terminal.show(found, f"{told}\n{terminal.table(headers, rows)}", as_json=as_json)
