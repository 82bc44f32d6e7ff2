"""`ragAnswerStream` over both transports, and `cancelRun`: what a client sees, and what leaving does."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import ExitStack
from typing import Any
from uuid import uuid4

import pytest

from agentic_rag.answering.live.events import Watch
from agentic_rag.answering.question import Question
from agentic_rag.answering.run import Run
from agentic_rag.kernel.errors import AgenticRagError, InvalidInput, NotFound, Overloaded, RunCancelled
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import Principal
from agentic_rag_server.app import build_app
from agentic_rag_server.graphql.http import streams
from tests.api.asgi_client import Connection, Socket, post_events
from tests.api.builders import (
    ORG,
    TOKENS,
    WORKSPACE,
    WORKSPACE_ID,
    Container,
    FakeAnswer,
    FakeIdentity,
    client,
    numbered,
    query,
    schema_of,
)

ANSWERED = "answer outcome citations { marker snippet } run { id createdAt } userErrors { code message path }"
STREAM = f"""
subscription ($input: RagAnswerInput!) {{
  ragAnswerStream(input: $input) {{ seq kind runId stage draft answer {{ {ANSWERED} }} }}
}}
"""
ASK = f"mutation ($input: RagAnswerInput!) {{ ragAnswer(input: $input) {{ {ANSWERED} }} }}"
INPUT = {"input": {"question": "When does the valve open?", "workspaceId": WORKSPACE_ID}}
EVENTS = {"accept": "text/event-stream"}


class EndlessAnswer(FakeAnswer):
    """Never answers. It notes when it is cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()
        self.cancelled_at = 0.0

    async def ask(self, principal: Principal, question: Question, watch: Watch | None = None) -> Run:
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled_at = time.perf_counter()
            raise
        raise AssertionError


def app_of(container: Container) -> Any:
    return build_app(container, schema_of())  # type: ignore[arg-type]


async def events_of(container: Container, text: str = STREAM, token: str = "admin-token") -> tuple[int, list[Any]]:
    """The status, and the data of every event."""
    async with client(container, token) as http:
        response = await http.post("/graphql", json={"query": text, "variables": INPUT}, headers=EVENTS)
    pieces = [one for one in response.text.split("\n\n") if one]
    return response.status_code, [json.loads(one.partition("data: ")[2]) for one in pieces if "event: next" in one]


async def test_the_last_event_is_the_reply_byte_for_byte_and_seq_has_no_gap() -> None:
    status, events = await events_of(Container())
    shown = [one["data"]["ragAnswerStream"] for one in events]
    unary = await query(Container(), ASK, INPUT)

    assert status == 200
    assert [one["seq"] for one in shown] == list(range(1, len(shown) + 1))
    assert [one["kind"] for one in shown] == ["RUN_STARTED", "DRAFT", "ANSWER"]
    assert json.dumps(shown[-1]["answer"]) == json.dumps(unary["data"]["ragAnswer"])
    assert all(one["answer"] is None for one in shown[:-1])
    assert shown[0]["runId"] == encode(NodeKind.RUN, WORKSPACE, numbered(500))


@pytest.mark.parametrize("refused", [InvalidInput("No.", code="QUESTION_EMPTY"), NotFound("No.", code="RUN_NOT_FOUND")])
async def test_what_the_caller_can_put_right_is_a_user_error_of_the_last_event(refused: AgenticRagError) -> None:
    _, events = await events_of(Container(answer=FakeAnswer(refused)))

    (last,) = (one["data"]["ragAnswerStream"] for one in events)
    assert (last["seq"], last["answer"]["userErrors"][0]["code"]) == (1, refused.code)


async def test_other_refusals_end_the_stream_as_an_error() -> None:
    _, events = await events_of(Container(answer=FakeAnswer(RunCancelled("Cancelled."))))

    assert [one["errors"][0]["extensions"]["code"] for one in events] == ["RUN_CANCELLED"]


async def test_a_role_without_the_right_and_a_fault_of_the_program_are_errors_too() -> None:
    _, broken = await events_of(Container(answer=FakeAnswer(RuntimeError("secret"))))

    assert [one["errors"][0]["extensions"]["code"] for one in broken] == ["INTERNAL"]
    assert "secret" not in json.dumps(broken)


@pytest.mark.parametrize(
    ("headers", "text", "status", "code"),
    [
        ({"authorization": ""}, STREAM, 401, "UNAUTHENTICATED"),
        ({}, "subscription { nothing }", 400, "GRAPHQL_INVALID"),
        ({"accept": "application/json"}, STREAM, 400, "BAD_REQUEST"),
    ],
)
async def test_before_a_stream_begins_refusals_are_ordinary_replies(
    headers: dict[str, str], text: str, status: int, code: str
) -> None:
    async with client(Container()) as http:
        response = await http.post("/graphql", json={"query": text, "variables": INPUT}, headers={**EVENTS, **headers})

    assert (response.status_code, response.json()["errors"][0]["extensions"]["code"]) == (status, code)


async def test_a_query_as_events_is_one_event() -> None:
    text = "query ($input: RagAnswerInput!) { ragAnswer(input: $input) { outcome } }"

    assert await events_of(Container(), text) == (200, [{"data": {"ragAnswer": {"outcome": "GROUNDED"}}}])


async def open_socket_answer(socket: Socket) -> Any:
    await socket.ready()
    await socket.subscribe("1", STREAM, INPUT)
    heard = [await socket.hear()]
    while heard[-1]["type"] == "next":
        heard.append(await socket.hear())
    return heard


async def test_a_websocket_gets_the_same_events_and_then_complete() -> None:
    _, events = await events_of(Container())
    async with Socket.open(app_of(Container())) as socket:
        heard = await open_socket_answer(socket)

    assert [one["payload"] for one in heard[:-1]] == events
    assert heard[-1] == {"type": "complete", "id": "1"}


async def test_hanging_up_cancels_the_run_at_once_on_either_transport() -> None:
    for is_socket in (True, False):
        answer = EndlessAnswer()
        app = app_of(Container(answer=answer))
        if is_socket:
            async with Socket.open(app) as socket:
                await socket.ready()
                await socket.subscribe("1", STREAM, INPUT)
                took = await _hang_up(socket, answer)
        else:
            took = await _hang_up(post_events(app, STREAM, INPUT), answer)
        assert took <= 0.1, is_socket
        assert len(app.state.open_streams) == 0


async def _hang_up(connection: Connection, answer: EndlessAnswer) -> float:
    async with asyncio.timeout(5):
        await answer.began.wait()
    left = time.perf_counter()
    await connection.hang_up()
    assert answer.cancelled_at, "the run went on"
    return answer.cancelled_at - left


async def test_complete_ends_one_operation_and_leaves_the_connection_open() -> None:
    answer = EndlessAnswer()
    async with Socket.open(app_of(Container(answer=answer))) as socket:
        await socket.ready()
        await socket.subscribe("1", STREAM, INPUT)
        async with asyncio.timeout(5):
            await answer.began.wait()
        await socket.say(type="complete", id="1")
        await socket.say(type="ping")

        assert await socket.hear() == {"type": "pong"}
        await socket.subscribe("1", "{ workspaces { name } }")
        assert [(await socket.hear())["type"], (await socket.hear())["type"]] == ["next", "complete"]
    assert answer.cancelled_at


async def test_a_stopping_server_ends_its_streams() -> None:
    answer = EndlessAnswer()
    app = app_of(Container(answer=answer))
    request = post_events(app, STREAM, INPUT)
    async with asyncio.timeout(5):
        await answer.began.wait()
        app.state.open_streams.closing.set()
        await request.task

    assert answer.cancelled_at


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (['{"type": "subscribe", "id": "1", "payload": {"query": "{ a }"}}'], 4401),
        (['{"type": "connection_init"}'], 4403),
        (['{"type": "connection_init", "payload": {"authorization": "Bearer nobody"}}'], 4403),
        (["{nope"], 4400),
        (["[]"], 4400),
        (['{"type": "drop tables"}'], 4400),
        (['{"type": 7}'], 4400),
    ],
)
async def test_a_broken_beginning_closes_the_connection_with_the_code_of_the_protocol(
    messages: list[str], code: int
) -> None:
    async with Socket.open(app_of(Container()), None) as socket:
        for one in messages:
            await socket.say_text(one)
        await socket.hear()

        assert ((end := await socket.hear())["type"], end["code"]) == ("websocket.close", code)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "connection_init"}, 4429),
        ({"type": "subscribe", "id": "", "payload": {}}, 4400),
        ({"type": "subscribe", "id": "1"}, 4400),
        ({"type": "subscribe", "id": "taken", "payload": {"query": STREAM, "variables": INPUT}}, 4409),
    ],
)
async def test_a_broken_message_later_closes_it_too(message: dict[str, Any], code: int) -> None:
    async with Socket.open(app_of(Container(answer=EndlessAnswer()))) as socket:
        await socket.ready()
        await socket.subscribe("taken", STREAM, INPUT)
        await socket.say(**message)

        heard = await socket.hear()
        while heard["type"] != "websocket.close":
            heard = await socket.hear()
        assert heard["code"] == code


@pytest.mark.parametrize("payload", [{"query": 3}, {"query": "{ nothing }"}, {"query": "{"}, {}])
async def test_a_wrong_operation_is_an_error_of_that_operation(payload: dict[str, Any]) -> None:
    async with Socket.open(app_of(Container())) as socket:
        await socket.ready()
        await socket.say(type="subscribe", id="1", payload=payload)

        assert ((heard := await socket.hear())["type"], heard["id"]) == ("error", "1")
        assert isinstance(heard["payload"][0]["message"], str)


async def test_a_page_of_another_origin_is_refused_and_one_of_this_server_is_not() -> None:
    for stranger in ("https://evil.example", "http://[x", "test"):
        async with Socket.open(app_of(Container()), None, origin=stranger) as socket:
            assert (await socket.hear())["type"] == "websocket.close"
    async with Socket.open(app_of(Container()), origin="http://test") as socket:
        await socket.ready()


async def test_a_credential_that_is_revoked_ends_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "TICK_SECONDS", 0.01)
    identity = FakeIdentity(dict(TOKENS))
    async with Socket.open(app_of(Container(answer=EndlessAnswer(), identity=identity))) as socket:
        await socket.ready()
        await socket.subscribe("1", STREAM, INPUT)
        await asyncio.sleep(0)
        del identity.tokens["admin-token"]  # type: ignore[attr-defined]

        heard = await socket.hear()
        assert (heard["type"], heard["payload"][0]["extensions"]["code"]) == ("error", "UNAUTHENTICATED")


async def test_a_reader_who_takes_nothing_is_left_behind_and_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "SEND_SECONDS", 0.05)
    app = app_of(Container())
    request = post_events(app, STREAM, INPUT)
    request.reads.clear()
    await asyncio.sleep(0.02)
    request.reads.set()
    await request.next()
    request.reads.clear()
    async with asyncio.timeout(5):
        await request.task

    assert len(app.state.open_streams) == 0


@pytest.mark.parametrize(
    ("connections", "processes", "most"),
    [(2, 1, 1), (7, 1, 3), (100_000, 1, streams.MOST_STREAMS), (100_000, 4, streams.MOST_STREAMS // 4), (7, 4, 3)],
)
def test_an_organisation_has_half_of_the_connections_for_streams_at_most_and_a_share_of_its_streams(
    connections: int, processes: int, most: int
) -> None:
    open_ = streams.OpenStreams(connections, processes)

    with ExitStack() as reading:
        for _ in range(most):
            reading.enter_context(open_.enter(ORG))
        with pytest.raises(Overloaded), open_.enter(ORG):
            pass
        with open_.enter(uuid4()):
            assert len(open_) == most + 1
    with open_.enter(ORG):
        assert len(open_) == 1


async def test_a_run_is_cancelled_by_its_id() -> None:
    answer = FakeAnswer()
    run_id = encode(NodeKind.RUN, WORKSPACE, numbered(500))
    text = f'mutation {{ cancelRun(id: "{run_id}") {{ cancelled userErrors {{ code }} }} }}'

    assert (await query(Container(answer=answer), text))["data"]["cancelRun"] == {"cancelled": True, "userErrors": []}
    assert answer.cancelled == [numbered(500)]
    other = await query(Container(answer=answer), text, token="other-token")
    assert other["data"]["cancelRun"]["userErrors"] == [{"code": "RUN_NOT_FOUND"}]
