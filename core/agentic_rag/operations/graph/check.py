"""Compares a graph outside Postgres with what Postgres expects in it: a part of `rag verify`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from agentic_rag.operations.findings import Finding, finding
from agentic_rag.operations.graph.sync import GraphStatus, GraphSync
from agentic_rag.tenancy.principals import WorkspaceRef

TRIES = 3
"""Attempts when a graph differs: a publish between the two counts looks like a difference once."""


class GraphCheck:
    """Finds nothing if the graph is in Postgres: its rows are checked with all others."""

    def __init__(self, sync: GraphSync) -> None:
        self._sync = sync

    async def run(self, workspace: WorkspaceRef) -> Sequence[Finding]:
        """The findings. Errors: `NotFound`, `DependencyUnavailable` (Postgres)."""
        status = await self._sync.status(workspace)
        for _ in range(TRIES - 1):
            if not _differs(status):
                break
            status = await self._sync.status(workspace)
        name = str(workspace.workspace_id)
        if status.fault is not None:
            return [finding("GRAPH_UNREACHABLE", name, status.fault)]
        if status.lag:
            return [finding("GRAPH_BEHIND", name, f"it stands at {status.graph_version} of {status.corpus_version}")]
        return [finding("GRAPH_DIFFERS", name, _difference(status))] if _differs(status) else []


def _differs(status: GraphStatus) -> bool:
    return status.is_outside and not status.lag and status.held is not None and status.held != status.expected


def _difference(status: GraphStatus) -> str:
    """The counts that differ, such as "3 sources instead of 2"."""
    told: list[str] = []
    for one in fields(status.expected):
        held, expected = getattr(status.held, one.name), getattr(status.expected, one.name)
        if held != expected:
            told.append(f"{held} {one.name} instead of {expected}")
    return ", ".join(told)
