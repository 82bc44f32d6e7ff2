"""A document that one of its writers withdraws, and gives back: Nina owns it, Dana reads it, Ada is an admin."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.documents import document_access
from agentic_rag.documents.document import document_id_for
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.ingestion.missing import hide, show_again
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.tenancy.principals import KeyScope, Role
from agentic_rag_server.graphql.http import context
from tests.api.builders import REF, TOKENS, WORKSPACE_ID, client, query
from tests.api.test_document_access import (
    ADA,
    DANA,
    ERASE,
    NINA,
    ROTA,
    SHARE,
    WRITERS,
    Works,
    code_of,
    opened_works,
    rota,
    titles,
)
from tests.memory_store.compute import InlineCompute

CHANGE = """mutation ($id: ID!) {
  withdrawDocument(id: $id) { document { withdrawn readableBy { groups } } userErrors { code } }
}"""
LOOK = """query ($ws: ID!, $id: ID!) {
  documents(workspaceId: $ws) { nodes { sourcePath withdrawn } }
  document(id: $id) { withdrawn }
}"""
TEXT = "query ($id: ID!) { document(id: $id) { text { text } } }"
STEP = "third step"
PATH = f"/v1/workspaces/{WORKSPACE_ID}/documents/%s"


@pytest.fixture
async def works() -> AsyncIterator[Works]:
    async with opened_works() as product:
        yield product


async def change(works: Works, token: str, mutation: str = "withdrawDocument") -> dict[str, Any]:
    told = await query(works, CHANGE.replace("withdrawDocument", mutation), {"id": rota()}, token)
    return told["data"][mutation] if told["data"] else {"refused": code_of(told)}


async def listed(works: Works, token: str) -> dict[str, bool]:
    """The documents that a list shows, and whether each is withdrawn."""
    nodes = (await query(works, LOOK, {"ws": WORKSPACE_ID, "id": rota()}, token))["data"]["documents"]["nodes"]
    return {one["sourcePath"]: one["withdrawn"] for one in nodes}


async def found(works: Works, token: str) -> dict[str, Any] | None:
    return (await query(works, LOOK, {"ws": WORKSPACE_ID, "id": rota()}, token))["data"]["document"]


async def status(works: Works, token: str, path: str) -> int:
    async with client(works, token) as http:
        return (await http.get(path)).status_code


async def places_of(works: Works, token: str, version: int) -> set[str]:
    """Where a caller comes upon the document: at the newest version and at an older one that had another text."""
    told = {"answer": await works.ask(token), "asOf": await works.ask(token, as_of=version)}
    places = {name for name, answer in told.items() if "Rota of the night" in titles(answer) or STEP in str(answer)}
    read = {
        "text": STEP in str(await query(works, TEXT, {"id": rota()}, token)),
        "source": await status(works, token, f"/v1/documents/{rota()}/source") == 200,
        "list": ROTA in await listed(works, token),
        "document": await found(works, token) is not None,
        "status": await status(works, token, PATH % rota()) == 200,
    }
    return places | {name for name, is_there in read.items() if is_there}


async def renew(works: Works) -> int:
    """Give the document a newer text; the version before."""
    async with works.database.transaction(REF.org_id) as transaction:
        stored = await transaction.workspaces.get(REF.workspace_id)
    assert stored is not None
    ingest = IngestChunks(works.database, only(DeterministicEmbedder()), TextAnalysis(estimate_tokens, InlineCompute()))
    newer = "The night shift keeps the copper key of the boiler room in the drawer, no more under the third step."
    await ingest.run(REF, [ChunkedDocument(ROTA, "Rota of the night", (newer,))], "user:nina")
    return stored.corpus_version


async def test_a_withdrawn_document_is_nowhere_in_any_version_and_comes_back_untouched(works: Works) -> None:
    version = await renew(works)
    before = {token: await places_of(works, token, version) for token in (NINA, DANA, ADA)}
    withdrawn = await change(works, NINA)
    hidden = {token: await places_of(works, token, version) for token in (NINA, DANA, ADA)}
    read = await query(works, TEXT, {"id": rota()}, NINA)
    restored = await change(works, NINA, "restoreDocument")

    assert withdrawn == {"document": {"withdrawn": True, "readableBy": None}, "userErrors": []}
    assert {"answer", "asOf", "text", "list", "document", "status"} <= before[DANA]
    assert hidden == {DANA: set(), NINA: {"list", "document", "status"}, ADA: {"list", "document", "status"}}
    assert code_of(read) == "FORBIDDEN"
    assert restored == {"document": {"withdrawn": False, "readableBy": None}, "userErrors": []}
    assert {token: await places_of(works, token, version) for token in before} == before


@pytest.mark.parametrize(
    ("name", "fault", "place"),
    [
        ("sets_after", "older text stays with its readers", "asOf"),
        ("list_scope", "everybody lists everything", "document"),
    ],
)
async def test_a_wall_that_is_taken_out_is_noticed(
    works: Works, monkeypatch: pytest.MonkeyPatch, name: str, fault: str, place: str
) -> None:
    version = await renew(works)
    whole = getattr(document_access, name)

    async def faulty(transaction: Any, *arguments: Any) -> Any:
        if name == "list_scope":
            return None
        moves = await whole(transaction, *arguments)
        return replace(moves, older={one: one for one in moves.older})

    monkeypatch.setattr(document_access, name, faulty)
    monkeypatch.setattr(context, name, faulty, raising=False)
    await change(works, NINA)

    assert place in await places_of(works, DANA, version), fault


async def test_owner_writers_and_admins_withdraw_and_restore_and_readers_do_not(works: Works) -> None:
    refused = await change(works, DANA)
    await query(works, WRITERS, {"id": rota(), "writers": ["group:day"]}, NINA)
    written = await change(works, DANA)
    by_owner = await change(works, NINA, "restoreDocument")
    again = await change(works, ADA)
    twice = await change(works, ADA)
    back = await change(works, DANA, "restoreDocument")

    assert refused == {"refused": "FORBIDDEN"}
    assert [one["document"]["withdrawn"] for one in (written, by_owner, again, twice, back)] == [
        True, False, True, True, False,
    ]  # fmt: skip
    async with works.database.transaction(REF.org_id) as transaction:
        log = await transaction.audit.page(PageRequest())
    assert [(one.action, one.actor) for one in reversed(log.items) if one.action.startswith("document.with")] == [
        ("document.withdraw", "user:dana"),
        ("document.withdraw", "user:ada"),
    ]


async def test_to_a_writer_who_could_not_read_it_a_withdrawn_document_is_not_there(works: Works) -> None:
    await works.share(NINA, groups=["night"])
    await query(works, WRITERS, {"id": rota(), "writers": ["group:day"]}, NINA)
    await change(works, NINA)

    refused = await change(works, DANA, "restoreDocument")

    assert refused["userErrors"] == [{"code": "DOCUMENT_NOT_FOUND"}]
    assert ROTA not in await listed(works, DANA)
    assert await found(works, DANA) is None


async def test_readers_named_meanwhile_read_it_once_it_is_back(works: Works) -> None:
    await change(works, NINA)
    shared = await query(works, SHARE, {"id": rota(), "by": {"groups": ["night"]}}, NINA)
    meanwhile = await works.ask(NINA)
    moved = await query(works, "mutation ($id: ID!) { transferOwnership(id: $id, to: \"user:dana\") "
                               "{ document { withdrawn } userErrors { code } } }", {"id": rota()}, NINA)  # fmt: skip
    hidden = await works.ask(DANA)
    restored = await change(works, DANA, "restoreDocument")

    assert shared["data"]["setDocumentAccess"]["document"]["readableBy"] == {"users": [], "groups": ["night"]}
    assert moved["data"]["transferOwnership"]["document"] == {"withdrawn": True}
    assert "third step" not in str(meanwhile)
    assert "third step" not in str(hidden)
    assert restored["document"]["readableBy"] == {"groups": ["night"]}
    assert "third step" in (await works.ask(NINA))["answer"]
    assert "third step" in (await works.ask(DANA))["answer"]


async def test_a_newer_text_of_a_withdrawn_document_stays_withdrawn(works: Works) -> None:
    await change(works, NINA)
    path = f"/v1/workspaces/{WORKSPACE_ID}/documents"
    async with client(works, NINA) as http:
        newer = await http.post(path, files={"file": (ROTA, b"# Rota, newer")}, data={"readableBy": "everyone"})
    async with client(works, DANA) as http:
        refused = await http.post(path, files={"file": (ROTA, b"# Mine")})

    assert (newer.status_code, refused.status_code) == (202, 403)
    assert await found(works, NINA) == {"withdrawn": True}
    assert await found(works, DANA) is None


async def test_a_document_is_withdrawn_and_restored_over_rest(works: Works) -> None:
    async with client(works, NINA) as http:
        withdrawn = await http.put(PATH % rota() + "/withdrawal")
        state = await http.get(PATH % rota())
    async with client(works, DANA) as http:
        refused = await http.delete(PATH % rota() + "/withdrawal")
        hidden = await http.get(PATH % rota())
    async with client(works, NINA) as http:
        restored = await http.delete(PATH % rota() + "/withdrawal")

    assert (withdrawn.status_code, withdrawn.json()["withdrawn"], state.json()["withdrawn"]) == (200, True, True)
    assert (refused.status_code, hidden.status_code) == (404, 404)
    assert (restored.status_code, restored.json()["withdrawn"]) == (200, False)


async def test_a_key_that_may_only_upload_withdraws_nothing(works: Works) -> None:
    upload = replace(TOKENS[NINA], scopes=frozenset({KeyScope.UPLOAD}))
    works.identity.tokens = {**TOKENS, "upload": upload, "viewer": replace(TOKENS[NINA], role=Role.VIEWER)}

    assert [await change(works, token) for token in ("upload", "viewer")] == [{"refused": "FORBIDDEN"}] * 2


async def test_what_its_source_lost_too_stays_withdrawn_when_the_source_has_it_again(works: Works) -> None:
    await change(works, NINA)
    async with works.database.transaction(REF.org_id) as transaction:
        document = await transaction.documents.get(REF, document_id_for(REF, ROTA))
        assert document is not None
        await hide(transaction, document, timedelta(days=1), {})
    meanwhile = await found(works, NINA)
    async with works.database.transaction(REF.org_id) as transaction:
        lost = await transaction.documents.get(REF, document.document_id)
        assert lost is not None
        assert await show_again(transaction, lost)

    assert meanwhile is None
    assert await found(works, NINA) == {"withdrawn": True}
    await change(works, NINA, "restoreDocument")
    assert "third step" in (await works.ask(DANA))["answer"]


async def test_its_owner_erases_a_withdrawn_document_and_a_writer_does_not(works: Works) -> None:
    await query(works, WRITERS, {"id": rota(), "writers": ["group:day"]}, NINA)
    await change(works, DANA)

    refused = await query(works, ERASE, {"id": rota()}, DANA)
    erased = await query(works, ERASE, {"id": rota()}, NINA)

    assert code_of(refused) == "FORBIDDEN"
    assert erased["data"]["deleteDocument"]["userErrors"] == []
