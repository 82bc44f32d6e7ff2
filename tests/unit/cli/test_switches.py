"""Waiting for a switch of the embedding space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentic_rag_cli.client import queries
from agentic_rag_cli.commands.models.embeddings import wait_for_switch

BEGUN = {"space": {"name": "onnx", "state": "FILLING", "done": 0, "total": 3}, "jobId": "J1"}


@dataclass
class EndsAfterOneCall:
    """A server whose switch ends between the first call and the second."""

    calls: int = 0

    async def fetch(self, query: str, **variables: Any) -> Any:
        self.calls += 1
        has_ended = self.calls > 1
        if query == queries.JOB_STATE:
            return {"state": "DONE" if has_ended else "RUNNING", "progress": 1}
        return [{"name": "onnx", "state": "ACTIVE" if has_ended else "FILLING", "done": 3, "total": 3}]


async def test_a_switch_that_ends_while_it_is_looked_at_was_not_cancelled() -> None:
    client: Any = EndsAfterOneCall()

    space = await wait_for_switch(client, "W1", BEGUN)

    assert space["state"] == "ACTIVE"
