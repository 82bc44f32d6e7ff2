"""`ragAnswer` from the wire to the use case and back."""

from dataclasses import replace

import pytest

from agentic_rag.answering.question import CacheMode, Question, Turn
from agentic_rag.answering.run import Run
from agentic_rag.documents.document import CitedPassage
from agentic_rag.kernel.errors import (
    AgenticRagError,
    BudgetExceeded,
    DependencyUnavailable,
    IdempotencyConflict,
    InvalidInput,
    MissingProviderKey,
    NotFound,
    PolicyRefused,
    Retryable,
)
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.tenancy.principals import KeyScope, Principal, Role
from tests.api.builders import (
    REF,
    WORKSPACE_ID,
    Container,
    FakeAnswer,
    FakeIdentity,
    a_run,
    a_workspace,
    document_id,
    numbered,
    query,
)
from tests.unit.answering.answering_world import PRINCIPAL, World
from tests.unit.answering.corpus import WORKSPACE, Corpus

BY_NAME = {"question": "When does the valve open?", "workspace": a_workspace().name}
ASK = "query Ask($input: RagAnswerInput!) { ragAnswer(input: $input) { %s } }"
MINIMAL = {"question": "When does the valve open?", "workspaceId": WORKSPACE_ID}


async def test_a_workspace_is_named_by_its_id_or_by_its_name() -> None:
    asked = FakeAnswer()

    body = await query(Container(answer=asked), ASK % "outcome userErrors { code }", {"input": BY_NAME})

    assert body["data"]["ragAnswer"] == {"outcome": "GROUNDED", "userErrors": []}
    assert asked.asked[0][1].workspace == REF


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ({"workspace": "no such name"}, "WORKSPACE_NOT_FOUND"),
        ({}, "WORKSPACE_UNNAMED"),
        ({"workspace": "handbook", "workspaceId": WORKSPACE_ID}, "WORKSPACE_UNNAMED"),
    ],
)
async def test_a_question_names_one_workspace_that_exists(named: dict[str, str], code: str) -> None:
    given = {"question": "When does the valve open?", **named}

    body = await query(Container(), ASK % "answer userErrors { code }", {"input": given})

    assert body["data"]["ragAnswer"] == {"answer": None, "userErrors": [{"code": code}]}


async def test_the_payload_carries_the_answer_and_its_proof() -> None:
    shown = """answer outcome degraded abstention { reason }
      citations { marker sourceId chunkId title url snippet sourceSpan { start end } answerSpans { start end } page
                  lineStart lineEnd score scores { retriever rank raw normalized weight } origin verified
                  document { id title } }
      gate { planType directives { useRetrieval } contributions { name contribution } thresholds { name value } }
      debug { plan { answerType subQuestions { text } } standaloneQuestion timings { stage outcome }
              candidates { chunkId droppedBecause } selfCheck { citationCoverage } toolCalls { tool } }
      run { id question cache versions { corpusVersion } } userErrors { code }"""

    body = await query(Container(), ASK % shown, {"input": MINIMAL})

    payload = body["data"]["ragAnswer"]
    assert "errors" not in body
    assert (payload["answer"], payload["outcome"]) == ("The valve opens at 3 bar [1].", "GROUNDED")
    first, second = payload["citations"]
    assert first["document"] == {"id": document_id(1), "title": "Document 1"}
    assert second["document"] is None
    assert first["sourceSpan"] == {"start": 10, "end": 114}
    assert first["scores"][0] == {"retriever": "DENSE", "rank": 1, "raw": 0.9, "normalized": 0.9, "weight": 0.5}
    assert payload["gate"]["planType"] == "RETRIEVE"
    assert payload["debug"]["plan"]["answerType"] == "FIGURE"
    assert payload["debug"]["timings"] == [{"stage": "gate", "outcome": "ok"}]
    assert payload["run"]["versions"] == {"corpusVersion": 7}


async def test_every_option_reaches_the_use_case() -> None:
    container = Container()
    given = MINIMAL | {
        "history": [
            {
                "question": "And the pump?",
                "answer": "It starts at 2 bar.",
                "cited": [
                    {"sourceId": document_id(1), "chunkId": encode(NodeKind.CHUNK, REF.workspace_id, numbered(9))}
                ],
            }
        ],
        "after": encode(NodeKind.RUN, REF.workspace_id, numbered(8)),
        "asOf": 5,
        "idempotencyKey": "k1",
        "options": {
            "topK": 3,
            "minScore": 0.25,
            "maxContextTokens": 900,
            "useHyde": False,
            "useTools": True,
            "filter": {"documentIds": [document_id(1)], "sourcePathPrefix": "docs/", "mediaTypes": ["text/plain"]},
            "cache": "BYPASS",
            "timeoutMs": 1500,
            "fusion": "RRF",
            "weights": {"vector": 0.5, "graph": 0.5, "lexicalShare": 0.4},
        },
    }

    await query(container, ASK % "answer", {"input": given})

    principal, question = container.answer.asked[0]
    assert principal.subject == "ada"
    assert question.workspace == REF
    assert question.history == (
        Turn("And the pump?", "It starts at 2 bar.", (CitedPassage(numbered(1), numbered(9)),)),
    )
    assert question.after == numbered(8)
    assert (question.as_of, question.idempotency_key) == (5, "k1")
    options = question.options
    assert (options.top_k, options.min_score, options.max_context_tokens) == (3, 0.25, 900)
    assert (options.use_hyde, options.use_tools, options.timeout_ms) == (False, True, 1500)
    assert options.filter.document_ids == (numbered(1),)
    assert (options.cache, options.fusion) == (CacheMode.BYPASS, FusionMethod.RRF)
    assert options.weights == FusionWeights(0.5, 0.5, 0.4)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("Empty.", code="QUESTION_EMPTY", path=("question",)), "QUESTION_EMPTY"),
        (NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND"), "WORKSPACE_NOT_FOUND"),
        (IdempotencyConflict("Used before."), "IDEMPOTENCY_CONFLICT"),
        (PolicyRefused("No."), "POLICY_REFUSED"),
        (BudgetExceeded("No money."), "BUDGET_EXCEEDED"),
        (MissingProviderKey("Store a key."), "PROVIDER_KEY_MISSING"),
        (InvalidInput("New code.", code="NOT_IN_THE_SCHEMA"), "INVALID_INPUT"),
    ],
)
async def test_what_the_caller_can_put_right_is_a_user_error(error: AgenticRagError, code: str) -> None:
    container = Container(answer=FakeAnswer(error))
    shown = (
        "answer outcome run { id } gate { mode } debug { hydeText } citations { marker } userErrors { code message }"
    )

    body = await query(container, ASK % shown, {"input": MINIMAL})

    payload = body["data"]["ragAnswer"]
    assert payload.pop("userErrors") == [{"code": code, "message": error.message}]
    assert payload.pop("citations") == []
    assert set(payload.values()) == {None}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"workspaceId": "not-an-id"}, ["workspaceId"]),
        ({"workspaceId": document_id(1)}, ["workspaceId"]),
        ({"question": "a\0b"}, ["question"]),
        ({"idempotencyKey": " "}, ["idempotencyKey"]),
        ({"options": {"filter": {"documentIds": ["?"]}}}, ["options", "filter", "documentIds", "0"]),
    ],
)
async def test_arguments_that_cannot_be_read_name_their_path(change: dict[str, object], path: list[str]) -> None:
    container = Container()

    body = await query(container, ASK % "answer userErrors { code path }", {"input": MINIMAL | change})

    assert body["data"]["ragAnswer"]["userErrors"][0]["path"] == path
    assert container.answer.asked == []


async def test_a_missing_dependency_is_an_error_that_names_it() -> None:
    error = DependencyUnavailable("Postgres does not answer.", dependency="postgres")

    body = await query(Container(answer=FakeAnswer(error)), ASK % "answer", {"input": MINIMAL})

    extensions = body["errors"][0]["extensions"]
    assert body["data"] is None
    assert (extensions["code"], extensions["dependency"]) == ("DEPENDENCY_UNAVAILABLE", "postgres")
    assert len(extensions["traceId"]) == 32


async def test_a_transient_error_says_when_to_come_back() -> None:
    error = Retryable("Busy.", retry_after_seconds=3.0)

    body = await query(Container(answer=FakeAnswer(error)), ASK % "answer", {"input": MINIMAL})

    assert body["errors"][0]["extensions"]["retryAfterSeconds"] == 3.0


async def test_a_fault_of_the_program_is_masked_and_logged_with_its_trace_id() -> None:
    container = Container(answer=FakeAnswer(RuntimeError("postgres://user:hunter2@db/rag is odd")))

    body = await query(container, ASK % "answer", {"input": MINIMAL})

    (error,) = body["errors"]
    (logged,) = [event for event in container.telemetry.events if event.name == "request_failed"]
    assert "hunter2" not in str(body)
    assert error["extensions"]["code"] == "INTERNAL"
    assert error["extensions"]["traceId"] == logged.trace_id
    assert "hunter2" in logged.fields["exception"]


async def test_who_may_only_ask_does_not_read_the_documents_of_citations() -> None:
    container = Container()
    asker = Principal(REF.org_id, "asker", Role.ADMIN, scopes=frozenset({KeyScope.ASK}))
    container.identity = FakeIdentity({"asker-token": asker})

    body = await query(
        container, ASK % "citations { title document { sourcePath } }", {"input": MINIMAL}, "asker-token"
    )

    cited = body["data"]["ragAnswer"]["citations"]
    assert all(one["title"] and one["document"] is None for one in cited)
    assert {one["extensions"]["code"] for one in body["errors"]} == {"FORBIDDEN"}


async def test_documents_of_citations_come_in_one_transaction() -> None:
    container = Container(answer=FakeAnswer(a_run(citations=10)))

    await query(container, ASK % "citations { document { title } }", {"input": MINIMAL})

    assert container.database.transactions == 1


class _AsWorld(FakeAnswer):
    """The real use case over a corpus in memory, as the workspace of these tests."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    async def ask(self, principal: Principal, question: Question) -> Run:
        run = await self._world.answer.ask(PRINCIPAL, replace(question, workspace=WORKSPACE))
        return replace(run, workspace=REF)


async def test_a_follow_up_shows_what_it_was_read_as() -> None:
    corpus = Corpus()
    corpus.add("overview.md", "Company overview", "Corrand Tidal was founded by Maren Tollack in 2009.")
    world = World(corpus)
    container = Container(answer=_AsWorld(world))
    shown = "answer citations { sourceId chunkId } debug { standaloneQuestion } run { id } userErrors { code }"

    first = (await query(container, ASK % shown, {"input": MINIMAL | {"question": "Who founded Corrand Tidal?"}}))[
        "data"
    ]
    given = MINIMAL | {"question": "And when?", "after": first["ragAnswer"]["run"]["id"]}
    by_run = (await query(container, ASK % shown, {"input": given}))["data"]["ragAnswer"]
    turn = {
        "question": "Who founded Corrand Tidal?",
        "answer": first["ragAnswer"]["answer"],
        "cited": first["ragAnswer"]["citations"],
    }
    given = MINIMAL | {"question": "And when?", "history": [turn]}
    by_history = (await query(container, ASK % shown, {"input": given}))["data"]["ragAnswer"]
    await world.recorder.aclose()

    assert first["ragAnswer"]["debug"]["standaloneQuestion"] is None
    for found in (by_run, by_history):
        assert found["debug"]["standaloneQuestion"] == "When (about: who founded Corrand Tidal)?"
        assert "2009" in found["answer"]
        assert found["citations"] == first["ragAnswer"]["citations"]
