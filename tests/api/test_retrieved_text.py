"""Searches and contexts from the wire to the use cases and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest

from agentic_rag.answering.context.prepare_context import (
    ContextRequest,
    ContextSource,
    ContextStep,
    PreparedContext,
)
from agentic_rag.answering.context.search_passages import FoundPassage, FoundPassages
from agentic_rag.answering.question import Question
from agentic_rag.documents.document import Chunk, ChunkVersion
from agentic_rag.documents.read_chunk import FoundChunk
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.language.prompt_injection import Suspicion
from agentic_rag.retrieval.candidates import ArmScore, Candidate, Retriever
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.rate_limits import Traffic
from tests.api.builders import A_SPACE, REF, WORKSPACE_ID, Container, NoLimits, client, document_id, numbered, query
from tests.api.rest_product import rest_product

CHUNK = Chunk(
    ordinal=1,
    chunk_id=numbered(201),
    document_id=numbered(1),
    revision_id=numbered(101),
    index=0,
    text="The valve opens at 3 bar.",
    start=10,
    end=35,
    page=2,
    line_start=4,
    line_end=4,
    heading_path=("Boiler",),
    document_title="Document 1",
    source_path="docs/1.pdf",
    url=None,
    media_type="application/pdf",
)
CANDIDATE = Candidate(1, 0.5, (ArmScore(Retriever.DENSE, 1, 0.4, 0.6, 0.7),))


@dataclass
class FakeSearch:
    asked: list[Question] = field(default_factory=list)
    is_recognised: bool = False
    chunk: Chunk = CHUNK

    async def run(self, principal: object, asked: Question) -> FoundPassages:
        self.asked.append(asked)
        found = FoundPassage(self.chunk, CANDIDATE, 0.8, 0.4, (Suspicion.INSTRUCTION,), self.is_recognised)
        return FoundPassages((found,), 7, A_SPACE, (Dependency.GRAPH,))


@dataclass
class FakeContext:
    asked: list[ContextRequest] = field(default_factory=list)

    async def run(self, principal: object, request: ContextRequest) -> PreparedContext:
        self.asked.append(request)
        source = ContextSource(
            REF, numbered(1), numbered(201), "T", "docs/1.pdf", 10, 35, False, 0.8, "Judge", (), True
        )
        return PreparedContext(
            "team_guidelines", 1, "## Team Guidelines\n\nX.", ContextStep.PASSAGES, (source,), "LATE"
        )


@dataclass
class TextContainer(Container):
    search: FakeSearch = field(default_factory=FakeSearch)
    context: FakeContext = field(default_factory=FakeContext)


SEARCH = """query Search($input: SearchPassagesInput!) { searchPassages(input: $input) {
  passages { sourceId text span { start end } page lineStart headingPath similarity cosine score scores { retriever }
             flags document { id } evidenceUrl language symbol }
  corpusVersion embeddingSpace degraded userErrors { code path } } }"""
CONTEXT = """query Context($input: ContextInput!) { context(input: $input) {
  text step tokens template templateVersion fault
  sources { sourceId span { start end } isCut similarity agent recognised }
  userErrors { code path } } }"""


async def test_a_passage_comes_with_its_text_and_place() -> None:
    body = await query(TextContainer(), SEARCH, {"input": {"query": "valve", "workspaceId": WORKSPACE_ID}})

    found = body["data"]["searchPassages"]
    assert found["passages"] == [
        {
            "sourceId": document_id(1),
            "text": "The valve opens at 3 bar.",
            "span": {"start": 10, "end": 35},
            "page": 2,
            "lineStart": 4,
            "headingPath": ["Boiler"],
            "similarity": 0.8,
            "cosine": 0.4,
            "score": 0.5,
            "scores": [{"retriever": "DENSE"}],
            "flags": ["INSTRUCTION"],
            "document": {"id": document_id(1)},
            "evidenceUrl": f"http://test/v1/documents/{document_id(1)}/text?start=10&end=35",
            "language": None,
            "symbol": None,
        }
    ]
    assert (found["corpusVersion"], found["embeddingSpace"]) == (7, A_SPACE.name)
    assert found["degraded"] == ["GRAPH"]


async def test_a_passage_of_code_says_its_language_and_what_it_defines_whatever_its_source_is() -> None:
    address = "https://git.example/pump.py"
    code = replace(CHUNK, text="def start_pump():\n    pass", source_path="src/pump.py", media_type="text/x-source")
    container = TextContainer(search=FakeSearch(chunk=replace(code, url=address)))
    sent = {"query": "valve", "workspaceId": WORKSPACE_ID}

    (found,) = (await query(container, SEARCH, {"input": sent}))["data"]["searchPassages"]["passages"]
    async with client(container) as http:
        (twin,) = (await http.post("/v1/search", json=sent)).json()["passages"]

    wanted = {"language": "python", "symbol": "start_pump", "evidenceUrl": address, "lineStart": 4}
    assert wanted == {name: found[name] for name in wanted}
    assert wanted == {name: twin[name] for name in wanted}


async def test_a_candidate_of_an_answer_carries_its_text_while_the_caller_may_read_it() -> None:
    place = ChunkVersion(numbered(201), 1, numbered(1), "Document 1", 7, None)
    held = {numbered(201): FoundChunk(place, CHUNK, 7, None)}

    class ReadHeld:
        async def run(self, principal: Principal, workspace: WorkspaceRef, chunk_id: UUID) -> FoundChunk | None:
            assert workspace == REF
            return held.get(chunk_id)

    asked = "mutation($in: RagAnswerInput!) { ragAnswer(input: $in) { debug { candidates { chunkId text } } } }"
    sent = {"in": {"question": "When?", "workspaceId": WORKSPACE_ID}}
    found = await query(Container(read_chunk=ReadHeld()), asked, sent)
    held.clear()
    later = await query(Container(read_chunk=ReadHeld()), asked, sent)

    told = [one["data"]["ragAnswer"]["debug"]["candidates"][0]["text"] for one in (found, later)]
    assert told == [CHUNK.text, None]


async def test_a_search_by_rest_is_the_same_search() -> None:
    container = TextContainer(admission=NoLimits())
    sent = {"query": "valve", "workspaceId": WORKSPACE_ID, "topK": 3, "minSimilarity": 0.5, "sourcePathPrefix": "docs/"}

    async with client(container) as http:
        response = await http.post("/v1/search", json=sent)

    assert response.status_code == 200
    (passage,) = response.json()["passages"]
    assert (passage["text"], passage["similarity"], passage["cosine"]) == ("The valve opens at 3 bar.", 0.8, 0.4)
    (asked,) = container.search.asked
    assert (asked.workspace, asked.options.top_k, asked.options.min_similarity) == (REF, 3, 0.5)
    assert asked.options.filter.source_path_prefix == "docs/"
    assert container.admission.demands == [{Traffic.ASK: 1}]


async def test_a_context_names_what_it_is_made_of() -> None:
    container = TextContainer()
    given = {
        "query": "Fix the login test",
        "workspaces": [{"workspaceId": WORKSPACE_ID, "agent": "Judge"}],
        "template": "team_guidelines",
        "maxTokens": 500,
        "enabled": False,
    }

    body = await query(container, CONTEXT, {"input": given})

    assert body["data"]["context"] == {
        "text": "## Team Guidelines\n\nX.",
        "step": "PASSAGES",
        "tokens": 7,
        "template": "team_guidelines",
        "templateVersion": 1,
        "fault": "LATE",
        "sources": [
            {
                "sourceId": document_id(1),
                "span": {"start": 10, "end": 35},
                "isCut": False,
                "similarity": 0.8,
                "agent": "Judge",
                "recognised": True,
            }
        ],
        "userErrors": [],
    }
    (asked,) = container.context.asked
    assert (asked.tokens, asked.is_enabled, asked.parts[0].workspace) == (500, False, REF)


async def test_a_context_by_rest_is_the_same_context() -> None:
    container = TextContainer()
    sent = {"query": "x", "workspaces": [{"workspaceId": WORKSPACE_ID}], "template": "team_guidelines"}

    async with client(container) as http:
        response = await http.post("/v1/context", json=sent)

    assert response.status_code == 200
    assert response.json()["text"] == "## Team Guidelines\n\nX."
    assert [one["recognised"] for one in response.json()["sources"]] == [True]
    assert container.context.asked[0].template == "team_guidelines"


@pytest.mark.parametrize(
    ("changed", "code"),
    [({"template": "nope"}, "TEMPLATE_UNKNOWN"), ({"maxTokens": 3}, "CONTEXT_BUDGET_TOO_SMALL")],
)
async def test_what_is_wrong_with_a_context_has_its_own_code(changed: dict[str, Any], code: str) -> None:
    product = await rest_product()
    asked = {"query": "x", "workspaces": [{"workspaceId": WORKSPACE_ID}], "template": "team_guidelines", **changed}

    body = await query(product, CONTEXT, {"input": asked})

    assert [one["code"] for one in body["data"]["context"]["userErrors"]] == [code]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/search", {"query": "", "workspaceId": WORKSPACE_ID}),
        ("/v1/search", {"query": "x\0y", "workspaceId": WORKSPACE_ID}),
        ("/v1/search", {"query": "x", "workspaceId": "W"}),
        ("/v1/search", {"query": "x", "workspaceId": WORKSPACE_ID, "topK": 51}),
        ("/v1/search", {"query": "x", "workspaceId": WORKSPACE_ID, "minSimilarity": 1.1}),
        ("/v1/search", {"query": "x", "workspaceId": WORKSPACE_ID, "unknown": 1}),
        ("/v1/search", {"query": "x"}),
        ("/v1/context", {"query": "x", "workspaces": [], "template": "team_guidelines"}),
        ("/v1/context", {"query": "x", "workspaces": [{"workspaceId": WORKSPACE_ID}] * 11, "template": "x"}),
    ],
)
async def test_a_malformed_request_is_refused(path: str, sent: dict[str, Any]) -> None:
    container = TextContainer()

    async with client(container) as http:
        response = await http.post(path, json=sent)

    assert response.status_code == 400
    assert container.search.asked == []
    assert container.context.asked == []


SAVE = """mutation Save($input: SaveContextTemplateInput!) { saveContextTemplate(input: $input) {
  template { name version isBuiltIn topK minSimilarity isFixed } userErrors { code path } } }"""


async def test_a_workspaces_template_is_kept_listed_used_and_deleted() -> None:
    product = await rest_product()
    given = {"workspaceId": WORKSPACE_ID, "name": "rules", "heading": "## Rules", "item": "- {text}", "topK": 2}
    asked = {"query": "pump", "workspaces": [{"workspaceId": WORKSPACE_ID}], "template": "rules"}

    saved = await query(product, SAVE, {"input": given})
    async with client(product) as http:
        path = f"/v1/workspaces/{WORKSPACE_ID}/templates"
        changed = await http.put(f"{path}/rules", json={"heading": "## House rules", "maxTokens": 100})
        listed = (await http.get(path)).json()["templates"]
        context = (await http.post("/v1/context", json=asked)).json()
        deleted = await http.delete(f"{path}/rules")
        again = await http.delete(f"{path}/rules")

    assert saved["data"]["saveContextTemplate"]["template"] == {
        "name": "rules", "version": 1, "isBuiltIn": False, "topK": 2, "minSimilarity": 0.7, "isFixed": True,
    }  # fmt: skip
    assert changed.json()["version"] == 2
    assert [(one["name"], one["version"]) for one in listed[-2:]] == [("rules", 1), ("rules", 2)]
    assert [one["isBuiltIn"] for one in listed] == [True] * 4 + [False] * 2
    assert (context["template"], context["templateVersion"], context["fault"]) == ("rules", 2, None)
    assert deleted.json() == {"deletedName": "rules"}
    assert (again.status_code, again.json()["error"]["code"]) == (404, "TEMPLATE_NOT_FOUND")


@pytest.mark.parametrize(
    ("changed", "code", "path"),
    [
        ({"heading": "## {agnet}"}, "TEMPLATE_INVALID", ["input", "heading"]),
        ({"name": "team_guidelines"}, "TEMPLATE_INVALID", ["name"]),
        ({"maxTokens": 2}, "CONTEXT_BUDGET_TOO_SMALL", ["input", "maxTokens"]),
        ({"minSimilarity": 2.0}, "INVALID_INPUT", ["input", "ragConfig", "similarityThreshold"]),
    ],
)
async def test_a_template_that_cannot_be_kept_is_refused(changed: dict[str, Any], code: str, path: list[str]) -> None:
    product = await rest_product()
    given = {"workspaceId": WORKSPACE_ID, "name": "rules", "heading": "## Rules", **changed}

    body = await query(product, SAVE, {"input": given})

    assert body["data"]["saveContextTemplate"] == {"template": None, "userErrors": [{"code": code, "path": path}]}


@pytest.mark.parametrize("hangs", [False, True])
async def test_a_context_by_name_is_empty_and_flagged_while_the_database_is_away(hangs: bool) -> None:
    product = await rest_product()

    @asynccontextmanager
    async def away(_: object) -> AsyncIterator[Any]:
        if hangs:
            await asyncio.Event().wait()
        raise DependencyUnavailable("away", dependency="postgres")
        yield

    @asynccontextmanager
    async def while_answering(_: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(0.05):
                yield
        except TimeoutError as late:
            raise DependencyUnavailable("answers nobody", dependency="postgres") from late

    product.database.transaction = away  # type: ignore[method-assign]
    product.database.while_answering = while_answering  # type: ignore[method-assign]
    asked = {"query": "x", "workspaces": [{"workspace": "handbook"}], "template": "team_guidelines"}

    body = await query(product, CONTEXT, {"input": asked})

    assert (body["data"]["context"]["text"], body["data"]["context"]["fault"]) == ("", "DEPENDENCY_UNAVAILABLE")
