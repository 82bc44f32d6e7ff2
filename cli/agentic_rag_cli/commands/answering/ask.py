"""`rag ask`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import aclosing
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client.access import asked_server
from agentic_rag_cli.client.estimate_queries import ESTIMATE_ANSWER
from agentic_rag_cli.client.graphql_client import GraphQLClient, require_no_fault
from agentic_rag_cli.client.ids import node_id, require_id
from agentic_rag_cli.client.live_queries import ASK_STREAM
from agentic_rag_cli.client.thread_queries import LAST_THREAD
from agentic_rag_cli.options import AsOfOption, JsonOption, UrlOption, WhereOption, WorkspaceOption, as_of_input
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.answer_view import answer_json, answer_text
from agentic_rag_cli.output.estimate_view import estimate_text
from agentic_rag_cli.wiring import on_graphql, wiring_of

LAST, NEW = "last", "new"
NO_THREAD = "You have no conversation in this workspace yet: `--thread new` begins one."
NO_RUN = "Nothing was asked in this workspace yet: `--after last` has no run to follow."

AfterOption = Annotated[
    str | None,
    typer.Option(metavar="RUN", help="The run that this question follows (“And when?”): its id, or `last`."),
]
ThreadOption = Annotated[
    str | None,
    typer.Option(metavar="THREAD", help="Ask on in this conversation of yours: its id, or `last`; `new` begins one."),
]


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")],
    workspace: WorkspaceOption = None,
    after: AfterOption = None,
    thread: ThreadOption = None,
    where: WhereOption = None,
    as_of: AsOfOption = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="Tell on standard error how it goes: one line a stage.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what the answer would cost; ask no provider and store nothing.")
    ] = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with numbered citations, whose quotes are verified, or say why there is no answer.

    Asks the server at --url or AGENTIC_RAG_URL, else the one of a running `rag up`, else works in its own process.

    Example: rag ask "Who signs off the annual isolation audit?" --workspace handbook

    Example: rag ask --after last "And when?"

    Example: rag ask --thread new "Who signs the lease?"

    Example: rag ask --stream "What does the audit say of the pumps?"

    Example: rag ask --estimate "What does the audit say of the pumps?"

    Example: rag ask --as-of 2026-11-01 "Who was on call?"

    Example: rag ask "What is the limit?" --where "tag=policy date>=2024-01-01"
    """
    for given, words, kind in ((after, (LAST,), NodeKind.RUN), (thread, (LAST, NEW), NodeKind.THREAD)):
        if given is not None and given not in words:
            require_id(given, kind)
    text = (sys.stdin.read() if question == "-" else question).strip()
    if not text:
        raise InvalidInput("The question is empty.", code="QUESTION_EMPTY")

    then = as_of_input(as_of)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace, *filter(None, [after, thread]))
        options = then if where is None else {**then, "options": {"filter": {"where": where}}}
        options = {**options, **await _thread_input(client, chosen, thread)}
        follows = await _run_to_follow(client, chosen, after)
        asked = {"question": text, "workspaceId": chosen, "after": follows, **options}
        if estimate:
            return await client.fetch(ESTIMATE_ANSWER, input=asked)
        if stream:
            return await _ask_aloud(client, asked)
        return await client.ask(text, chosen, after=follows, **options)

    found = on_graphql(context, work, address=asked_server(wiring_of(context).settings(), url))
    told, text = (found, estimate_text(found)) if estimate else _told(found)
    terminal.show(told, text, as_json=as_json)


def _told(run: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """The answer as JSON and as text, with the thread where it is a turn of one."""
    told, text = answer_json(run), answer_text(run)
    if run["threadId"] is None:
        return told, text
    return {**told, "threadId": run["threadId"]}, f"{text}\n\nThread {run['threadId']}"


async def _ask_aloud(client: GraphQLClient, asked: dict[str, Any]) -> dict[str, Any]:
    """The run that answers a question, with a line for each stage that ended. Leaving cancels it."""
    async with aclosing(client.events(ASK_STREAM, input=asked)) as events:
        async for event in events:
            if event["kind"] == "STAGE_ENDED":
                terminal.note(f"{event['stage']:<10} {event['seconds'] * 1000:>7.1f} ms  {event['outcome']}")
            elif event["answer"] is not None:
                return require_no_fault(event["answer"])["run"]
    raise DependencyUnavailable("The server ended the stream before the answer came.", dependency="server")


async def _thread_input(client: GraphQLClient, workspace_id: str, thread: str | None) -> dict[str, Any]:
    """The fields of `RagAnswerInput` for a thread. Errors: `NotFound`."""
    if thread is None:
        return {}
    if thread == NEW:
        return {"beginThread": True}
    if thread != LAST:
        return {"thread": node_id(workspace_id, thread, NodeKind.THREAD)}
    newest = (await client.fetch(LAST_THREAD, workspaceId=workspace_id))["nodes"]
    if not newest:
        raise NotFound(NO_THREAD, code="THREAD_NOT_FOUND")
    return {"thread": newest[0]["id"]}


async def _run_to_follow(client: GraphQLClient, workspace_id: str, after: str | None) -> str | None:
    """The public id of the named run, or of the newest one. Errors: `NotFound`."""
    if after is None:
        return None
    found = await client.last_run(workspace_id) if after == LAST else node_id(workspace_id, after, NodeKind.RUN)
    if found is None:
        raise NotFound(NO_RUN, code="RUN_NOT_FOUND")
    return found
