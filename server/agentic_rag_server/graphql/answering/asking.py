"""The resolver of `ragAnswer`."""

from __future__ import annotations

from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.answering.answers import RagAnswerPayload, refuse_answer, show_answer
from agentic_rag_server.graphql.answering.inputs import RagAnswerInput, read_question
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, user_error


async def ask_question(info: Info, input: RagAnswerInput) -> RagAnswerPayload:
    """Faults that the caller can put right come back as `userErrors`."""
    context = info.context
    context.require_product_on()
    authorise(context.principal, Action.ASK)
    try:
        workspace = context.ref(decode(input.workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        run = await context.parts.answer.ask(context.principal, read_question(input, workspace))
    except USER_ERRORS as error:
        return refuse_answer([user_error(error)])
    return show_answer(run)
