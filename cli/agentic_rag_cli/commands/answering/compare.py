"""`rag run replay` and `rag run diff`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import proof_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id, require_id
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

_WIDTH = 100
_CONVERSATIONS = {
    "WHOLE": "It followed the same turns as then.",
    "NOT_KEPT": "Asked as its stand-alone question: the turns before it, if there were any, are not kept.",
    "GONE": "Asked as its stand-alone question: of the turns before it one was deleted, or cannot be read any more.",
}


def replay(
    context: typer.Context,
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run.")],
    workspace: WorkspaceOption = None,
    newest: Annotated[
        bool, typer.Option("--newest", help="Read the newest corpus version, not the one that the run read.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask a run's question again, after its conversation and with the options that it ran with, and tell in which stage
    the new run parts from it. The new answer is a run of its own.

    Example: rag run replay UgGYwN4AAHAA…
    """
    require_id(run, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        public_id = await client.node_id(workspace, run, NodeKind.RUN)
        found: dict[str, Any] = (await client.fetch(proof_queries.REPLAY, id=public_id, newest=newest))["comparison"]
        return found

    _show(on_graphql(context, work), as_json=as_json)


def diff(
    context: typer.Context,
    before: Annotated[str, typer.Argument(metavar="RUN", help="Id of the first run.")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="Id of the second run.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs: in which stage they part, and what became of the sentences and their citations.

    Example: rag run diff UgGYwN4AAHAA… UgGYwN4AAHBB…
    """
    for one in (before, after):
        require_id(one, NodeKind.RUN)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace, before)
        first, second = (node_id(chosen, one, NodeKind.RUN) for one in (before, after))
        found: dict[str, Any] = await client.fetch(proof_queries.DIFF, runId=first, laterRunId=second)
        return found

    _show(on_graphql(context, work), as_json=as_json)


def _show(found: Mapping[str, Any], *, as_json: bool) -> None:
    terminal.show(dict(found), comparison_text(found), as_json=as_json)


def comparison_text(found: Mapping[str, Any]) -> str:
    """Two runs beside each other, as far as they differ."""
    before, after = found["before"], found["after"]
    told_of = _CONVERSATIONS.get(found["conversation"] or "")
    head = f"Q: {after['question']}\n\n{after['answer']}\n" + (f"\n{told_of}" if told_of else "")
    if found["same"]:
        return f"{head}\nThe same as run {before['id']}; this one is {after['id']}."
    first = found["differences"][0]
    told = [
        f"{one['stage']}: {one['what']}\n  before: {_line(one['before'])}\n  now:    {_line(one['after'])}"
        for one in found["differences"]
    ]
    changes = [f"{sign} {one}" for sign, name in (("-", "removed"), ("+", "added")) for one in found[name]]
    return "\n".join(
        (
            head,
            f"They part in the stage {first['stage']} ({first['what']}).",
            "",
            *told,
            *(["", *changes] if changes else []),
            f"\nBefore: run {before['id']}, corpus version {before['versions']['corpusVersion']}. "
            f"Now: run {after['id']}, corpus version {after['versions']['corpusVersion']}.",
        )
    )


def _line(text: str) -> str:
    """The first line, where two texts part; cut to what a terminal shows."""
    first, _, rest = text.partition("\n")
    return f"{first[:_WIDTH]} …" if rest or len(first) > _WIDTH else first or "nothing"
