"""`rag ask`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.domain.errors import InvalidInput
from agentic_rag.settings import Settings
from agentic_rag_cli import output
from agentic_rag_cli.options import JsonOption, UrlOption, WorkspaceOption
from agentic_rag_cli.wiring import Wiring, in_process, run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag_cli.answer_view import ShownAnswer
    from agentic_rag_cli.session import Session


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; `-` reads it from standard input.")],
    workspace: WorkspaceOption = None,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a question with numbered, verified citations, or say why there is no answer.

    Example: rag ask "Who signs off the annual isolation audit?" --workspace handbook
    """
    from agentic_rag.domain.answers import Question
    from agentic_rag_cli.answer_view import answer_json, answer_text, shown_run
    from agentic_rag_cli.listing import the_workspace

    text = (sys.stdin.read() if question == "-" else question).strip()
    if not text:
        raise InvalidInput("The question is empty.", code="QUESTION_EMPTY")
    wiring = wiring_of(context)
    settings = wiring.settings()
    address = url or settings.url
    if address:
        shown = run_async(_remote(wiring, settings, address, text, workspace))
    else:

        async def work(session: Session) -> ShownAnswer:
            chosen = (await the_workspace(session, workspace)).ref
            return shown_run(await session.ask(Question(chosen, text)), {})

        shown = in_process(context, work)
    if as_json:
        output.result_json(answer_json(shown))
    else:
        output.result(answer_text(shown))


async def _remote(
    wiring: Wiring, settings: Settings, address: str, question: str, workspace: str | None
) -> ShownAnswer:
    from agentic_rag_cli.access import token_of
    from agentic_rag_cli.graphql_client import GraphQLClient

    async with GraphQLClient(address, token_of(settings), settings.timeout_ms, wiring.transport) as client:
        return await client.ask(question, await client.workspace_id(workspace))
