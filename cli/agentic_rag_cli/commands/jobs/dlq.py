"""`rag dlq`."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

import typer

from agentic_rag.jobs.job import Job, JobKind, JobState
from agentic_rag.jobs.message import StoredUndecodableMessage
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.commands.jobs import job as job_commands
from agentic_rag_cli.commands.jobs.job import about, jobs_json
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import ACTOR, System, collect
from agentic_rag_cli.options import JsonOption, LimitOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.json_view import json_fields
from agentic_rag_cli.wiring import in_process

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

    async def work(system: System) -> list[dict[str, Any]]:
        ref = (await system.workspace(workspace)).ref
        return await jobs_json(system, ref, await _letters(system, ref, kind, code, limit))

    shown = in_process(context, work)
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

    async def act(system: System, ref: WorkspaceRef, job_id: UUID) -> tuple[Job, str]:
        done = await system.container.dead_letters.replay(ref, job_id, ACTOR)
        return done.job, done.outcome.value

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

    async def act(system: System, ref: WorkspaceRef, job_id: UUID) -> tuple[Job, str]:
        done = await system.container.dead_letters.purge(ref, job_id, ACTOR)
        return done.job, "PURGED" if done.purged else "NOT_DEAD"

    _bulk(context, _Choice(job or (), every, workspace, kind, code), act, "PURGED", as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Choice:
    """A selection of dead letters."""

    named: Sequence[str]
    every: bool
    workspace: str | None
    kinds: Sequence[JobKind] | None
    codes: Sequence[str] | None


Act = Callable[["System", "WorkspaceRef", UUID], Awaitable[tuple[Job, str]]]


def _bulk(context: typer.Context, choice: _Choice, act: Act, success: str, *, as_json: bool) -> None:
    """Handle one letter per transaction, so that an interruption keeps the letters already handled. Exit code 3 when
    some failed.
    """
    if bool(choice.named) == choice.every:
        raise InvalidInput("Name dead letters, or say --all (with --kind or --code to choose among them).")
    named = [require_id(one, NodeKind.JOB) for one in choice.named]

    async def work(system: System) -> list[dict[str, Any]]:
        ref = (await system.workspace(choice.workspace, *choice.named)).ref
        wanted = named or [one.job_id for one in await _letters(system, ref, choice.kinds, choice.codes, None)]
        done: list[tuple[Job, str]] = []
        with terminal.ProgressLine("dead letters") as bar:
            for place, job_id in enumerate(wanted, 1):
                done.append(await act(system, ref, job_id))
                bar.update(place, len(wanted))
        rows = await jobs_json(system, ref, [job for job, _ in done])
        return [{**row, "outcome": outcome} for row, (_, outcome) in zip(rows, done, strict=True)]

    done = in_process(context, work)
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
    system: System, ref: WorkspaceRef, kinds: Sequence[JobKind] | None, codes: Sequence[str] | None, limit: int | None
) -> list[Job]:
    return await system.collect(
        lambda tx, page: tx.jobs.page(ref, page, [JobState.DEAD], kinds or (), codes or ()), limit
    )


def _list_payloads(context: typer.Context, limit: int, *, as_json: bool) -> None:
    async def work(system: System) -> list[StoredUndecodableMessage]:
        async with aclosing(system.container.dead_payloads()) as store:
            return await collect(store.page, limit)

    shown = [_payload_json(one) for one in in_process(context, work)]
    rows = [
        (row["id"], row["queue"], row["entry"], row["bytes"], row["deliveries"], row["lastSeen"], row["reason"])
        for row in shown
    ]
    terminal.show(
        shown, terminal.table(("ID", "QUEUE", "ENTRY", "BYTES", "TIMES", "LAST SEEN", "WHY"), rows), as_json=as_json
    )


def _purge_payloads(context: typer.Context, wanted: Sequence[str], *, as_json: bool) -> None:
    try:
        ids = [UUID(one) for one in wanted]
    except ValueError as error:
        raise InvalidInput("An id of --payload is one that `rag dlq list --payloads` shows.") from error

    async def work(system: System) -> list[bool]:
        async with aclosing(system.container.dead_payloads()) as store:
            return [await store.purge(one) for one in ids]

    purged = in_process(context, work)
    if not all(purged):
        missing = next(one for one, gone in zip(ids, purged, strict=True) if not gone)
        raise NotFound(f"There is no payload {missing}; `rag dlq list --payloads` shows them.")
    terminal.show([{"id": str(one), "outcome": "PURGED"} for one in ids], f"{len(ids)} PURGED", as_json=as_json)


def _payload_json(stored: StoredUndecodableMessage) -> dict[str, Any]:
    """A message that could not be decoded; its bytes as base64."""
    return {
        "id": str(stored.message.payload_id),
        "queue": stored.message.queue,
        "entry": stored.message.entry.decode("utf-8", "backslashreplace"),
        **json_fields(stored.message, "code", "reason"),
        "bytes": len(stored.message.payload),
        "base64": b64encode(stored.message.payload).decode(),
        **json_fields(stored, "deliveries", "first_seen", "last_seen"),
    }
