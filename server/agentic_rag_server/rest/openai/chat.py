"""`/v1/chat/completions` and `/v1/models`: questions in the form that clients of OpenAI's API send.

A model is a workspace, by its name. The form is OpenAI's (https://platform.openai.com/docs/api-reference/chat, fields
that are not read have no effect); citations are its annotations of the kind `url_citation`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agentic_rag.answering.answer import Answer, Citation, Outcome
from agentic_rag.answering.question import (
    MAX_HISTORY_TURNS,
    MAX_TURN_CHARACTERS,
    AnswerOptions,
    Question,
    Turn,
)
from agentic_rag.answering.run import Run
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.documents.text import text_address
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Model, OpenAIRefusal, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation
from agentic_rag_server.rest.openai.places import model_workspace

TAG = "chat"
OWNER = "agentic-rag"
MAX_MESSAGES = 200


class ContentPart(Model, frozen=True, rename=None):
    """A part of a message; only text is read."""

    type: str
    text: str | None = None


class ChatMessage(Model, frozen=True, rename=None):
    """A turn of the conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        """Its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.text)


class ChatRequest(Model, frozen=True, rename=None):
    """A conversation whose last message is the question. Instructions of the roles system and developer, sampling and
    tools have no effect: an answer is made of quotes.
    """

    model: Annotated[str, Meta(description="The name of the workspace that is asked.")]
    messages: Annotated[list[ChatMessage], Meta(min_length=1, max_length=MAX_MESSAGES)]
    stream: bool = False
    n: Annotated[int, Meta(ge=1, le=1)] | None = None


class UrlCitation(Model, frozen=True, rename=None):
    """Code points of the content that a source supports."""

    start_index: int
    end_index: int
    title: str
    url: str


class Annotation(Model, frozen=True, rename=None):
    """A citation."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class AssistantMessage(Model, frozen=True, rename=None):
    """The answer, or why there is none."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[Annotation]


class Choice(Model, frozen=True, rename=None):
    """There is one."""

    index: int
    message: AssistantMessage
    finish_reason: Literal["stop"]
    logprobs: None


class Usage(Model, frozen=True, rename=None):
    """Estimated tokens of the conversation and of the answer; what chat models took is in the run."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class RunShown(Model, frozen=True, rename=None):
    """The run behind an answer: GraphQL's `run(id)` shows all of it."""

    id: str
    outcome: Outcome
    reason: str | None


class ChatCompletion(Model, frozen=True, rename=None):
    """An answer in the form of a chat completion."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    rag: RunShown


class ChatModel(Model, frozen=True, rename=None):
    """A workspace."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class ChatModels(Model, frozen=True, rename=None):
    """The workspaces of the organisation."""

    object: Literal["list"]
    data: list[ChatModel]


class ChatEndpoint(Endpoint):
    """Answers in the form that chat front ends know."""

    tag = TAG

    @operation(
        "GET",
        "/v1/models",
        "listModels",
        summary="The workspaces of the organisation, as models",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        answers=(ResponseSpec(200, "The workspaces.", ChatModels),),
        refusals=(401, 403, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def models(self, request: Request) -> Response:
        """Errors: `DependencyUnavailable`."""
        principal = admitted(request).principal
        async with self._parts.database.transaction(principal.org_id) as transaction:
            workspaces = await transaction.workspaces.all()
        shown = [show_model(one) for one in workspaces]
        return answer(ChatModels(object="list", data=shown), headers=NOT_STORED)

    @operation(
        "GET",
        "/v1/models/{model}",
        "getModel",
        summary="A workspace of the organisation, as a model",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        parameters=(Parameter("model", "path", "Name of the workspace.", {"type": "string"}),),
        answers=(ResponseSpec(200, "The workspace.", ChatModel),),
        refusals=(401, 403, 404, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def model(self, request: Request) -> Response:
        """Errors: `DependencyUnavailable`, `NotFound` code WORKSPACE_NOT_FOUND."""
        found = await model_workspace(self._parts, admitted(request).principal, request.path_params["model"])
        return answer(show_model(found), headers=NOT_STORED)

    @operation(
        "POST",
        "/v1/chat/completions",
        "createChatCompletion",
        summary="Answer the last message of a conversation over a workspace",
        description="`model` is the workspace's name. With `stream` the answer comes as server-sent events "
        "(`text/event-stream`), once its quotes are verified.",
        rule=Rule((Action.ASK,), Sight.ORGANISATION),
        takes=ChatRequest,
        traffic=Traffic.ASK,
        answers=(ResponseSpec(200, "The answer.", ChatCompletion, also="text/event-stream"),),
        refusals=(400, 401, 402, 403, 404, 413, 415, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def complete(self, request: Request) -> Response:
        """Errors: those of `AnswerQuestion` and `read_json`, `NotFound` code WORKSPACE_NOT_FOUND."""
        principal = admitted(request).principal
        given = await read_json(request, ChatRequest, self._parts.options.max_body_bytes)
        workspace = await model_workspace(self._parts, principal, given.model)
        run = await self._parts.answer.ask(principal, read_question(given.messages, workspace.ref))
        completion = show_completion(run, given, str(request.base_url).rstrip("/"))
        if given.stream:
            return StreamingResponse(_events(completion), media_type="text/event-stream", headers=NOT_STORED)
        return answer(completion, headers=NOT_STORED)


def show_model(workspace: Workspace) -> ChatModel:
    """A workspace as a model."""
    created = int(workspace.created_at.timestamp())
    return ChatModel(id=workspace.name, object="model", created=created, owned_by=OWNER)


def read_question(
    messages: Sequence[ChatMessage],
    workspace: WorkspaceRef,
    options: AnswerOptions | None = None,
    after: UUID | None = None,
) -> Question:
    """The last message as a question that follows the turns before it, the last `MAX_HISTORY_TURNS` of them. Errors:
    `InvalidInput` when the last message is not the user's.
    """
    said = [(one.role, require_no_nul(one.text, "messages")) for one in messages if one.role in ("user", "assistant")]
    if not said or said[-1][0] != "user" or messages[-1].role != "user":
        raise InvalidInput("The last message must be the user's.", path=("messages",))
    turns = [
        Turn(question[:MAX_TURN_CHARACTERS], reply[: max(0, MAX_TURN_CHARACTERS - len(question))])
        for (asker, question), (replier, reply) in pairwise(said)
        if (asker, replier) == ("user", "assistant") and question.strip()
    ]
    history = tuple(turns[-MAX_HISTORY_TURNS:])
    return Question(workspace, said[-1][1], history, options=options or AnswerOptions(), after=after)


def said_by(found: Answer) -> str:
    """What front ends show of an answer: what is not established is said there, since they show nothing else."""
    said = [found.text] if found.text else []
    if found.abstention is not None:
        said.append(found.abstention.explanation)
    return "\n\n".join(said)


def show_completion(run: Run, given: ChatRequest, base_url: str) -> ChatCompletion:
    """A run as a chat completion."""
    found = run.answer
    content = said_by(found)
    workspace_id = run.workspace.workspace_id
    prompt = sum(estimate_tokens(one.text) for one in given.messages)
    spent = estimate_tokens(content)
    run_id = encode(NodeKind.RUN, workspace_id, run.run_id)
    message = AssistantMessage(
        role="assistant",
        content=content,
        refusal=None,
        annotations=[one for citation in found.citations for one in _annotations(citation, run.workspace, base_url)],
    )
    return ChatCompletion(
        id=f"chatcmpl-{run_id}",
        object="chat.completion",
        created=int(run.created_at.timestamp()),
        model=given.model,
        choices=[Choice(index=0, message=message, finish_reason="stop", logprobs=None)],
        usage=Usage(prompt_tokens=prompt, completion_tokens=spent, total_tokens=prompt + spent),
        rag=RunShown(
            id=run_id, outcome=found.outcome, reason=None if found.abstention is None else found.abstention.reason.value
        ),
    )


def _annotations(citation: Citation, workspace: WorkspaceRef, base_url: str) -> Iterator[Annotation]:
    """One for each part of the answer that the citation supports. The address opens the quoted text."""
    span = citation.source_span
    url = citation.url or text_address(base_url, workspace.workspace_id, citation.document_id, span.start, span.end)
    for part in citation.answer_spans:
        yield Annotation(
            type="url_citation",
            url_citation=UrlCitation(start_index=part.start, end_index=part.end, title=citation.title, url=url),
        )


async def _events(completion: ChatCompletion) -> AsyncIterator[bytes]:
    """The completion as server-sent events: a sentence each, then the citations, then the end."""
    message = completion.choices[0].message
    content, at = message.content, 0
    yield _event(completion, {"role": "assistant", "content": ""})
    for _, end in sentence_spans(content):
        yield _event(completion, {"content": content[at:end]})
        at = end
    cited = [
        {
            "type": one.type,
            "url_citation": {name: getattr(one.url_citation, name) for name in one.url_citation.__struct_fields__},
        }
        for one in message.annotations
    ]
    yield _event(completion, {"annotations": cited} if cited else {}, "stop")
    yield b"data: [DONE]\n\n"


def _event(completion: ChatCompletion, delta: dict[str, Any], finish: str | None = None) -> bytes:
    chunk = {
        "id": completion.id,
        "object": "chat.completion.chunk",
        "created": completion.created,
        "model": completion.model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
