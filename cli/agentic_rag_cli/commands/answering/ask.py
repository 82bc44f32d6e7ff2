"""`rag ask`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.settings import Settings
from agentic_rag_cli.options import JsonOption, UrlOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import Wiring, in_process, run_async, wiring_of

if TYPE_CHECKING:
    from uuid import UUID

    from agentic_rag.tenancy.principals import WorkspaceRef
    from agentic_rag_cli.output.answer_view import AnswerView
    from agentic_rag_cli.session import Session

LAST = "last"
NO_RUN = "Nothing was asked in this workspace yet: `--after last` has no run to follow."


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")],
    workspace: WorkspaceOption = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="The run that this question follows (“And when?”): its id, or `last`."),
    ] = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with numbered, verified citations, or say why there is no answer.

    Example: rag ask "Who signs off the annual isolation audit?" --workspace handbook

    Example: rag ask --after last "And when?"
    """
    from agentic_rag.answering.question import Question
    from agentic_rag.kernel.public_ids import NodeKind
    from agentic_rag_cli.listing import require_id, the_workspace
    from agentic_rag_cli.output.answer_view import answer_json, answer_text, view_run

    if after not in (None, LAST):
        require_id(after, NodeKind.RUN)
    text = (sys.stdin.read() if question == "-" else question).strip()
    if not text:
        raise InvalidInput("The question is empty.", code="QUESTION_EMPTY")
    wiring = wiring_of(context)
    settings = wiring.settings()
    address = url or settings.client.url
    if address:
        shown = run_async(_remote(wiring, settings, address, text, workspace, after))
    else:

        async def work(session: Session) -> AnswerView:
            chosen = (await the_workspace(session, workspace, *filter(None, [after]))).ref
            followed = await _run_to_follow(session, chosen, after)
            return view_run(await session.ask(Question(chosen, text, after=followed)), {})

        shown = in_process(context, work)
    if as_json:
        terminal.result_json(answer_json(shown))
    else:
        terminal.result(answer_text(shown))


async def _run_to_follow(session: Session, workspace: WorkspaceRef, after: str | None) -> UUID | None:
    """The run that was named, or the newest one. Errors: `NotFound`."""
    from agentic_rag.kernel.public_ids import NodeKind
    from agentic_rag_cli.listing import collect, require_id

    if after is None:
        return None
    if after != LAST:
        return require_id(after, NodeKind.RUN)
    newest = await collect(lambda request: session.runs(workspace, request), 1)
    if not newest:
        raise NotFound(NO_RUN, code="RUN_NOT_FOUND")
    return newest[0].run_id


async def _remote(
    wiring: Wiring, settings: Settings, address: str, question: str, workspace: str | None, after: str | None
) -> AnswerView:
    from agentic_rag_cli.client.access import token_of
    from agentic_rag_cli.client.graphql_client import GraphQLClient

    async with GraphQLClient(address, token_of(settings), settings.answering.timeout_ms, wiring.transport) as client:
        chosen = await client.workspace_id(workspace)
        followed = await client.last_run(chosen) if after == LAST else after
        if after is not None and followed is None:
            raise NotFound(NO_RUN, code="RUN_NOT_FOUND")
        return await client.ask(question, chosen, after=followed)
