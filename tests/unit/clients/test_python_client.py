"""The Python client over a transport that stands for the server."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from agentic_rag_client import AsyncRagClient, PromptContext, RagClient, RagError, RetryPolicy, Span, Turn
from agentic_rag_client.calls import seconds_of

QUICK = RetryPolicy(first_seconds=0.001, most_seconds=0.001)
SOURCE = {
    "sourceId": "S", "chunkId": "C", "workspaceId": "W", "title": "T", "sourcePath": "a.md",
    "span": {"start": 0, "end": 4}, "isCut": False, "similarity": 0.8, "agent": "", "flags": [],
    "recognised": True,
}  # fmt: skip
CONTEXT = {
    "text": "## 🧠 RELEVANT PROJECT KNOWLEDGE\n- **a.md**:\n  Rule", "step": "PASSAGES", "tokens": 9,
    "template": "project_knowledge", "templateVersion": 1, "sources": [SOURCE], "fault": None, "userErrors": [],
}  # fmt: skip
PASSAGE = {
    "text": "Rule", "title": "T", "sourcePath": "a.md", "sourceId": "S", "chunkId": "C", "url": None,
    "mediaType": "text/markdown", "span": {"start": 0, "end": 4}, "page": None, "lineStart": 1, "lineEnd": 1,
    "headingPath": ["H"], "similarity": 0.8, "cosine": 0.4, "score": 0.9, "flags": [], "recognised": True,
    "newMember": 1,
}  # fmt: skip
FOUND = {"passages": [PASSAGE], "corpusVersion": 3, "embeddingSpace": None, "degraded": [], "userErrors": []}
ANSWER = {
    "text": "A. [1]", "outcome": "GROUNDED", "degraded": [], "abstention": None, "run": {"id": "R"}, "userErrors": [],
    "citations": [
        {
            "marker": 1, "snippet": "A.", "title": "T", "sourcePath": "a.md", "sourceId": "S", "chunkId": "C",
            "url": None, "sourceSpan": {"start": 0, "end": 2}, "answerSpans": [{"start": 0, "end": 6}], "page": 1,
            "lineStart": 1, "lineEnd": 1, "headingPath": [], "score": 0.5, "verified": True, "flags": [],
            "recognised": True,
        }
    ],
}  # fmt: skip

Reply = Callable[[httpx2.Request], httpx2.Response]


class Server:
    """Gives its replies in turn, the last one for ever, and keeps what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = replies
        self.received: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        self.received.append(request)
        return self._replies[min(len(self.received), len(self._replies)) - 1](request)

    @property
    def asked(self) -> dict[str, Any]:
        """The input of the last GraphQL request."""
        return json.loads(self.received[-1].content)["variables"]["input"]


def data(field: str, value: Any) -> Reply:
    return lambda _: httpx2.Response(200, json={"data": {field: value}})


def refusal(status: int, code: str, **headers: str) -> Reply:
    body = {"errors": [{"message": "no", "extensions": {"code": code}}]}
    return lambda _: httpx2.Response(status, json=body, headers=headers)


def gone(_: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("refused")


class Both:
    """One client or the other, by the same blocking calls."""

    def __init__(self, server: Server, is_async: bool, **more: Any) -> None:
        kind: Any = AsyncRagClient if is_async else RagClient
        transport = httpx2.MockTransport(server)
        self.client = kind("http://rag.test/", "token", "handbook", transport=transport, **{"retry": QUICK, **more})
        self._is_async = is_async

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.client, name)
        return (lambda *given, **more: asyncio.run(call(*given, **more))) if self._is_async else call


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def client_of(request: pytest.FixtureRequest) -> Iterator[Callable[..., Both]]:
    return lambda server, **more: Both(server, request.param, **more)


Maker = Callable[..., Both]


def test_a_search_is_typed_and_unknown_members_are_left_out(client_of: Maker) -> None:
    server = Server(data("searchPassages", FOUND))

    found = client_of(server).search("rule", top_k=2, min_similarity=0.5, source_path_prefix="docs/")

    (passage,) = found.passages
    assert (passage.text, passage.span, passage.heading_path) == ("Rule", Span(0, 4), ("H",))
    assert passage.recognised
    assert (passage.similarity, passage.cosine, found.corpus_version) == (0.8, 0.4, 3)
    assert server.received[0].headers["authorization"] == "Bearer token"
    assert (server.asked["workspace"], server.asked["topK"]) == ("handbook", 2)
    assert server.asked["filter"]["sourcePathPrefix"] == "docs/"


def test_an_answer_carries_its_citations_and_an_idempotency_key(client_of: Maker) -> None:
    server = Server(refusal(503, "DEPENDENCY_UNAVAILABLE"), data("ragAnswer", ANSWER))

    answer = client_of(server).answer("when?", history=[Turn("a", "b")], options={"topK": 3})

    assert (answer.text, answer.outcome, answer.citations[0].verified) == ("A. [1]", "GROUNDED", True)
    assert answer.citations[0].recognised
    assert server.asked["history"] == [{"question": "a", "answer": "b"}]
    assert server.asked["options"]["topK"] == 3
    keys = {json.loads(one.content)["variables"]["input"]["idempotencyKey"] for one in server.received}
    assert len(keys) == 1


def test_a_repeated_upload_sends_the_whole_file_under_one_key(client_of: Maker, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n")
    accepted = {
        "id": "D", "workspaceId": "W", "sourcePath": "x/a.md", "size": 4, "contentSha256": "0", "unchanged": False,
        "jobId": "J", "statusUrl": "/v1",
    }  # fmt: skip
    server = Server(
        data("workspaceByName", {"id": "W"}),
        lambda _: httpx2.Response(429, json={"error": {"code": "RATE_LIMITED", "message": "no", "traceId": "0"}}),
        lambda _: httpx2.Response(202, json=accepted),
    )

    upload = client_of(server).upload(tmp_path / "a.md", source_path="x/a.md")

    assert (upload.id, upload.source_path) == ("D", "x/a.md")
    _, first, second = server.received
    assert first.url.path == "/v1/workspaces/W/documents"
    assert all(b"# A" in one.content and b"x/a.md" in one.content for one in (first, second))
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


def test_a_text_is_asked_for_by_place(client_of: Maker) -> None:
    body = {"text": "AB", "start": 1, "end": 3, "characters": 9, "corpusVersion": 2, "pages": [], "outline": []}
    server = Server(lambda _: httpx2.Response(200, json=body))

    assert client_of(server).text("D", start=1, end=3).text == "AB"
    assert dict(server.received[0].url.params) == {"start": "1", "end": "3"}


@pytest.mark.parametrize(
    ("reply", "code", "tries"),
    [
        (refusal(429, "RATE_LIMITED"), "RATE_LIMITED", 4),
        (refusal(503, "OVERLOADED"), "OVERLOADED", 4),
        (gone, "SERVER_UNREACHABLE", 4),
        (refusal(401, "UNAUTHENTICATED"), "UNAUTHENTICATED", 1),
        (data("searchPassages", {"userErrors": [{"code": "QUESTION_EMPTY", "message": "m"}]}), "QUESTION_EMPTY", 1),
        (lambda _: httpx2.Response(200, content=b"<html>"), "SERVER_FAULT", 1),
        (lambda _: httpx2.Response(200, json={"data": {"searchPassages": {}}}), "SERVER_FAULT", 1),
        (lambda _: httpx2.Response(502, content=b"<html>"), "SERVER_FAULT", 4),
    ],
)
def test_what_may_succeed_later_is_tried_again(client_of: Maker, reply: Reply, code: str, tries: int) -> None:
    server = Server(reply)

    with pytest.raises(RagError) as failed:
        client_of(server).search("rule")

    assert failed.value.code == code
    assert len(server.received) == tries


def test_a_field_that_lacks_a_dependency_is_tried_again(client_of: Maker) -> None:
    error = {"message": "m", "extensions": {"code": "DEPENDENCY_UNAVAILABLE", "dependency": "DATABASE"}}
    server = Server(
        lambda _: httpx2.Response(200, json={"errors": [error], "data": None}), data("searchPassages", FOUND)
    )

    assert client_of(server).search("rule").corpus_version == 3


def test_a_pause_that_outlasts_the_call_ends_it_at_once(client_of: Maker) -> None:
    server = Server(refusal(429, "RATE_LIMITED", **{"retry-after": "60"}))
    began = time.monotonic()

    with pytest.raises(RagError) as failed:
        client_of(server).search("rule", timeout=5.0)

    assert (failed.value.code, failed.value.retry_after) == ("RATE_LIMITED", 60.0)
    assert time.monotonic() - began < 2


def test_what_the_server_asks_to_wait_is_waited() -> None:
    error = RagError("m", code="RATE_LIMITED", is_transient=True, retry_after=3.0)

    assert RetryPolicy().pause(error, 1, 10.0) == 3.0
    assert RetryPolicy().pause(error, 1, 2.0) is None
    assert RetryPolicy(attempts=2).pause(error, 2, 10.0) is None


@pytest.mark.parametrize(
    ("given", "least", "most"),
    [
        (lambda: "7", 7, 7),
        (lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=3600), usegmt=True), 3000, 3600),
        (lambda: format_datetime(datetime(2001, 1, 1, tzinfo=UTC), usegmt=True), 0, 0),
    ],
    ids=["seconds", "in an hour", "long ago"],
)
def test_retry_after_is_seconds_or_a_date(given: Callable[[], str], least: float, most: float) -> None:
    seconds = seconds_of({"retry-after": given()})

    assert seconds is not None
    assert least <= seconds <= most


@pytest.mark.parametrize("given", ["", "soon", "-1"])
def test_a_retry_after_that_says_nothing_is_none(given: str) -> None:
    assert seconds_of({"retry-after": given}) is None


def test_an_agent_begins_with_the_projects_knowledge(client_of: Maker) -> None:
    server = Server(data("context", CONTEXT))

    context = client_of(server).prepare_context(
        "Fix the login", ["Write tests"], ["src/login.py"], role="Coder", tools=[{"name": "fs", "description": "files"}]
    )

    assert context.knowledge_context == CONTEXT["text"]
    assert context.fault is None
    assert [one.source_path for one in context.sources] == ["a.md"]
    assert context.system_prompt == (
        "# ROLE: Coder\n\n"
        f"## 📋 CURRENT MISSION (From Orchestrator)\n{'=' * 50}\nFix the login\n{'=' * 50}\n\n"
        f"{CONTEXT['text']}\n\n"
        "## 🛠️ YOUR CAPABILITIES\n- [fs]: files\n\n"
        "## ⚠️ CONSTRAINTS\n- Write tests\n\n"
        "## 📁 RELEVANT FILES\n- src/login.py\n\n"
        "## 🎯 EXECUTION RULES\n- Focus ONLY on the mission above\n- Use the provided tools precisely\n"
        "- If unclear, ask for clarification"
    )
    assert server.asked["timeoutMs"] == 1800


def test_an_agent_that_wants_no_knowledge_asks_for_none(client_of: Maker) -> None:
    server = Server(gone)

    context = client_of(server).prepare_context("Review", enable_rag=False)

    assert (context.knowledge_context, context.fault, server.received) == ("", None, [])


def broken(_: httpx2.Request) -> httpx2.Response:
    time.sleep(0.5)
    return httpx2.Response(200, json={})


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (gone, "SERVER_UNREACHABLE"),
        (refusal(401, "UNAUTHENTICATED"), "UNAUTHENTICATED"),
        (refusal(429, "RATE_LIMITED", **{"retry-after": "9"}), "RATE_LIMITED"),
        (data("context", {"userErrors": [{"code": "TEMPLATE_UNKNOWN", "message": "m"}]}), "TEMPLATE_UNKNOWN"),
        (data("context", {**CONTEXT, "text": "", "sources": [], "fault": "CONTEXT_LATE"}), "CONTEXT_LATE"),
        (lambda _: httpx2.Response(200, content=b"\xff"), "SERVER_FAULT"),
    ],
)
def test_any_fault_gives_an_empty_flagged_context(
    client_of: Maker, reply: Reply, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = client_of(Server(reply))

    with caplog.at_level(logging.WARNING, "agentic_rag_client"):
        context = client.prepare_context("Fix the login")

    assert (context.knowledge_context, context.fault) == ("", code)
    assert "Fix the login" in context.system_prompt
    assert client.client.faults == {code: 1}
    assert code in caplog.text


def test_an_agent_does_not_wait_for_what_the_server_lacks(client_of: Maker) -> None:
    server = Server(refusal(503, "DEPENDENCY_UNAVAILABLE"))

    context = client_of(server).prepare_context("Fix the login")

    assert (context.knowledge_context, context.fault, len(server.received)) == ("", "DEPENDENCY_UNAVAILABLE", 1)


def test_a_client_without_a_workspace_gives_an_empty_context_too() -> None:
    client = RagClient("http://rag.test", "token", transport=httpx2.MockTransport(Server(gone)))

    assert client.prepare_context("Fix the login").fault == "WORKSPACE_UNNAMED"


def test_a_context_that_trickles_in_is_given_up_in_time() -> None:
    client = RagClient("http://rag.test", "token", "handbook", transport=httpx2.MockTransport(broken))
    began = time.monotonic()

    context = client.prepare_context("Fix the login", timeout=0.05)

    assert context.fault == "CLIENT_TIMEOUT"
    assert time.monotonic() - began < 0.4


def test_a_partial_context_is_kept_and_flagged(client_of: Maker) -> None:
    context = client_of(Server(data("context", {**CONTEXT, "fault": "EMBEDDER"}))).prepare_context("Fix the login")

    assert (context.knowledge_context, context.fault) == (CONTEXT["text"], "EMBEDDER")


def test_a_context_for_several_agents_names_each(client_of: Maker) -> None:
    server = Server(data("context", CONTEXT))

    found = client_of(server).context(
        "x", workspaces={"brand": "Brand Judge", "facts": "Fact Judge"}, template="multi_agent"
    )

    assert isinstance(found, PromptContext)
    assert server.asked["workspaces"] == [
        {"workspace": "brand", "agent": "Brand Judge"},
        {"workspace": "facts", "agent": "Fact Judge"},
    ]
