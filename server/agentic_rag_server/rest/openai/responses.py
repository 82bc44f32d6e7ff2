"""`/v1/responses`: questions in the form of OpenAI's Responses, with `file_search` over a vector store."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from agentic_rag.answering.answer import Citation
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.answering.run import Run
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode, encode_workspace
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.documents.uploads import NODE_ID
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, OpenAIRefusal, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation
from agentic_rag_server.rest.openai.attributes import read_attributes_filter
from agentic_rag_server.rest.openai.chat import ChatMessage, RunShown, read_question, said_by
from agentic_rag_server.rest.openai.places import FileIds, file_ids, model_workspace, name_of, store_workspace
from agentic_rag_server.rest.openai.response_events import response_events
from agentic_rag_server.rest.openai.response_models import (
    FileCitation,
    FileSearchCall,
    FileSearchResult,
    FileSearchTool,
    InputItemList,
    InputMessage,
    InputText,
    InputTokens,
    OutputMessage,
    OutputText,
    OutputTokens,
    ResponseDeleted,
    ResponseRequest,
    ResponseShown,
    ResponseUsage,
    ShownTool,
)

TAG = "responses"
PREFIX = "resp_"
RESULTS = "file_search_call.results"

_ROLES = ("system", "developer", "user", "assistant")
_ID = Parameter(
    "response", "path", "Id of the response.", {**NODE_ID, "pattern": "^resp_[A-Za-z0-9_=-]+$", "maxLength": 49}
)
_SHOWN = (
    Parameter("include", "query", f"`{RESULTS}` shows the quotes behind the answer.", {"type": "string"}),
    Parameter("stream", "query", "As server-sent events.", {"type": "boolean", "default": False}),
    Parameter("starting_after", "query", "The events behind this number.", {"type": "integer", "minimum": 0}),
)
_REFUSALS = (400, 401, 403, 404, 429, 500, 503)


class ResponsesEndpoint(Endpoint):
    """Answers in the form that clients of OpenAI's Responses know."""

    tag = TAG

    @operation(
        "POST",
        "/v1/responses",
        "createResponse",
        summary="Answer a question over a vector store",
        description="The tool `file_search` names the vector store by `vector_store_ids`, one of them; without it "
        "`model` is the workspace's name. With `stream` the answer comes as server-sent events.",
        rule=Rule((Action.ASK,), Sight.ORGANISATION),
        takes=ResponseRequest,
        traffic=Traffic.ASK,
        answers=(ResponseSpec(200, "The answer.", ResponseShown, also="text/event-stream"),),
        refusals=(400, 401, 402, 403, 404, 413, 415, 429, 500, 503),
        refusal=OpenAIRefusal,
    )
    async def create(self, request: Request) -> Response:
        """Errors: those of `AnswerQuestion`, `read_json`, `store_workspace` and `model_workspace`."""
        principal = admitted(request).principal
        given = await read_json(request, ResponseRequest, self._parts.options.max_body_bytes)
        if given.background:
            raise InvalidInput("Responses are not made in the background.", path=("background",))
        tool = _file_search(given)
        workspace = await self._workspace(principal, given, tool)
        run = await self._parts.answer.ask(principal, _read(given, workspace, tool))
        shown = show_response(run, given, tool, await self._ids(principal, run))
        if given.stream:
            return StreamingResponse(response_events(shown), media_type="text/event-stream", headers=NOT_STORED)
        return answer(shown, headers=NOT_STORED)

    @operation(
        "GET",
        "/v1/responses/{response}",
        "getResponse",
        summary="An earlier response",
        rule=Rule((Action.READ,), Sight.ASKER),
        parameters=(_ID, *_SHOWN),
        answers=(ResponseSpec(200, "The response.", ResponseShown, also="text/event-stream"),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def get(self, request: Request) -> Response:
        """Errors: those of `_run`; `InvalidInput` for an event that is no number."""
        asked = request.query_params
        shown = await self._shown(request, [*asked.getlist("include"), *asked.getlist("include[]")])
        if asked.get("stream") == "true":
            events = response_events(shown, _after_event(request))
            return StreamingResponse(events, media_type="text/event-stream", headers=NOT_STORED)
        return answer(shown, headers=NOT_STORED)

    @operation(
        "DELETE",
        "/v1/responses/{response}",
        "deleteResponse",
        summary="Delete a response of the caller's",
        description="The run goes, with its stages and what was said of it; what it cost stays in the usage.",
        rule=Rule((Action.ASK,), Sight.SUBJECT),
        parameters=(_ID,),
        answers=(ResponseSpec(200, "It is gone.", ResponseDeleted),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def delete(self, request: Request) -> Response:
        """Errors: `InvalidInput` code INVALID_ID, `NotFound` code RUN_NOT_FOUND."""
        principal, response = admitted(request).principal, request.path_params["response"]
        node = run_of(response)
        await self._parts.threads.delete_run(principal, WorkspaceRef(principal.org_id, node.workspace_id), node.key)
        return answer(ResponseDeleted(response, "response", True), headers=NOT_STORED)

    @operation(
        "GET",
        "/v1/responses/{response}/input_items",
        "listResponseInputItems",
        summary="The question of a response",
        rule=Rule((Action.READ,), Sight.ASKER),
        parameters=(_ID,),
        answers=(ResponseSpec(200, "The question.", InputItemList),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def input_items(self, request: Request) -> Response:
        """Errors: those of `_run`."""
        run, workspace = await self._run(request)
        key = f"in_{encode(NodeKind.RUN, workspace.ref.workspace_id, run.run_id)}"
        question = InputMessage(key, "message", "completed", "user", [InputText("input_text", run.question)])
        shown = [] if request.query_params.get("after") == key else [question]
        ends = (key, key) if shown else (None, None)
        return answer(InputItemList("list", shown, *ends, False), headers=NOT_STORED)

    @operation(
        "POST",
        "/v1/responses/{response}/cancel",
        "cancelResponse",
        summary="A response, complete as it is: none is made in the background",
        rule=Rule((Action.READ,), Sight.ASKER),
        parameters=(_ID,),
        answers=(ResponseSpec(200, "The response.", ResponseShown),),
        refusals=_REFUSALS,
        refusal=OpenAIRefusal,
    )
    async def cancel(self, request: Request) -> Response:
        """Errors: those of `_run`."""
        return answer(await self._shown(request), headers=NOT_STORED)

    async def _shown(self, request: Request, include: list[str] | None = None) -> ResponseShown:
        """An earlier response. Errors: those of `_run`."""
        run, workspace = await self._run(request)
        given = ResponseRequest(model=workspace.name, input=run.question, include=include)
        return show_response(run, given, None, await self._ids(admitted(request).principal, run))

    async def _run(self, request: Request) -> tuple[Run, Workspace]:
        """The run of a response, and its workspace. Errors: `InvalidInput` code INVALID_ID, `NotFound` code
        RUN_NOT_FOUND.
        """
        principal = admitted(request).principal
        node = run_of(request.path_params["response"])
        async with self._parts.database.transaction(principal.org_id) as transaction:
            workspace = await transaction.workspaces.get(node.workspace_id)
        run = None if workspace is None else await self._parts.read_runs.get(principal, workspace.ref, node.key)
        if run is None or workspace is None:
            raise NotFound("There is no such response.", code="RUN_NOT_FOUND")
        return run, workspace

    async def _ids(self, principal: Principal, run: Run) -> FileIds:
        return await file_ids(self._parts, principal, [one.source_path for one in run.answer.citations])

    async def _workspace(self, principal: Principal, given: ResponseRequest, tool: FileSearchTool | None) -> Workspace:
        if tool is None or not tool.vector_store_ids:
            return await model_workspace(self._parts, principal, given.model)
        return await store_workspace(self._parts, principal, tool.vector_store_ids[0])


def run_of(response_id: str, path: tuple[str, ...] = ("id",)) -> NodeId:
    """The run of a response. Errors: `InvalidInput` code INVALID_ID."""
    return decode(response_id.removeprefix(PREFIX), NodeKind.RUN, path=path)


def _after_event(request: Request) -> int:
    """The number of the last event that the caller has; -1: none. Errors: `InvalidInput`."""
    given = request.query_params.get("starting_after", "-1")
    if given != "-1" and not (given.isascii() and given.isdecimal() and len(given) <= 9):
        raise InvalidInput("`starting_after` is the number of an event.", path=("starting_after",))
    return int(given)


def _file_search(given: ResponseRequest) -> FileSearchTool | None:
    """The tool that searches, if there is one. Errors: `InvalidInput`."""
    tools = [one for one in given.tools or () if one.type == "file_search"]
    stores = [store for one in tools for store in one.vector_store_ids or ()]
    if len(stores) > 1:
        raise InvalidInput("An answer is made over one vector store: give one id.", path=("tools",))
    return tools[0] if tools else None


def _read(given: ResponseRequest, workspace: Workspace, tool: FileSearchTool | None) -> Question:
    """The question. Errors: `InvalidInput`."""
    if isinstance(given.input, str):
        messages = [ChatMessage(role="user", content=given.input)]
    else:
        messages = [
            ChatMessage(role=one.role, content=one.content)  # type: ignore[arg-type]
            for one in given.input
            if one.role in _ROLES
        ]
    ranking = tool.ranking_options if tool else None
    options = AnswerOptions(
        top_k=tool.max_num_results if tool else None,
        min_score=ranking.score_threshold if ranking else None,
        filter=read_attributes_filter(tool.filters if tool else None, workspace.ref),
    )
    after = None
    if given.previous_response_id is not None:
        node = run_of(given.previous_response_id, ("previous_response_id",))
        if node.workspace_id != workspace.ref.workspace_id:
            raise NotFound("There is no such response over this vector store.", code="RUN_NOT_FOUND")
        after = node.key
    return read_question(messages, workspace.ref, options, after)


def show_response(run: Run, given: ResponseRequest, tool: FileSearchTool | None, ids: FileIds) -> ResponseShown:
    """A run as a response."""
    workspace_id, found = run.workspace.workspace_id, run.answer
    run_id = encode(NodeKind.RUN, workspace_id, run.run_id)
    text = said_by(found)
    with_results = RESULTS in (given.include or ())
    said = given.input if isinstance(given.input, str) else run.question
    taken, spent = estimate_tokens(said), estimate_tokens(text)
    call = FileSearchCall(
        id=f"fs_{run_id}",
        status="completed",
        queries=[one.text for one in found.debug.plan.sub_questions] if found.debug.plan else [run.question],
        results=[_show_result(one, run, ids) for one in found.citations] if with_results else None,
    )
    message = OutputMessage(
        id=f"msg_{run_id}",
        status="completed",
        role="assistant",
        content=[OutputText("output_text", text, [it for one in found.citations for it in _cite(one, run, ids)], [])],
    )
    return ResponseShown(
        id=f"{PREFIX}{run_id}",
        object="response",
        created_at=int(run.created_at.timestamp()),
        status="completed",
        model=given.model,
        output=[call, message],
        usage=ResponseUsage(taken, InputTokens(0, 0), spent, OutputTokens(0), taken + spent),
        rag=RunShown(
            id=run_id, outcome=found.outcome, reason=None if found.abstention is None else found.abstention.reason.value
        ),
        previous_response_id=given.previous_response_id,
        instructions=given.instructions,
        metadata=given.metadata or {},
        tools=[] if tool is None else [ShownTool("file_search", [encode_workspace(workspace_id)])],
    )


def _cite(citation: Citation, run: Run, ids: FileIds) -> list[FileCitation]:
    file = ids.of(run.workspace, citation.document_id, citation.source_path)
    name = name_of(citation.source_path)
    return [FileCitation("file_citation", part.end, file, name) for part in citation.answer_spans]


def _show_result(citation: Citation, run: Run, ids: FileIds) -> FileSearchResult:
    file = ids.of(run.workspace, citation.document_id, citation.source_path)
    return FileSearchResult(file, name_of(citation.source_path), citation.score, citation.snippet, {})
