"""Document-level access as callers meet it: two colleagues of one workspace, and who manages it, over stores in memory.

Nina is in the group `night`, Dana in the group `day`; Ada is an admin and in no group.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.answering.ask import AnswerPorts
from agentic_rag.answering.build import answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.runs.explain import ExplainRun
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.documents.document import document_id_for
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.ingestion.missing import hide
from agentic_rag.jobs.job import graph_job
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.audit import AuditFilter
from agentic_rag.tenancy.principals import SubjectKind
from tests.api.builders import REF, TOKENS, WORKSPACE_ID, client, query
from tests.api.rest_product import RestProduct, rest_product
from tests.memory_store.answering.runs import MemoryRunStore
from tests.memory_store.compute import InlineCompute

NINA, DANA, ADA = "night-token", "day-token", "admin-token"
SECRET = "The night shift keeps the copper key of the boiler room under the third step."
OPEN = "The boiler room of the works is on the ground floor, beside the yard."
QUESTION = "Where does the night shift keep the copper key of the boiler room?"
ROTA = "rota.md"
NO_RUN = "This workspace has no such run, or the run is past its retention. Send the turns as `history` instead."

ASK = """query ($ws: ID!, $q: String!, $after: ID, $asOf: Int) {
  ragAnswer(input: {workspaceId: $ws, question: $q, after: $after, asOf: $asOf}) {
    answer outcome run { id cache } citations { title snippet }
    debug { candidates { title } } abstention { nearest { title snippet } } userErrors { code message }
  }
}"""
SHARE = """mutation ($id: ID!, $by: ReadersInput) {
  setDocumentAccess(id: $id, readableBy: $by) {
    document { readableBy { users groups } } userErrors { code message }
  }
}"""
WRITERS = """mutation ($id: ID!, $writers: [String!]!) {
  setDocumentWriters(id: $id, writers: $writers) { document { writers } userErrors { code } }
}"""
SHARE_ALL = "mutation ($id: ID!) { setDocumentAccess(id: $id, allVersions: true) { userErrors { code } } }"
ERASE = "mutation ($id: ID!) { deleteDocument(id: $id) { userErrors { code } } }"
LISTED = "query ($ws: ID!) { documents(workspaceId: $ws) { nodes { sourcePath missing } } }"
LOOK = """query ($ws: ID!, $id: ID!) {
  documents(workspaceId: $ws) { nodes { sourcePath } }
  document(id: $id) { title readableBy { users groups } }
  node(id: $id) { id }
  jobs(workspaceId: $ws) { nodes { id document { sourcePath } } }
}"""


class Works(RestProduct):
    """The product with answers."""

    async def open(self) -> None:
        embedders, clock = only(DeterministicEmbedder()), self.store.clock
        self.run_store = MemoryRunStore(self.store)
        self.recorder = RunRecorder(self.database, self.run_store, self.cache, self.telemetry)
        retrieve = Retrieve(self.telemetry)
        ports = AnswerPorts(self.database, self.cache, self.run_store, embedders, self.telemetry, clock, self.ids)
        self.answer: Any = answer_question(ports, self.recorder, AnswerDefaults(), retrieve=retrieve)
        self.read_runs = ReadRuns(self.database, self.run_store, clock, self.recorder)
        self.explain = ExplainRun(self.database, self.read_runs, embedders, retrieve)
        ingest = IngestChunks(self.database, embedders, TextAnalysis(estimate_tokens, InlineCompute()))
        await ingest.run(REF, [ChunkedDocument(ROTA, "Rota of the night", (SECRET,))], "user:nina")
        await ingest.run(REF, [ChunkedDocument("plan.md", "Plan of the works", (OPEN,))], "user:ada")

    async def ask(
        self, token: str, question: str = QUESTION, after: str | None = None, as_of: int | None = None
    ) -> dict[str, Any]:
        variables = {"ws": WORKSPACE_ID, "q": question, "after": after, "asOf": as_of}
        told = await query(self, ASK, variables, token)
        await self.recorder.drain()
        return told["data"]["ragAnswer"]

    async def share(self, token: str, users: list[str] = [], groups: list[str] = []) -> dict[str, Any]:  # noqa: B006
        told = await query(self, SHARE, {"id": rota(), "by": {"users": users, "groups": groups}}, token)
        return told["data"]["setDocumentAccess"] if told["data"] else told

    async def look(self, token: str) -> dict[str, Any]:
        return (await query(self, LOOK, {"ws": WORKSPACE_ID, "id": rota()}, token))["data"]


def rota() -> str:
    """The public id of the document that is shared and withheld."""
    return encode(NodeKind.DOCUMENT, REF.workspace_id, document_id_for(REF, ROTA))


def titles(answer: dict[str, Any]) -> set[str]:
    """Every document that an answer names."""
    abstention = answer["abstention"] or {"nearest": []}
    named = [*answer["citations"], *answer["debug"]["candidates"], *abstention["nearest"]]
    return {one["title"] for one in named}


@asynccontextmanager
async def opened_works() -> AsyncIterator[Works]:
    plain = await rest_product()
    product = Works(store=plain.store, blobs=plain.blobs)
    await product.open()
    yield product
    await product.recorder.aclose()


@pytest.fixture
async def works() -> AsyncIterator[Works]:
    async with opened_works() as product:
        yield product


async def test_a_shared_document_answers_those_it_is_shared_with_and_no_others(works: Works) -> None:
    shared = await works.share(NINA, groups=["night"])

    nina, dana = await works.ask(NINA), await works.ask(DANA)

    assert shared == {"document": {"readableBy": {"users": [], "groups": ["night"]}}, "userErrors": []}
    assert "third step" in nina["answer"]
    assert "Rota of the night" in titles(nina)
    assert "third step" not in str(dana)
    assert "Rota of the night" not in titles(dana)


async def test_a_change_of_readers_is_in_force_with_the_next_question_cache_or_not(works: Works) -> None:
    first, again = await works.ask(DANA), await works.ask(DANA)
    await works.share(NINA, groups=["night"])
    after = await works.ask(DANA)
    await works.share(NINA, groups=["night", "day"])
    back = await works.ask(DANA)

    assert "third step" in first["answer"]
    assert again["run"]["cache"] == "HIT"
    assert "third step" not in str(after)
    assert after["run"]["cache"] == "MISS"
    assert back["answer"] == first["answer"]


async def test_callers_who_may_read_the_same_share_cached_answers(works: Works) -> None:
    await works.share(NINA, groups=["night"])

    mine, theirs, managers = [await works.ask(token, "Where is the boiler room?") for token in (NINA, DANA, ADA)]

    assert [one["run"]["cache"] for one in (mine, theirs, managers)] == ["MISS", "MISS", "HIT"]


async def test_a_manager_sees_that_a_document_is_there_but_reads_only_what_is_shared(works: Works) -> None:
    await works.share(NINA, groups=["night"])

    seen, asked = await works.look(ADA), await works.ask(ADA)
    async with client(works, ADA) as http:
        text = await http.get(f"/v1/documents/{rota()}/source")

    assert seen["document"] == {"title": "Rota of the night", "readableBy": {"users": [], "groups": ["night"]}}
    assert "third step" not in str(asked)
    assert (text.status_code, text.json()["error"]["code"]) == (403, "FORBIDDEN")
    await works.share(ADA, users=["ada"], groups=["night"])
    assert "third step" in (await works.ask(ADA))["answer"]


async def test_to_others_a_withheld_document_is_like_one_that_is_not_there(works: Works) -> None:
    before = await works.look(DANA)
    await works.share(NINA, groups=["night"])

    seen = await works.look(DANA)
    async with client(works, DANA) as http:
        ways = [
            await http.get(f"/v1/documents/{rota()}/source"),
            await http.get(f"/v1/documents/{rota()}/source", headers={"range": "bytes=900-", "if-none-match": "*"}),
            await http.get(f"/v1/workspaces/{WORKSPACE_ID}/documents/{rota()}"),
            await http.delete(f"/v1/workspaces/{WORKSPACE_ID}/documents/{rota()}"),
            await http.post(f"/v1/workspaces/{WORKSPACE_ID}/documents/{rota()}/reingest"),
        ]

    assert before["document"]["title"] == "Rota of the night"
    assert [one["sourcePath"] for one in seen["documents"]["nodes"]] == ["handbook.md", "plan.md"]
    assert (seen["document"], seen["node"]) == (None, None)
    assert [way.status_code for way in ways] == [404] * 5
    assert "otal" not in str([way.json() for way in ways])


async def test_who_did_not_upload_a_document_cannot_say_who_reads_it(works: Works) -> None:
    refused = await works.share(DANA, users=["dana"])
    await works.share(NINA, groups=["night"])
    hidden = await works.share(DANA, users=["dana"])

    assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert hidden["userErrors"][0]["code"] == "DOCUMENT_NOT_FOUND"
    assert "third step" not in str(await works.ask(DANA))


async def test_nobody_locks_himself_out_but_a_manager_can(works: Works) -> None:
    kept = await works.share(NINA, groups=["day"])
    assert kept["document"]["readableBy"] == {"users": ["nina"], "groups": ["day"]}

    moved = await works.share(ADA, groups=["day"])

    assert moved["document"]["readableBy"] == {"users": [], "groups": ["day"]}
    assert "third step" not in str(await works.ask(NINA))


async def test_an_owner_who_is_no_reader_still_owns(works: Works) -> None:
    await works.share(ADA, groups=["day"])
    seen = await works.look(NINA)
    hand_over = "mutation ($to: String!, $id: ID!) { transferOwnership(id: $id, to: $to) { document { uploadedBy } } }"
    async with client(works, NINA) as http:
        text = await http.get(f"/v1/documents/{rota()}/source")
        again = await http.post(f"/v1/workspaces/{WORKSPACE_ID}/documents/{rota()}/reingest")

    written = await query(works, WRITERS, {"id": rota(), "writers": ["group:night"]}, NINA)
    given = await query(works, hand_over, {"to": "user:ada", "id": rota()}, NINA)
    back = await query(works, hand_over, {"to": "user:nina", "id": rota()}, ADA)
    erased = await query(works, ERASE, {"id": rota()}, NINA)

    assert (seen["document"], text.status_code) == (None, 404)
    assert (again.status_code, again.json()["error"]["code"]) == (422, "ORIGINAL_MISSING")
    assert written["data"]["setDocumentWriters"]["document"] == {"writers": ["group:night"]}
    assert given["data"]["transferOwnership"]["document"] == {"uploadedBy": "user:ada"}
    assert back["data"]["transferOwnership"]["document"] == {"uploadedBy": "user:nina"}
    assert erased["data"]["deleteDocument"]["userErrors"] == []


async def jobs_of_rota(works: Works, token: str) -> list[str]:
    """Ids of the jobs that a caller sees, but those of another document that is there."""
    nodes = (await works.look(token))["jobs"]["nodes"]
    return [one["id"] for one in nodes if one["document"] is None or one["document"]["sourcePath"] == ROTA]


PROVE = "query ($id: ID!) { proveErased(documentId: $id) { erased } }"
JOB = "query ($id: ID!) { job(id: $id) { kind } }"


@pytest.mark.parametrize("readers", [[], ["night"]])
async def test_a_document_that_its_source_lost_is_known_to_managers_alone_then_and_after_its_erasure(
    works: Works, readers: list[str]
) -> None:
    await works.share(NINA, groups=readers)
    async with works.database.transaction(REF.org_id) as transaction:
        lost = await transaction.documents.get(REF, document_id_for(REF, ROTA))
        assert lost is not None
        await hide(transaction, lost, timedelta(days=1), {})
    listed = {token: (await query(works, LISTED, {"ws": WORKSPACE_ID}, token))["data"] for token in (NINA, DANA, ADA)}
    jobs = {token: await jobs_of_rota(works, token) for token in listed}
    job = {"id": jobs[ADA][0]}
    hidden = {token: await query(works, PROVE, {"id": rota()}, token) for token in jobs}
    one = {token: (await query(works, JOB, job, token))["data"]["job"] for token in jobs}
    await query(works, ERASE, {"id": rota()}, ADA)
    gone = {token: await query(works, PROVE, {"id": rota()}, token) for token in jobs}
    left = {token: await jobs_of_rota(works, token) for token in jobs}
    last = {token: (await query(works, JOB, job, token))["data"]["job"] for token in jobs}

    kept = [{"sourcePath": one, "missing": False} for one in ("handbook.md", "plan.md")]
    assert listed[NINA] == listed[DANA] == {"documents": {"nodes": kept}}
    assert listed[ADA] == {"documents": {"nodes": [*kept, {"sourcePath": ROTA, "missing": True}]}}
    for token in (NINA, DANA):
        assert [hidden[token]["errors"][0]["extensions"]["code"], gone[token]["errors"][0]["extensions"]["code"]] == [
            "DOCUMENT_NOT_FOUND"
        ] * 2
    assert (hidden[ADA]["data"], gone[ADA]["data"]) == (
        {"proveErased": {"erased": False}},
        {"proveErased": {"erased": True}},
    )
    assert (jobs[NINA], jobs[DANA], left[NINA], left[DANA]) == ([], [], [], [])
    assert len(left[ADA]) > 0
    for told in (one, last):
        assert told == {NINA: None, DANA: None, ADA: {"kind": "DELETE"}}


async def test_jobs_that_concern_no_document_are_shown_to_managers_alone(works: Works) -> None:
    async with works.database.transaction(REF.org_id) as transaction:
        written, _ = await transaction.jobs.enqueue(graph_job(REF))
    asked = {"id": encode(NodeKind.JOB, REF.workspace_id, written.job_id)}

    listed = {token: len(await jobs_of_rota(works, token)) for token in (DANA, ADA)}
    one = {token: (await query(works, JOB, asked, token))["data"]["job"] for token in (DANA, ADA)}

    assert listed == {DANA: 0, ADA: 1}
    assert one == {DANA: None, ADA: {"kind": "GRAPH"}}


async def test_what_is_gone_is_known_to_those_who_could_read_it(works: Works) -> None:
    await works.share(NINA, groups=["night"])
    await query(works, ERASE, {"id": rota()}, NINA)
    prove = "query ($id: ID!) { proveErased(documentId: $id) { erased } }"
    told = {token: await query(works, prove, {"id": rota()}, token) for token in (NINA, DANA, ADA)}
    jobs = {token: await works.look(token) for token in (NINA, DANA, ADA)}
    job = jobs[NINA]["jobs"]["nodes"][0]["id"]
    one = {
        token: (await query(works, "query ($id: ID!) { job(id: $id) { kind } }", {"id": job}, token))["data"]["job"]
        for token in jobs
    }

    assert [told[token]["data"] for token in (NINA, ADA)] == [{"proveErased": {"erased": True}}] * 2
    assert told[DANA]["errors"][0]["extensions"]["code"] == "DOCUMENT_NOT_FOUND"
    assert len(jobs[NINA]["jobs"]["nodes"]) == len(jobs[ADA]["jobs"]["nodes"]) > len(jobs[DANA]["jobs"]["nodes"])
    assert one == {NINA: {"kind": "DELETE"}, DANA: None, ADA: {"kind": "DELETE"}}


async def test_without_readers_the_whole_workspace_reads_again(works: Works) -> None:
    await works.share(NINA, groups=["night"])

    opened = await works.share(NINA)

    assert opened == {"document": {"readableBy": None}, "userErrors": []}
    assert "third step" in (await works.ask(DANA))["answer"]


async def test_a_name_that_cannot_be_one_is_refused(works: Works) -> None:
    refused = await works.share(NINA, users=[" "])

    assert refused["userErrors"][0]["code"] == "INVALID_INPUT"


async def test_runs_are_one_s_own_and_lose_what_their_reader_may_not_read_any_more(works: Works) -> None:
    mine = (await works.ask(DANA))["run"]["id"]
    others = (await works.ask(NINA))["run"]["id"]
    run = """query ($id: ID!, $ws: ID!) {
      run(id: $id) { answer citations { title } } runs(workspaceId: $ws) { nodes { id } }
    }"""

    foreign = (await query(works, run, {"id": others, "ws": WORKSPACE_ID}, DANA))["data"]
    before = (await query(works, run, {"id": mine, "ws": WORKSPACE_ID}, DANA))["data"]
    await works.share(NINA, groups=["night"])
    after = (await query(works, run, {"id": mine, "ws": WORKSPACE_ID}, DANA))["data"]
    managed = (await query(works, run, {"id": others, "ws": WORKSPACE_ID}, ADA))["data"]

    assert foreign["run"] is None
    assert [one["id"] for one in foreign["runs"]["nodes"]] == [mine]
    assert "third step" in before["run"]["answer"]
    assert (after["run"]["answer"], after["run"]["citations"]) == ("source withheld", [])
    assert managed["run"]["answer"] == "source withheld"
    assert {one["id"] for one in managed["runs"]["nodes"]} == {mine, others}


async def test_a_call_of_a_tool_stays_with_its_run_while_the_document_that_it_names_is_read(works: Works) -> None:
    run = "query ($id: ID!) { run(id: $id) { answer debug { toolCalls { result errorCode } } } }"
    named = [{"result": "Plan of the works (plan.md)", "errorCode": None}]

    await works.share(NINA, groups=["night"])
    mine = {"id": (await works.ask(DANA, "show document plan.md"))["run"]["id"]}
    await works.share(NINA, groups=["night", "board"])
    after_hidden_work = (await query(works, run, mine, DANA))["data"]["run"]
    plan = encode(NodeKind.DOCUMENT, REF.workspace_id, document_id_for(REF, "plan.md"))
    await query(works, SHARE, {"id": plan, "by": {"users": [], "groups": ["night"]}}, ADA)
    withheld = (await query(works, run, mine, DANA))["data"]["run"]

    assert after_hidden_work["debug"]["toolCalls"] == named
    assert (withheld["answer"], withheld["debug"]["toolCalls"]) == ("source withheld", [])


async def test_a_follow_up_cannot_reach_into_somebody_else_s_run(works: Works) -> None:
    theirs = (await works.ask(NINA))["run"]["id"]

    refused = await works.ask(DANA, "And who may take it?", theirs)

    assert refused["userErrors"] == [{"code": "RUN_NOT_FOUND", "message": NO_RUN}]


async def test_why_not_does_not_know_passages_of_a_withheld_document(works: Works) -> None:
    await works.share(NINA, groups=["night"])
    mine = (await works.ask(DANA))["run"]["id"]
    chunk = next(p.placements[0].draft.chunk_id for p in works.store.committed[REF].passages.values())
    explain = """query ($run: ID!, $chunk: ID!) {
      explainRun(runId: $run, whyNot: [$chunk]) { whyNot { verdict title } candidates { title } } }"""

    told = await query(works, explain, {"run": mine, "chunk": chunk_node(chunk)}, DANA)
    foreign = await query(works, explain, {"run": mine, "chunk": chunk_node(chunk)}, NINA)

    assert told["data"]["explainRun"]["whyNot"] == [{"verdict": "NOT_FOUND", "title": ""}]
    assert "Rota" not in str(told)
    assert foreign["errors"][0]["extensions"]["code"] in ("NOT_FOUND", "RUN_NOT_FOUND")


async def test_an_upload_names_its_readers_and_does_not_replace_what_is_withheld(works: Works) -> None:
    path = f"/v1/workspaces/{WORKSPACE_ID}/documents"
    async with client(works, NINA) as http:
        made = await http.post(path, files={"file": ("keys.md", b"# Keys")}, data={"readableBy": "group:night"})
        odd = await http.post(path, files={"file": ("k.md", b"# Keys")}, data={"readableBy": "night"})
    document = made.json()["id"]
    async with client(works, DANA) as http:
        status = await http.get(made.json()["statusUrl"])
        replaced = await http.post(path, files={"file": ("keys.md", b"# Mine")})
    async with client(works, NINA) as http:
        again = await http.post(path, files={"file": ("keys.md", b"# Keys, newer")})
    shown = await query(works, LOOK, {"ws": WORKSPACE_ID, "id": document}, NINA)
    jobs = (await works.look(DANA))["jobs"]["nodes"]

    assert (made.status_code, odd.status_code) == (202, 400)
    assert (status.status_code, replaced.status_code, again.status_code) == (404, 403, 202)
    assert shown["data"]["document"]["readableBy"] == {"users": [], "groups": ["night"]}
    assert [one["document"]["sourcePath"] for one in jobs] == ["handbook.md"]


async def test_members_cannot_count_passages_whether_any_are_hidden_or_not(works: Works) -> None:
    told = await query(
        works, "query ($ws: ID!) { embeddingSpaces(workspaceId: $ws) { done } }", {"ws": WORKSPACE_ID}, DANA
    )

    assert told["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_readers_are_set_over_rest_as_by_graphql(works: Works) -> None:
    path = f"/v1/workspaces/{WORKSPACE_ID}/documents/{rota()}/readers"

    async with client(works, NINA) as http:
        shared = await http.put(path, json={"readableBy": ["group:night"]})
        odd = await http.put(path, json={"readableBy": ["night"]})
        nobody = await http.put(path, json={"readableBy": []})
    async with client(works, DANA) as http:
        hidden = await http.put(path, json={"readableBy": ["user:dana"]})
    refused = await works.ask(DANA)
    async with client(works, NINA) as http:
        opened = await http.put(path, json={"readableBy": ["everyone"]})

    assert (shared.status_code, shared.json()["readableBy"]) == (200, ["group:night"])
    assert (odd.status_code, nobody.status_code, hidden.status_code) == (400, 400, 404)
    assert "third step" not in str(refused)
    assert opened.json() == {"documentId": rota(), "readableBy": ["everyone"]}


async def test_changing_readers_is_audited(works: Works) -> None:
    await works.share(NINA, groups=["night"])

    async with works.database.transaction(REF.org_id) as transaction:
        log = await transaction.audit.page(PageRequest())
    [entry] = [one for one in log.items if one.action == "document.access"]

    assert (entry.actor, entry.subject, entry.detail["passages"]) == ("user:nina", str(document_id_for(REF, ROTA)), 1)
    assert TOKENS[NINA].subject_id == entry.actor
    assert (entry.detail["before"], entry.detail["after"]) == ("everyone", "group:night")


async def test_an_idempotency_key_of_another_subject_tells_nothing(works: Works) -> None:
    path = f"/v1/workspaces/{WORKSPACE_ID}/documents"

    async def send(token: str, name: str) -> tuple[int, str | None]:
        async with client(works, token) as http:
            sent = {"file": (name, b"# Text\n\nWater.", "text/markdown")}
            answered = await http.post(path, files=sent, headers={"idempotency-key": "first"})
        return answered.status_code, answered.headers.get("idempotency-replayed")

    assert await send(NINA, "ninas.md") == (202, None)
    assert await send(DANA, "danas.md") == (202, None)
    assert await send(NINA, "ninas.md") == (202, "true")


async def test_whoever_takes_an_original_is_in_the_audit_log(works: Works) -> None:
    async with client(works, NINA) as http:
        sent = {"file": ("b.md", b"# B\n\nText.", "text/markdown")}
        made = await http.post(f"/v1/workspaces/{WORKSPACE_ID}/documents", files=sent)
        path = f"/v1/documents/{made.json()['id']}/source"
        taken = await http.get(path)
        part = await http.get(path, headers={"range": "bytes=5-"})
        held = await http.get(path, headers={"if-none-match": taken.headers["etag"]})

    async with works.database.transaction(REF.org_id) as transaction:
        log = await transaction.audit.page(PageRequest(), AuditFilter(action="document.original"))
    subject = str(document_id_for(REF, "b.md"))
    assert [one.status_code for one in (taken, part, held)] == [200, 206, 304]
    assert [(one.actor, one.subject, dict(one.told)) for one in log.items] == [
        ("user:nina", subject, {"bytes": 5, "from": 5}),
        ("user:nina", subject, {"bytes": 10}),
    ]


async def test_whoever_reads_a_text_or_its_passages_is_in_the_audit_log(works: Works) -> None:
    async with client(works, NINA) as http:
        text = await http.get(f"/v1/documents/{rota()}/text?start=4&end=15")
        found = await http.post("/v1/search", json={"query": QUESTION, "workspaceId": WORKSPACE_ID, "topK": 1})
        nothing = await http.get(f"/v1/documents/{rota()}/text?asOf=99")

    async with works.database.transaction(REF.org_id) as transaction:
        log = (await transaction.audit.page(PageRequest(), AuditFilter(actor="user:nina"))).items
    read = [
        (one.action, one.subject, dict(one.told)) for one in log if one.action in ("document.text", "passages.search")
    ]
    document = str(document_id_for(REF, ROTA))
    assert (text.json()["text"], found.status_code, nothing.status_code) == ("night shift", 200, 400)
    assert read == [
        ("passages.search", str(REF.workspace_id), {"documents": document}),
        ("document.text", document, {"start": 4, "end": 15}),
    ]


async def test_an_upload_changes_no_owner_and_takes_the_owner_or_a_writer(works: Works) -> None:
    path = f"/v1/workspaces/{WORKSPACE_ID}/documents"
    owner = "query ($id: ID!) { document(id: $id) { uploadedBy writers } }"

    async def send(token: str, text: bytes) -> int:
        async with client(works, token) as http:
            return (await http.post(path, files={"file": ("plan2.md", text)})).status_code

    async with client(works, NINA) as http:
        made = (await http.post(path, files={"file": ("plan2.md", b"# One")})).json()["id"]
    before = await send(DANA, b"# Taken over")
    named = await query(works, WRITERS, {"id": made, "writers": ["group:day"]}, NINA)
    after, by_admin = await send(DANA, b"# Two"), await send(ADA, b"# Three")
    shown = (await query(works, owner, {"id": made}, DANA))["data"]["document"]
    erased = await query(works, ERASE, {"id": made}, DANA)
    refused = await query(works, WRITERS, {"id": made, "writers": ["user:dana"]}, DANA)

    assert (before, after, by_admin) == (403, 202, 202)
    assert named["data"]["setDocumentWriters"]["document"] == {"writers": ["group:day"]}
    assert shown == {"uploadedBy": "user:nina", "writers": ["group:day"]}
    assert [code_of(one) for one in (erased, refused)] == ["FORBIDDEN", "FORBIDDEN"]


async def test_a_document_is_handed_over_by_its_owner_only(works: Works) -> None:
    await works.share(NINA, groups=["night"])
    hand_over = "mutation ($to: String!, $id: ID!) { transferOwnership(id: $id, to: $to) { document { uploadedBy } } }"

    hidden = await query(works, hand_over, {"id": rota(), "to": "user:dana"}, DANA)
    odd = await query(
        works,
        'mutation ($id: ID!) { transferOwnership(id: $id, to: "group:day") { userErrors { code path } } }',
        {"id": rota()},
        NINA,
    )
    given = await query(works, hand_over, {"id": rota(), "to": "user:dana"}, NINA)
    old, new = await works.share(NINA, users=["nina"]), await works.share(DANA, users=["dana"])

    assert hidden["data"]["transferOwnership"]["document"] is None
    assert odd["data"]["transferOwnership"]["userErrors"] == [{"code": "INVALID_INPUT", "path": ["to"]}]
    assert given["data"]["transferOwnership"]["document"] == {"uploadedBy": "user:dana"}
    assert code_of(old) == "FORBIDDEN"
    assert new["document"] == {"readableBy": {"users": ["dana"], "groups": []}}
    assert "third step" not in str(await works.ask(NINA))


async def test_wider_readers_do_not_open_what_only_older_versions_hold(works: Works) -> None:
    await works.share(NINA, groups=["night"])
    newer = "The night shift keeps the brass bell of the boiler room beside the door."
    ingest = IngestChunks(works.database, only(DeterministicEmbedder()), TextAnalysis(estimate_tokens, InlineCompute()))
    async with works.database.transaction(REF.org_id) as transaction:
        held = await transaction.workspaces.get(REF.workspace_id)
    assert held is not None
    before = held.corpus_version
    await ingest.run(REF, [ChunkedDocument(ROTA, "Rota of the night", (newer,))], "user:nina")

    await works.share(NINA)
    now = await works.ask(DANA, "Where does the night shift keep the brass bell?")
    then = await works.ask(DANA, as_of=before)
    own = await works.ask(NINA, as_of=before)
    await query(works, SHARE_ALL, {"id": rota()}, NINA)
    opened = await works.ask(DANA, as_of=before)

    assert "beside the door" in now["answer"]
    assert "third step" not in str(then)
    assert "third step" in own["answer"]
    assert "third step" in opened["answer"]


async def test_a_key_named_like_a_person_is_somebody_else(works: Works) -> None:
    works.identity.tokens = {**TOKENS, "key": replace(TOKENS[NINA], kind=SubjectKind.KEY, groups=())}
    await works.share(NINA, users=["nina"])

    seen, shared = await works.look("key"), await works.share("key", users=["nina"])

    assert seen["document"] is None
    assert shared["userErrors"][0]["code"] == "DOCUMENT_NOT_FOUND"


def code_of(told: dict[str, Any]) -> str:
    """The code of a refusal."""
    return told["errors"][0]["extensions"]["code"]


def chunk_node(chunk_id: UUID) -> str:
    """The public id of a passage."""
    return encode(NodeKind.CHUNK, REF.workspace_id, chunk_id)
