"""Switches embedding spaces: builds the gate, starts the switch, and waits for its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentic_rag.kernel.errors import AgenticRagError, Permanent, Retryable
from agentic_rag.models.embedding.recall_gate import RecallQuestion, build_recall_gate
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.documents.ingestion import StallWatch
from agentic_rag_cli.output import terminal
from agentic_rag_eval.dataset import load_dataset

_POLL_SECONDS = 0.2


def gate_from(path: Path, k: int, tolerance: float) -> dict[str, Any]:
    """The gate over a data set, as GraphQL's `RecallGateInput`. Gold ids may be source paths, plain ids, or ids of the
    API. Errors: `InvalidInput` codes DATASET_MISSING, DATASET_INVALID, GATE_INVALID.
    """
    questions = load_dataset(path)
    build_recall_gate([RecallQuestion(one.question, tuple(one.gold_ids)) for one in questions], k, tolerance)
    asked = [{"question": one.question, "goldIds": list(one.gold_ids)} for one in questions]
    return {"questions": asked, "k": k, "tolerance": tolerance}


async def begin_switch(
    client: GraphQLClient, workspace_id: str, to: str, gate: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Start the switch; returns the space, filling or active already, and the job that fills it."""
    return await client.fetch(queries.SWITCH, input={"workspaceId": workspace_id, "to": to, "gate": gate})


async def wait_for_switch(client: GraphQLClient, workspace_id: str, begun: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return when the space is active. Errors: the error code of its job (SWITCH_GATE_REFUSED among them),
    SWITCH_CANCELLED, SWITCH_STALLED after two minutes without progress.
    """
    watch = StallWatch()
    with terminal.ProgressLine("re-embedding") as bar:
        while True:
            spaces = await client.fetch(queries.SPACES, workspaceId=workspace_id)
            space = next((one for one in spaces if one["name"] == begun["space"]["name"]), begun["space"])
            job = None if begun["jobId"] is None else await client.fetch(queries.JOB_STATE, id=begun["jobId"])
            bar.update(space["done"], space["total"])
            if space["state"] == "ACTIVE":
                return space
            if job is not None and job["state"] == "DEAD":
                raise AgenticRagError(job["errorMessage"] or "The job gave up.", code=job["errorCode"])
            if job is None or job["state"] in ("DONE", "CANCELLED"):
                raise Permanent("The switch was called off.", code="SWITCH_CANCELLED")
            if watch.is_stalled((space["done"], job["progress"])):
                raise Retryable(
                    "Nothing moved for two minutes: see `rag job list` and the worker's log. The switch goes on when a "
                    "worker does.",
                    code="SWITCH_STALLED",
                )
            await asyncio.sleep(_POLL_SECONDS)
