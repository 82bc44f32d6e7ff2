"""`rag dlq`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client import operator_queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id, require_id
from agentic_rag_cli.commands.jobs import job as job_commands
from agentic_rag_cli.commands.jobs.job import about, job_json
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql

app = typer.Typer(help="Dead letters: jobs that failed for good.", no_args_is_help=True, rich_markup_mode=None)

KindOption = Annotated[
    list[JobKind] | None, typer.Option("--kind", help="Only these kinds; may be repeated.", case_sensitive=False)
]
CodeOption = Annotated[list[str] | None, typer.Option("--code", help="Only these error codes; may be repeated.")]
WantedOption = Annotated[list[str] | None, typer.Argument(metavar="[JOB]...", help="Ids of dead letters.")]
AllOption = Annotated[bool, typer.Option("--all", help="All that --kind and --code choose.")]


@app.command("list")
def list_letters(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    kind: KindOption = None,
    code: CodeOption = None,
    payloads: Annotated[
        bool, typer.Option("--payloads", help="Messages from Redis that could not be decoded, of all organisations.")
    ] = False,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
) -> None:
    """List dead letters, newest first.

    Example: rag dlq list --code PARSE_ENCRYPTED
    """
    if payloads:
        _list_payloads(context, limit, as_json=as_json)
        return

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        return await _letters(client, await client.workspace_id(workspace), kind, code, limit)

    shown = [job_json(one) for one in on_graphql(context, work)]
    rows = [
        (row["id"], row["kind"], row["attempts"], row["updatedAt"], row["error"]["code"], about(row)) for row in shown
    ]
    terminal.show(shown, terminal.table(("ID", "KIND", "ATTEMPTS", "GAVE UP", "ERROR", "ABOUT"), rows), as_json=as_json)


app.command(
    "show",
    help="Show a dead letter with its arguments, and what went wrong in each attempt.\n\n"
    "Example: rag dlq show SgGYwN4AAHAA…",
)(job_commands.show)


@app.command("replay")
def replay(
    context: typer.Context,
    job: WantedOption = None,
    every: AllOption = False,
    workspace: WorkspaceOption = None,
    kind: KindOption = None,
    code: CodeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Queue dead letters again with a new allowance of attempts. Repeating the command changes nothing more.

    Example: rag dlq replay --all --code DEPENDENCY_UNAVAILABLE
    """

    async def act(client: GraphQLClient, job_id: str) -> tuple[dict[str, Any], str]:
        done = await client.fetch(operator_queries.REPLAY, id=job_id)
        return done["job"], done["outcome"]

    _bulk(context, _Choice(job or (), every, workspace, kind, code), act, "REPLAYED", as_json=as_json)


@app.command("purge")
def purge(
    context: typer.Context,
    job: WantedOption = None,
    every: AllOption = False,
    workspace: WorkspaceOption = None,
    kind: KindOption = None,
    code: CodeOption = None,
    payload: Annotated[
        list[str] | None, typer.Option("--payload", help="Forget this undecodable payload; may be repeated.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Delete the arguments, error texts and attempts of dead letters. Kind, code and the audit entry stay.

    Example: rag dlq purge SgGYwN4AAHAA…
    """
    if payload:
        _purge_payloads(context, payload, as_json=as_json)
        return

    async def act(client: GraphQLClient, job_id: str) -> tuple[dict[str, Any], str]:
        done = await client.fetch(operator_queries.PURGE, id=job_id)
        return done["job"], "PURGED" if done["purged"] else "NOT_DEAD"

    _bulk(context, _Choice(job or (), every, workspace, kind, code), act, "PURGED", as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A selection of dead letters."""

    named: Sequence[str]
    every: bool
    workspace: str | None
    kinds: Sequence[JobKind] | None
    codes: Sequence[str] | None


Act = Callable[[GraphQLClient, str], Awaitable[tuple[dict[str, Any], str]]]


def _bulk(context: typer.Context, choice: _Choice, act: Act, success: str, *, as_json: bool) -> None:
    """Handle one letter per transaction, so that an interruption keeps the letters already handled. Exit code 3 when
    some failed.
    """
    if bool(choice.named) == choice.every:
        raise InvalidInput("Name dead letters, or say --all (with --kind or --code to choose among them).")
    for one in choice.named:
        require_id(one, NodeKind.JOB)

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        chosen = await client.workspace_id(choice.workspace, *choice.named)
        wanted = [node_id(chosen, one, NodeKind.JOB) or one for one in choice.named]
        if choice.every:
            wanted = [one["id"] for one in await _letters(client, chosen, choice.kinds, choice.codes, None)]
        done: list[tuple[dict[str, Any], str]] = []
        with terminal.ProgressLine("dead letters") as bar:
            for place, job_id in enumerate(wanted, 1):
                done.append(await act(client, job_id))
                bar.update(place, len(wanted))
        return [{**job_json(job), "outcome": outcome} for job, outcome in done]

    done = on_graphql(context, work)
    if as_json:
        terminal.result_json(done)
    else:
        counts = Counter(row["outcome"] for row in done)
        terminal.result(
            ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())) or "no dead letters"
        )
        for row in done:
            if row["outcome"] != success:
                terminal.note(f"{row['id']}: {row['outcome']}, it is {row['state']}")
    if any(row["outcome"] == "SUPERSEDED" for row in done):
        raise typer.Exit(ExitCode.PARTIAL)


async def _letters(
    client: GraphQLClient,
    workspace_id: str,
    kinds: Sequence[JobKind] | None,
    codes: Sequence[str] | None,
    limit: int | None,
) -> list[dict[str, Any]]:
    names = [one.name for one in kinds or ()]
    return await client.nodes(
        operator_queries.DEAD_LETTERS, limit, workspaceId=workspace_id, kinds=names, codes=list(codes or ())
    )


def _list_payloads(context: typer.Context, limit: int, *, as_json: bool) -> None:
    shown = on_graphql(context, lambda client: client.nodes(operator_queries.UNDECODABLE, limit), is_platform=True)
    rows = [
        (row["id"], row["queue"], row["entry"], row["bytes"], row["deliveries"], row["lastSeen"], row["reason"])
        for row in shown
    ]
    terminal.show(
        shown, terminal.table(("ID", "QUEUE", "ENTRY", "BYTES", "TIMES", "LAST SEEN", "WHY"), rows), as_json=as_json
    )


def _purge_payloads(context: typer.Context, wanted: Sequence[str], *, as_json: bool) -> None:
    async def work(client: GraphQLClient) -> None:
        for one in wanted:
            await client.fetch(operator_queries.PURGE_UNDECODABLE, id=one)

    on_graphql(context, work, is_platform=True)
    terminal.show([{"id": one, "outcome": "PURGED"} for one in wanted], f"{len(wanted)} PURGED", as_json=as_json)
