"""`explainRun`: what became of a run's candidates, and why a passage is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest

from agentic_rag.answering.runs.explain import Explanation
from agentic_rag.answering.runs.explanation import (
    ArmPlacement,
    ArmState,
    SearchPlacement,
    WhyNot,
    WhyNotVerdict,
    explain_candidates,
)
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.retrieval.candidates import Hop, HopKind, Retriever
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from tests.api.builders import (
    ORG,
    OTHER_ORG,
    REF,
    WORKSPACE,
    WORKSPACE_ID,
    Container,
    FakeAnswer,
    a_run,
    numbered,
    query,
)

RUN_ID = encode(NodeKind.RUN, WORKSPACE, numbered(500))
CHUNK_ID = encode(NodeKind.CHUNK, WORKSPACE, numbered(9))
HOP = Hop(HopKind.SHARES, "Umea", numbered(202), numbered(2), "Document 2", numbered(201), numbered(1), "Document 1")
EXPLAIN = """
query($run: ID!, $whyNot: [ID!]) {
  explainRun(runId: $run, whyNot: $whyNot) {
    run { id citations { path { kind via fromChunkId fromSourceId fromTitle toChunkId toTitle } } }
    searches
    candidates { rank chunkId sourceId title score scores { retriever } path { kind via } fate reason markers }
    whyNot {
      chunkId title verdict explanation candidate { rank }
      searches {
        search rank score candidates handedOn leastScore
        scores { retriever state rank raw normalized weight }
      }
    }
  }
}
"""


def a_story_of_two_passages() -> Explanation:
    run = a_run(1)
    answer = run.answer
    trace = replace(answer.debug.candidates[0], path=(HOP,))
    citation = replace(answer.citations[0], path=(HOP,))
    debug = replace(answer.debug, candidates=(trace,))
    run = replace(run, answer=replace(answer, citations=(citation,), debug=debug))
    arms = (
        ArmPlacement(Retriever.DENSE, ArmState.BEYOND, 71, 0.2, 0.2, 0.5),
        ArmPlacement(Retriever.LEXICAL, ArmState.NOTHING_SHARED, None, None, None, 0.2),
    )
    standing = SearchPlacement("valve open", None, None, 60, 8, 0.5, arms)
    why_not = WhyNot(numbered(9), "Other", WhyNotVerdict.NO_SHARED_TERM, "It holds no term.", None, (standing,))
    return Explanation(run, ("valve open",), explain_candidates(run.answer), (why_not,))


@dataclass
class FakeExplain:
    result: Explanation | Exception = field(default_factory=a_story_of_two_passages)
    asked: list[tuple[WorkspaceRef, UUID, Sequence[UUID]]] = field(default_factory=list)

    async def run(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, why_not: Sequence[UUID] = ()
    ) -> Explanation:
        self.asked.append((workspace, run_id, tuple(why_not)))
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


async def explained(explain: FakeExplain, why_not: list[str] | None = None, **given: Any) -> dict[str, Any]:
    return await query(Container(explain=explain), EXPLAIN, {"run": RUN_ID, "whyNot": why_not}, **given)


async def test_a_run_is_explained_with_the_fate_of_each_candidate_and_the_path_to_it() -> None:
    explain = FakeExplain()

    found = (await explained(explain, [CHUNK_ID]))["data"]["explainRun"]

    assert explain.asked == [(REF, numbered(500), (numbered(9),))]
    assert found["searches"] == ["valve open"]
    assert found["candidates"] == [
        {
            "rank": 1,
            "chunkId": encode(NodeKind.CHUNK, WORKSPACE, numbered(201)),
            "sourceId": encode(NodeKind.DOCUMENT, WORKSPACE, numbered(1)),
            "title": "Document 1",
            "score": 0.9,
            "scores": [],
            "path": [{"kind": "SHARES", "via": "Umea"}],
            "fate": "CITED",
            "reason": "Cited as [1].",
            "markers": [1],
        }
    ]


async def test_a_passage_asked_about_has_its_place_in_every_arm() -> None:
    (told,) = (await explained(FakeExplain(), [CHUNK_ID]))["data"]["explainRun"]["whyNot"]

    assert (told["chunkId"], told["verdict"], told["candidate"]) == (CHUNK_ID, "NO_SHARED_TERM", None)
    assert told["searches"] == [
        {
            "search": "valve open",
            "rank": None,
            "score": None,
            "candidates": 60,
            "handedOn": 8,
            "leastScore": 0.5,
            "scores": [
                {"retriever": "DENSE", "state": "BEYOND", "rank": 71, "raw": 0.2, "normalized": 0.2, "weight": 0.5},
                {
                    "retriever": "LEXICAL",
                    "state": "NOTHING_SHARED",
                    "rank": None,
                    "raw": None,
                    "normalized": None,
                    "weight": 0.2,
                },
            ],
        }
    ]


async def test_a_citation_shows_its_hops_with_ids_that_can_be_asked_about() -> None:
    (citation,) = (await explained(FakeExplain()))["data"]["explainRun"]["run"]["citations"]

    assert citation["path"] == [
        {
            "kind": "SHARES",
            "via": "Umea",
            "fromChunkId": encode(NodeKind.CHUNK, WORKSPACE, numbered(202)),
            "fromSourceId": encode(NodeKind.DOCUMENT, WORKSPACE, numbered(2)),
            "fromTitle": "Document 2",
            "toChunkId": encode(NodeKind.CHUNK, WORKSPACE, numbered(201)),
            "toTitle": "Document 1",
        }
    ]


async def test_rag_answer_shows_the_hops_too() -> None:
    document = """query { ragAnswer(input: {question: "q", workspaceId: "%s"}) {
      citations { path { via } } debug { candidates { path { via } } } } }"""
    container = Container(answer=FakeAnswer(a_story_of_two_passages().run))

    found = (await query(container, document.replace("%s", WORKSPACE_ID)))["data"]["ragAnswer"]

    assert found["citations"] == [{"path": [{"via": "Umea"}]}]
    assert found["debug"]["candidates"] == [{"path": [{"via": "Umea"}]}]


async def test_a_foreign_run_is_looked_for_in_the_callers_organisation_only() -> None:
    explain = FakeExplain(NotFound("There is no such run.", code="RUN_NOT_FOUND"))

    body = await explained(explain, token="other-token")

    assert explain.asked[0][0].org_id == OTHER_ORG != ORG
    assert body["errors"][0]["extensions"]["code"] == "RUN_NOT_FOUND"


@pytest.mark.parametrize(("run", "why_not"), [(CHUNK_ID, []), (RUN_ID, [CHUNK_ID, RUN_ID])])
async def test_ids_of_the_wrong_kind_are_refused(run: str, why_not: list[str]) -> None:
    body = await query(Container(explain=FakeExplain()), EXPLAIN, {"run": run, "whyNot": why_not})

    assert body["errors"][0]["extensions"]["code"] == "INVALID_ID"


async def test_a_version_past_its_retention_is_told_with_its_code() -> None:
    gone = InvalidInput("Version 3 of the corpus is past its retention.", code="RUN_VERSION_GONE", path=("runId",))

    body = await explained(FakeExplain(gone), [CHUNK_ID])

    assert body["errors"][0]["extensions"]["code"] == "RUN_VERSION_GONE"
